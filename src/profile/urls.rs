//! URLs: what they must look like, which hosts they lead to, and passwords in plain sight.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use super::shape::{Problem, TextRule};
use crate::codes;

pub static HTTP_URL: TextRule = TextRule {
    wanted: "an http:// or https:// URL",
    pattern: r"^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let help = "such as `http://127.0.0.1:8080`, perhaps with a base path";
        let whole = |label: &str, help: String| {
            Some(Problem { range: 0..text.len(), label: label.to_owned(), help })
        };
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if is_http(scheme) => rest,
            Some(_) => return whole("another scheme", help.to_owned()),
            None if text.is_empty() || text.contains(char::is_whitespace) => {
                return whole("no URL", help.to_owned());
            }
            None => return whole("its scheme is missing", format!("write `http://{text}`")),
        };
        if let Some(at) = text.find(|c: char| !c.is_ascii_graphic() || c == '?' || c == '#') {
            let label = "not allowed in a base URL".to_owned();
            return Some(Problem { range: at..text.len(), label, help: help.to_owned() });
        }
        let host = host_of(authority(rest));
        (host.is_empty() || port(authority(rest)).is_some_and(|port| port.parse::<u16>().is_err()))
            .then(|| Problem {
                range: 0..text.len(),
                label: "no host, or a port that isn't one".to_owned(),
                help: help.to_owned(),
            })
    },
};

pub static POSTGRES_URL: TextRule = TextRule {
    wanted: "a postgres:// URL",
    pattern: r"^postgres(ql)?://[!-~]+$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let is_right =
            rest.is_some_and(|rest| !rest.is_empty() && text.chars().all(|c| c.is_ascii_graphic()));
        (!is_right).then(|| Problem {
            range: 0..text.len(),
            label: "not a URL of PostgreSQL".to_owned(),
            help: "such as `postgres://auditor@127.0.0.1:5432/orders`".to_owned(),
        })
    },
};

pub static REDIS_URL: TextRule = TextRule {
    wanted: "a redis:// or rediss:// URL",
    pattern: r"^rediss?://[!-~]+$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let help = "such as `redis://127.0.0.1:6379`".to_owned();
        let rest = text.strip_prefix("redis://").or_else(|| text.strip_prefix("rediss://"));
        let rest = rest.filter(|_| text.chars().all(|c| c.is_ascii_graphic()));
        let is_host = |rest: &str| {
            let port = port(authority(rest));
            !host_of(authority(rest)).is_empty() && port.is_none_or(|it| it.parse::<u16>().is_ok())
        };
        (!rest.is_some_and(is_host)).then(|| Problem {
            range: 0..text.len(),
            label: "not a URL of Redis with a host".to_owned(),
            help,
        })
    },
};

/// Where a proxy listens: an address, since a name could lead to more than one.
pub static LISTEN_ADDRESS: TextRule = TextRule {
    wanted: "an address with its port",
    pattern: r"^([0-9.]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let whole = |label: &str, help: String| {
            Some(Problem { range: 0..text.len(), label: label.to_owned(), help })
        };
        match text.parse::<SocketAddr>() {
            Ok(address) if address.port() > 0 => None,
            Ok(_) => whole("no port", "the target must know it: any number up to 65535".to_owned()),
            Err(_) => match text.strip_prefix("localhost:") {
                Some(port) => whole("a name", format!("write `127.0.0.1:{port}`")),
                None => whole("no IP address with a port", "such as `127.0.0.1:16432`".to_owned()),
            },
        }
    },
};

pub static HOST: TextRule = TextRule {
    wanted: "a host",
    pattern: r"^[A-Za-z0-9_.:-]+$",
    code: &codes::MALFORMED_TEXT,
    problem: |text| {
        let is_address = text.parse::<IpAddr>().is_ok();
        let is_right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_name = !text.is_empty() && text.chars().all(is_right);
        (!is_address && !is_name).then(|| Problem {
            range: 0..text.len(),
            label: "more than a name or an address".to_owned(),
            help: "only the host, without scheme, port and path: `staging.example.com`".to_owned(),
        })
    },
};

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// User, host and port of what follows `://`.
fn authority(rest: &str) -> &str {
    &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn host_of(authority: &str) -> &str {
    let host = without_user(authority);
    if let Some(inside) = host.strip_prefix('[') {
        return inside.split_once(']').map_or(inside, |(host, _)| host);
    }
    host.split_once(':').map_or(host, |(host, _)| host)
}

fn port(authority: &str) -> Option<&str> {
    let host = without_user(authority);
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    after.split_once(':').map(|(_, port)| port)
}

/// The only host that a URL names, and its port where it says one.
pub fn place(url: &str) -> Option<(String, Option<u16>)> {
    let (_, rest) = url.split_once("://")?;
    let [host] = hosts(url).try_into().ok()?;
    let port = port(authority(rest)).map(str::parse).transpose().ok()?;
    Some((host, port))
}

/// The hosts that a URL leads to: PostgreSQL's may name several, also in its parameters. A socket in
/// the file system is none.
pub fn hosts(url: &str) -> Vec<String> {
    let Some((_, rest)) = url.split_once("://") else { return Vec::new() };
    let is_socket = |host: &str| host.starts_with('/') || host.to_lowercase().starts_with("%2f");
    let named = without_user(authority(rest)).split(',').map(|host| host_of(host).to_owned());
    let parameters = rest.split_once('?').map_or("", |(_, query)| query);
    let given = parameters
        .split('&')
        .filter_map(|pair| pair.strip_prefix("host=").or(pair.strip_prefix("hostaddr=")))
        .flat_map(|hosts| hosts.split(','))
        .map(str::to_owned);
    named.chain(given).filter(|host| !host.is_empty() && !is_socket(host)).collect()
}

/// Whether a host is this machine.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Whether two hosts are written alike, or are one address.
pub fn is_same_host(one: &str, other: &str) -> bool {
    match (one.parse::<IpAddr>(), other.parse::<IpAddr>()) {
        (Ok(one), Ok(other)) => one.to_canonical() == other.to_canonical(),
        _ => one.trim_end_matches('.').eq_ignore_ascii_case(other.trim_end_matches('.')),
    }
}

/// The place of a password that stands in a text as it is: `scheme://user:PASSWORD@host`, or a
/// parameter `password=PASSWORD` of a URL. One that comes from the environment or is filled in later
/// has braces.
pub fn literal_password(written: &str) -> Option<Range<usize>> {
    let is_literal =
        |range: &Range<usize>| !range.is_empty() && !written[range.clone()].contains('{');
    let start = written.find("://")? + 3;
    let ends = |c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace();
    let end = written[start..].find(ends).map_or(written.len(), |at| start + at);
    let in_user = written[start..end].rfind('@').and_then(|at| {
        let colon = written[start..start + at].find(':')?;
        Some(start + colon + 1..start + at)
    });
    let in_parameter = ["?password=", "&password="].into_iter().find_map(|name| {
        let from = written.find(name)? + name.len();
        let length = written[from..].find(['&', '#']).unwrap_or(written.len() - from);
        Some(from..from + length)
    });
    in_user.filter(is_literal).or(in_parameter.filter(is_literal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_wherever_they_stand() {
        for (url, wanted) in [
            ("http://127.0.0.1:8080/base", vec!["127.0.0.1"]),
            ("https://a:b@example.com", vec!["example.com"]),
            ("http://[::1]:80", vec!["::1"]),
            ("http://evil.example@127.0.0.1@evil.example/", vec!["evil.example"]),
            ("postgres://u@a:1,b:2/db", vec!["a", "b"]),
            ("postgres:///db?host=/run/pg", vec![]),
            ("postgres://%2Frun%2Fpg/db", vec![]),
            ("postgres://127.0.0.1/db?sslmode=x&host=evil", vec!["127.0.0.1", "evil"]),
        ] {
            assert_eq!(hosts(url), wanted, "{url}");
        }
    }

    #[test]
    fn loopback_is_told_from_what_only_looks_like_it() {
        for host in
            ["localhost", "127.8.9.1", "::1", "::ffff:127.0.0.1", "a.localhost", "LOCALHOST."]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in
            ["", "0.0.0.0", "10.0.0.1", "localhost.example.com", "0177.0.0.1", "127.0.0.1.nip.io"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_password_in_plain_sight_is_found() {
        for (text, found) in [
            ("postgres://u:pw@h/d", Some("pw")),
            ("--db=postgres://u:p@w@h/d", Some("p@w")),
            ("postgres://h/d?password=pw&x=1", Some("pw")),
            ("postgres://u:${PW}@h/d", None),
            ("postgres://u@h:5432/d", None),
            ("{postgres.url}", None),
            ("http://h:80/a@b", None),
        ] {
            assert_eq!(literal_password(text).map(|range| &text[range]), found, "{text}");
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for text in ["http://a", "https://a:1/b", "HTTP://[::1]:80"] {
            assert_eq!((HTTP_URL.problem)(text), None, "{text}");
        }
        for text in [
            "",
            "a:80",
            "ftp://a",
            "http://",
            "http://:80",
            "http://a:x",
            "http://a/?q",
            "http://a b",
        ] {
            assert!((HTTP_URL.problem)(text).is_some(), "{text}");
        }
    }
}
