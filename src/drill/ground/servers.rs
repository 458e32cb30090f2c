//! The servers that a profile names beside its instances, and the proxies in front of them.
//!
//! A server is judged by the rule for every other host, whether it has a proxy or not. A proxy listens
//! on loopback, or where the profile says in so many words that it may.

use std::net::SocketAddr;

use super::places::{LOOKUP_LIMIT, WirePlace, may_touch, refused};
use crate::drill::DrillError;
use crate::history::Wire;
use crate::observe::{ServerPlace, server_place};
use crate::profile::{Profile, Secret, url_place};

/// Judges Redis, payment provider and all proxies; gives the proxies.
///
/// # Errors
/// [`DrillError::Refused`] and [`DrillError::Lookup`], as for the target's own hosts.
pub(super) async fn judge(profile: &Profile) -> Result<Vec<WirePlace>, DrillError> {
    let mut places = Vec::new();
    if let Some((url, listen)) = profile.postgres.as_ref().and_then(|it| Some((&it.url, it.proxy?)))
    {
        let (host, port) = postgres(url)?;
        let server = found(profile, "the audited PostgreSQL", &host, port).await?;
        places.push(WirePlace { wire: Wire::Postgres, listen, server });
    }
    let redis = profile.redis.url.as_ref().map(|url| (url, profile.redis.proxy));
    let payments = profile.payments.as_ref().map(|payments| (&payments.url, Some(payments.proxy)));
    let named = [
        (Wire::Redis, "the target's Redis", 6379, redis),
        (Wire::Http, "the payment provider", 80, payments),
    ];
    for (wire, what, default, server) in named {
        let Some((url, proxy)) = server else { continue };
        let (host, port) = plain(what, url)?;
        let port = port.unwrap_or(default);
        match proxy {
            Some(listen) => {
                let server = found(profile, what, &host, port).await?;
                places.push(WirePlace { wire, listen, server });
            }
            None => may_touch(profile, what, &host, port).await.map(|_| ())?,
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

fn postgres(url: &Secret) -> Result<(String, u16), DrillError> {
    match server_place(url.reveal()).map_err(|source| DrillError::Observe { source })? {
        ServerPlace::Host { host, port } => Ok((host, port)),
        ServerPlace::Socket => Err(refused(
            "`[postgres] url` leads to a socket in the file system, and a proxy needs a host",
            "Name host and port of the server in `[postgres] url`, or take `proxy` out.",
        )),
    }
}

/// Host and port of a server that speaks without encryption.
fn plain(what: &str, url: &Secret) -> Result<(String, Option<u16>), DrillError> {
    let scheme = url.reveal().split_once("://").map_or("", |(scheme, _)| scheme);
    if !["redis", "http"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Err(refused(
            format!("a proxy can't speak to {what} (`{}`) with encryption", url.written()),
            "Name an address of it that takes plain connections, or take `proxy` out.",
        ));
    }
    url_place(url.reveal()).ok_or_else(|| {
        refused(
            format!("`{}`, the URL of {what}, names no single host", url.written()),
            "Write scheme, host and port.",
        )
    })
}

/// An address of a host that may be touched; IPv4 first, which most servers listen on.
async fn found(
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
