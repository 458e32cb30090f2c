//! The servers that a profile names beside its instances, and the proxies in front of them.
//!
//! A server is judged by the rule for every other host, whether it has a proxy or not. A proxy listens
//! on loopback, or where the profile says in so many words that it may.

use std::net::SocketAddr;

use super::places::{LOOKUP_LIMIT, WirePlace, may_touch, refused};
use crate::drill::DrillError;
use crate::history::Wire;
use crate::observe::{ServerPlace, server_place};
use crate::profile::{Profile, Secret};
use crate::wire::{ServerTls, ServerUrl, Upstream};

/// Judges Redis, payment provider and all proxies; gives the proxies.
///
/// # Errors
/// [`DrillError::Refused`] and [`DrillError::Lookup`], as for the target's own hosts.
pub(super) async fn judge(profile: &Profile) -> Result<Vec<WirePlace>, DrillError> {
    let mut places = Vec::new();
    if let Some((url, listen)) = profile.postgres.as_ref().and_then(|it| Some((&it.url, it.proxy?)))
    {
        has_host(url)?;
        let server = found(profile, "the audited PostgreSQL", Wire::Postgres, url).await?;
        places.push(WirePlace { wire: Wire::Postgres, listen, server });
    }
    let redis = profile.redis.url.as_ref().map(|url| (url, profile.redis.proxy));
    let payments = profile.payments.as_ref().map(|payments| (&payments.url, Some(payments.proxy)));
    let named = [
        (Wire::Redis, "the target's Redis", redis),
        (Wire::Http, "the payment provider", payments),
    ];
    for (wire, what, server) in named {
        let Some((url, proxy)) = server else { continue };
        match proxy {
            Some(listen) => {
                let server = found(profile, what, wire, url).await?;
                places.push(WirePlace { wire, listen, server });
            }
            None => {
                let Upstream { host, port, .. } = read(what, wire, url)?;
                may_touch(profile, what, &host, port).await.map(drop)?;
            }
        }
    }
    places.iter().try_for_each(|place| may_listen(profile, place.listen))?;
    Ok(places)
}

fn may_listen(profile: &Profile, listen: SocketAddr) -> Result<(), DrillError> {
    let host = listen.ip().to_canonical();
    let is_listed =
        |listed: &String| listed.parse() == Ok(listen.ip()) || listed.parse() == Ok(host);
    if host.is_loopback() || profile.wires.listen_on.iter().any(is_listed) {
        return Ok(());
    }
    Err(refused(
        format!("a proxy would listen on {host}, where others may reach the server behind it"),
        format!(
            "If it is meant, write `[wires] listen-on = [\"{host}\"]`, or listen on 127.0.0.1."
        ),
    ))
}

fn has_host(url: &Secret) -> Result<(), DrillError> {
    match server_place(url.reveal()).map_err(|source| DrillError::Observe { source })? {
        ServerPlace::Host { .. } => Ok(()),
        ServerPlace::Socket => Err(refused(
            "`[postgres] url` leads to a socket in the file system, and a proxy needs a host",
            "Name host and port of the server in `[postgres] url`, or take `proxy` out.",
        )),
    }
}

fn read(what: &str, wire: Wire, url: &Secret) -> Result<Upstream, DrillError> {
    let read = ServerUrl::read(wire, url.reveal()).map(|url| url.upstream().clone());
    read.map_err(|error| {
        refused(format!("`{}`, the URL of {what}: {error}", url.written()), error.cure)
    })
}

/// A server that may be touched, pinned to the address that was judged: its name could lead elsewhere
/// later. Its certificate is still that of the name.
async fn found(
    profile: &Profile,
    what: &str,
    wire: Wire,
    url: &Secret,
) -> Result<Upstream, DrillError> {
    let Upstream { host, port, tls } = read(what, wire, url)?;
    let address = address(profile, what, &host, port).await?;
    let named = |tls: ServerTls| ServerTls { server_name: tls.server_name.or(Some(host)), ..tls };
    Ok(Upstream { tls: tls.map(named), ..address.into() })
}

/// An address of a host that may be touched; IPv4 first, which most servers listen on.
async fn address(
    profile: &Profile,
    what: &str,
    host: &str,
    port: u16,
) -> Result<SocketAddr, DrillError> {
    let mut addresses = may_touch(profile, what, host, port).await?;
    if addresses.is_empty() {
        // It is allowed by its name, and has to be found all the same.
        let failed =
            |source| DrillError::Lookup { what: what.to_owned(), host: host.to_owned(), source };
        let bare = host.trim_matches(['[', ']']);
        let looking = tokio::net::lookup_host((bare, port));
        let looked_up = tokio::time::timeout(LOOKUP_LIMIT, looking).await;
        let timed_out = |_| Err(std::io::ErrorKind::TimedOut.into());
        addresses = looked_up.unwrap_or_else(timed_out).map_err(failed)?.collect();
    }
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    first.copied().ok_or_else(|| {
        refused(format!("`{host}`, the host of {what}, has no address"), "Correct its URL.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Trust;

    fn profile() -> Profile {
        let text = "[[phase]]\nname = \"a\"\nburst.same-key = { users = 1, threads = 2 }\n";
        crate::profile::parse(std::path::Path::new("a.toml"), text, &|_| None).unwrap()
    }

    #[tokio::test]
    async fn a_server_is_pinned_to_its_address_and_verified_by_its_name() {
        for (wire, url, port, trust) in [
            (Wire::Redis, "rediss://:pw@localhost", 6379, Some(Trust::System)),
            (Wire::Redis, "redis://localhost:7000/1", 7000, None),
            (Wire::Http, "https://localhost/charges", 443, Some(Trust::System)),
            (
                Wire::Postgres,
                "postgres://me@localhost/shop?sslmode=require",
                5432,
                Some(Trust::Anyone),
            ),
            (Wire::Postgres, "postgres://me@localhost/shop", 5432, None),
        ] {
            let server = found(&profile(), "a server", wire, &Secret::plain(url)).await.unwrap();
            assert_eq!((&*server.host, server.port), ("127.0.0.1", port), "{url}");
            assert_eq!(server.tls.as_ref().map(|tls| tls.trust.clone()), trust, "{url}");
            let named =
                server.tls.is_none_or(|tls| tls.server_name.as_deref() == Some("localhost"));
            assert!(named, "{url}");
        }
        let abroad = Secret::plain("rediss://192.0.2.9");
        assert!(found(&profile(), "a server", Wire::Redis, &abroad).await.is_err());
    }
}
