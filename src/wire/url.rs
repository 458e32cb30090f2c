//! A server as the target's own URL names it, and the URL that leads the target through a proxy.
//!
//! What the URL says of encryption is done by the proxy: `rediss:`, `https:` and PostgreSQL's
//! `sslmode`. `verify-full` and `verify-ca` verify certificate and name, and so does any mode that
//! encrypts together with `sslrootcert`; `require` and `no-verify` alone encrypt without verifying, as
//! libpq does; with anything else the proxy connects in plain, since it can't fall back as a driver
//! does. Redis is verified unless its URL ends in `#insecure` or says `ssl_cert_reqs=none`.

use std::net::SocketAddr;
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::history::Wire;

use super::upstream::{ServerTls, Trust, Upstream};

/// Parameters that are about encryption, and go no further than the proxy.
const ABOUT_TLS: [&str; 14] = [
    "sslmode",
    "sslrootcert",
    "sslnegotiation",
    "sslcrl",
    "sslsni",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "gssencmode",
    "channel_binding",
    "ssl_ca_certs",
    "ssl_cert_reqs",
    "ssl_check_hostname",
    "ssl-mode",
    "ssl",
];
/// Those by which a client proves to TLS who it is.
const OWN_CERTIFICATE: [&str; 4] = ["sslcert", "sslkey", "ssl_certfile", "ssl_keyfile"];

/// Why a URL names no server that a proxy can stand in front of. It holds nothing of the URL, which
/// may have secrets anywhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct UrlError {
    pub what: &'static str,
    pub cure: &'static str,
}

/// A server, and how the target says what it wants of it.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl {
    wire: Wire,
    upstream: Upstream,
    user: Option<String>,
    has_password: bool,
    path: String,
    parameters: Vec<(String, String)>,
}

impl ServerUrl {
    /// Reads the URL of a server that speaks this protocol.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub fn read(wire: Wire, url: &str) -> Result<Self, UrlError> {
        let (is_encrypted, rest) = scheme(wire, url)?;
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let parameters: Vec<_> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let tls = match wire {
            Wire::Postgres => postgres_tls(&parameters)?,
            Wire::Redis | Wire::Http if !is_encrypted => None,
            Wire::Redis => Some(redis_tls(&parameters, fragment)?),
            Wire::Http => Some(ServerTls::default()),
        };
        let (host, port) = host_and_port(place, &parameters)?;
        let port = port.unwrap_or(match (wire, is_encrypted) {
            (Wire::Redis, _) => 6379,
            (Wire::Postgres, _) => 5432,
            (Wire::Http, false) => 80,
            (Wire::Http, true) => 443,
        });
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        Ok(Self {
            wire,
            upstream: Upstream { host, port, tls },
            user: (!login.is_empty()).then(|| user.to_owned()),
            has_password: !password.is_empty(),
            path: path.to_owned(),
            parameters: if wire == Wire::Http { Vec::new() } else { parameters },
        })
    }

    pub const fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Takes the word of the authorities in this file, where one is verified at all.
    #[must_use]
    pub fn trusting(mut self, authorities: &std::path::Path) -> Self {
        if let Some(ServerTls { trust: trust @ Trust::System, .. }) = &mut self.upstream.tls {
            *trust = Trust::File(authorities.to_owned());
        }
        self
    }

    /// The URL that leads the target through a proxy at this address: in plain, and with `${PASSWORD}`
    /// in place of a password.
    pub fn through(&self, proxy: SocketAddr) -> String {
        let password = if self.has_password { ":${PASSWORD}" } else { "" };
        let login = self.user.as_ref().map(|user| format!("{user}{password}@"));
        let scheme = match self.wire {
            Wire::Redis => "redis",
            Wire::Postgres => "postgres",
            Wire::Http => "http",
        };
        let is_about_tls = |name: &str| ABOUT_TLS.contains(&name);
        let mut query: Vec<_> = self
            .parameters
            .iter()
            .filter(|(name, _)| !is_about_tls(name))
            .map(|(name, value)| match name.as_str() {
                "password" => "password=${PASSWORD}".to_owned(),
                _ => format!("{name}={value}"),
            })
            .collect();
        let has_mode = self.parameters.iter().any(|(name, _)| is_about_tls(name));
        if self.wire == Wire::Postgres && has_mode {
            query.push("sslmode=disable".to_owned());
        }
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        format!("{scheme}://{}{proxy}{}{query}", login.unwrap_or_default(), self.path)
    }

    /// Whether [`Self::through`] leaves a password out.
    pub fn has_password(&self) -> bool {
        self.has_password || self.parameters.iter().any(|(name, _)| name == "password")
    }
}

/// Passwords may stand anywhere in a URL.
impl std::fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerUrl").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

/// Whether its scheme encrypts, and what comes behind it.
fn scheme(wire: Wire, url: &str) -> Result<(bool, &str), UrlError> {
    let schemes: &[(&str, bool)] = match wire {
        Wire::Redis => &[("redis", false), ("rediss", true)],
        Wire::Postgres => &[("postgres", false), ("postgresql", false)],
        Wire::Http => &[("http", false), ("https", true)],
    };
    let (name, rest) = url.split_once("://").unwrap_or(("", url));
    let known = schemes.iter().find(|(scheme, _)| scheme.eq_ignore_ascii_case(name));
    let is_text = rest.chars().all(|letter| letter.is_ascii_graphic());
    match known.filter(|_| is_text) {
        Some((_, is_encrypted)) => Ok((*is_encrypted, rest)),
        None => Err(match wire {
            Wire::Redis => UrlError {
                what: "this is not a URL of Redis",
                cure: "Write it like redis://127.0.0.1:6379 or rediss://redis.example.com.",
            },
            Wire::Postgres => UrlError {
                what: "this is not a URL of PostgreSQL",
                cure: "Write it like postgres://user@127.0.0.1:5432/orders.",
            },
            Wire::Http => UrlError {
                what: "this is not a URL of HTTP",
                cure: "Write it like http://127.0.0.1:9090 or https://pay.example.com.",
            },
        }),
    }
}

fn host_and_port(
    place: &str,
    parameters: &[(String, String)],
) -> Result<(String, Option<u16>), UrlError> {
    let (host, port) = match place.strip_prefix('[') {
        Some(inside) => inside.split_once(']').unwrap_or((inside, "?")),
        None => place.split_at(place.find(':').unwrap_or(place.len())),
    };
    if parameters.iter().any(|(name, _)| ["host", "hostaddr", "port"].contains(&name.as_str()))
        || host.to_ascii_lowercase().starts_with("%2f")
    {
        return Err(UrlError {
            what: "the server is named by a parameter or by a socket in the file system",
            cure: "Name its host and port in front of the path: postgres://user@127.0.0.1:5432/orders.",
        });
    }
    if place.contains(',') {
        return Err(UrlError {
            what: "the URL names several servers",
            cure: "Name one; a proxy stands in front of one server.",
        });
    }
    let is_host = |letter: char| letter.is_ascii_alphanumeric() || "-._:".contains(letter);
    let number = port.strip_prefix(':').map(str::parse);
    match number {
        None if port.is_empty() && !host.is_empty() && host.chars().all(is_host) => {
            Ok((host.to_owned(), None))
        }
        Some(Ok(number)) if !host.is_empty() && host.chars().all(is_host) => {
            Ok((host.to_owned(), Some(number)))
        }
        _ => Err(UrlError {
            what: "the URL has no host, or a port that isn't one",
            cure: "Write both behind the scheme, such as 127.0.0.1:6379.",
        }),
    }
}

fn postgres_tls(parameters: &[(String, String)]) -> Result<Option<ServerTls>, UrlError> {
    no_own_certificate(parameters)?;
    let trust = match value(parameters, "sslrootcert").as_deref() {
        None => None,
        Some("system") => Some(Trust::System),
        Some(file) => Some(Trust::File(PathBuf::from(file))),
    };
    let mode = value(parameters, "sslmode");
    let mode = mode.or_else(|| value(parameters, "ssl-mode")).unwrap_or_default();
    Ok(match mode.as_str() {
        "verify-full" | "verify-ca" => Some(trust.unwrap_or_default()),
        "require" => Some(trust.unwrap_or(Trust::Anyone)),
        "no-verify" => Some(Trust::Anyone),
        "" | "disable" | "allow" | "prefer" => None,
        _ => {
            return Err(UrlError {
                what: "the URL has an sslmode that isn't known",
                cure: "Write verify-full, require or disable.",
            });
        }
    }
    .map(|trust| ServerTls { trust, server_name: None }))
}

fn redis_tls(parameters: &[(String, String)], fragment: &str) -> Result<ServerTls, UrlError> {
    no_own_certificate(parameters)?;
    let is_unverified = fragment == "insecure"
        || value(parameters, "ssl_cert_reqs").is_some_and(|word| word == "none");
    let file = value(parameters, "ssl_ca_certs");
    let trust = match file {
        _ if is_unverified => Trust::Anyone,
        Some(file) => Trust::File(PathBuf::from(file)),
        None => Trust::System,
    };
    Ok(ServerTls { trust, server_name: None })
}

fn no_own_certificate(parameters: &[(String, String)]) -> Result<(), UrlError> {
    if parameters.iter().any(|(name, _)| OWN_CERTIFICATE.contains(&name.as_str())) {
        return Err(UrlError {
            what: "the URL names a certificate of the client's own, which a proxy can't show",
            cure: "Name a user whom the server takes without one while it is watched.",
        });
    }
    Ok(())
}

fn value(parameters: &[(String, String)], name: &str) -> Option<String> {
    let (_, value) = parameters.iter().find(|(known, _)| known == name)?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls(wire: Wire, url: &str) -> Option<Trust> {
        ServerUrl::read(wire, url).expect(url).upstream.tls.map(|tls| tls.trust)
    }

    #[test]
    fn urls_say_where_a_server_is_and_whether_it_is_verified() {
        let file = |name: &str| Some(Trust::File(PathBuf::from(name)));
        for (rest, trust) in [
            ("", None),
            ("?sslmode=prefer", None),
            ("?sslmode=disable&sslrootcert=a", None),
            ("?sslmode=verify-full", Some(Trust::System)),
            ("?sslmode=verify-ca&sslrootcert=%2Ftmp%2Fa.pem", file("/tmp/a.pem")),
            ("?sslmode=require", Some(Trust::Anyone)),
            ("?sslmode=require&sslrootcert=a.pem", file("a.pem")),
            ("?sslmode=no-verify", Some(Trust::Anyone)),
        ] {
            assert_eq!(tls(Wire::Postgres, &format!("postgres://u@h/d{rest}")), trust, "{rest}");
        }
        assert_eq!(tls(Wire::Redis, "redis://h"), None);
        assert_eq!(tls(Wire::Redis, "rediss://h/0"), Some(Trust::System));
        assert_eq!(tls(Wire::Redis, "rediss://h/0#insecure"), Some(Trust::Anyone));
        assert_eq!(tls(Wire::Redis, "rediss://h?ssl_ca_certs=a.pem"), file("a.pem"));
        assert_eq!(tls(Wire::Http, "https://h/v1"), Some(Trust::System));
        for (wire, url, place) in [
            (Wire::Redis, "redis://h", "h:6379"),
            (Wire::Postgres, "postgresql://u:p@w@h.example/d", "h.example:5432"),
            (Wire::Http, "https://[::1]/v1", "[::1]:443"),
            (Wire::Http, "http://h:81", "h:81"),
        ] {
            assert_eq!(ServerUrl::read(wire, url).unwrap().upstream.to_string(), place);
        }
    }

    #[test]
    fn a_url_through_a_proxy_is_plain_and_tells_no_password() {
        let proxy: SocketAddr = "127.0.0.1:1".parse().unwrap();
        for (wire, url, through) in [
            (Wire::Redis, "rediss://:pw@h:2/3#insecure", "redis://:${PASSWORD}@127.0.0.1:1/3"),
            (
                Wire::Postgres,
                "postgres://u:pw@h/d?sslmode=require&application_name=x&password=pw",
                "postgres://u:${PASSWORD}@127.0.0.1:1/d?application_name=x&password=${PASSWORD}\
                 &sslmode=disable",
            ),
            (Wire::Http, "https://h/v1?token=secret", "http://127.0.0.1:1/v1"),
        ] {
            let url = ServerUrl::read(wire, url).unwrap();
            assert_eq!(url.through(proxy), through);
            assert!(!format!("{url:?}").contains("pw"));
        }
    }

    #[test]
    fn what_a_proxy_cannot_stand_in_front_of_is_refused_with_a_cure() {
        for (wire, url) in [
            (Wire::Redis, "127.0.0.1:6379"),
            (Wire::Redis, "http://h"),
            (Wire::Redis, "redis://"),
            (Wire::Redis, "redis://h:port"),
            (Wire::Redis, "rediss://h?ssl_certfile=a"),
            (Wire::Postgres, "postgres:///d?host=/run"),
            (Wire::Postgres, "postgres://%2Frun/d"),
            (Wire::Postgres, "postgres://a,b/d"),
            (Wire::Postgres, "postgres://h/d?sslcert=a"),
            (Wire::Postgres, "postgres://h/d?sslmode=strict"),
            (Wire::Http, "http://[::1/"),
        ] {
            let error = ServerUrl::read(wire, url).unwrap_err();
            assert!(error.cure.ends_with('.'), "{error}");
        }
    }
}
