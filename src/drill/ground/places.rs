//! Where a drill may send anything: loopback, and what `allow-hosts` lists.
//!
//! Everything is looked up and judged before the first byte leaves and before anything is started.
//! An instance on loopback is pinned to the address that was looked up then, so that a name can't
//! lead elsewhere later; TLS and `Host` still have the name.

use std::net::SocketAddr;
use std::time::Duration;

use crate::drill::DrillError;
use crate::history::{InstanceId, Wire};
use crate::load::{TargetInstance, Tls};
use crate::observe::{ServerPlace, server_place};
use crate::profile::{Profile, Secret, Target};
use crate::wire::Upstream;

pub(super) const LOOKUP_LIMIT: Duration = Duration::from_secs(5);

/// An instance that runs already.
#[derive(Clone, Debug)]
pub(in crate::drill) struct AttachedPlace {
    pub target: TargetInstance,
    /// For a reader.
    pub url: String,
    /// Its addresses where they are on this machine, so that its connections can be seen.
    pub local: Vec<SocketAddr>,
}

/// A URL in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    is_tls: bool,
    /// Without the brackets of an IPv6 address.
    host: String,
    port: Option<u16>,
    base_path: String,
}

/// A proxy that the profile asks for, in front of a server of an attached target.
#[derive(Clone, Debug)]
pub(in crate::drill) struct WirePlace {
    pub wire: Wire,
    pub listen: SocketAddr,
    pub server: Upstream,
}

/// What a profile names that is there already.
#[derive(Clone, Debug, Default)]
pub(in crate::drill) struct Places {
    pub instances: Vec<AttachedPlace>,
    pub wires: Vec<WirePlace>,
}

/// Judges every place that the profile names; gives the attached instances, and where their wires go.
///
/// # Errors
/// [`DrillError::Refused`] with reason and cure, [`DrillError::Lookup`] for a name that leads
/// nowhere.
pub(in crate::drill) async fn judge(profile: &Profile) -> Result<Places, DrillError> {
    postgres(profile).await?;
    let wires = super::servers::judge(profile).await?;
    let Target::Attached(attached) = &profile.target else {
        return Ok(Places::default());
    };
    if profile.postgres.is_none() {
        return Err(refused(
            "the profile attaches to a running target and names no database",
            "Add `[postgres] url = \"${NAME}\"`: the verdict rests on its rows.",
        ));
    }
    let mut places = Vec::new();
    let mut trust: Option<Tls> = None;
    for (url, id) in attached.urls.iter().zip(0..) {
        places.push(place(profile, url, InstanceId(id), &mut trust).await?);
    }
    if places.is_empty() {
        return Err(refused("`target.urls` is empty", "Name the URL of each instance."));
    }
    Ok(Places { instances: places, wires })
}

/// Judges the audited database alone.
pub(in crate::drill) async fn postgres(profile: &Profile) -> Result<(), DrillError> {
    let Some(postgres) = &profile.postgres else { return Ok(()) };
    let observed = |source| DrillError::Observe { source };
    match server_place(postgres.url.reveal()).map_err(observed)? {
        ServerPlace::Socket => Ok(()),
        ServerPlace::Host { host, port } => {
            may_touch(profile, "the audited PostgreSQL", &host, port).await.map(|_| ())
        }
    }
}

async fn place(
    profile: &Profile,
    url: &Secret,
    id: InstanceId,
    trust: &mut Option<Tls>,
) -> Result<AttachedPlace, DrillError> {
    let parts = parse(url.reveal()).map_err(|reason| {
        refused(
            format!("`{}` in `target.urls` can't be used: {reason}", url.written()),
            "Write http:// or https://, host, port and perhaps a base path; what proves who asks \
             belongs into a header of the request, as ${NAME}.",
        )
    })?;
    let (host, port) = (&parts.host, parts.port.unwrap_or(if parts.is_tls { 443 } else { 80 }));
    let local = may_touch(profile, &format!("instance {id} of the target"), host, port).await?;
    let bracketed = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let tls = match (parts.is_tls, trust.as_ref()) {
        (false, _) => None,
        (true, Some(trusted)) => Some(trusted.for_host(host)),
        (true, None) => Some(Tls::trusting(host, &[])),
    };
    let tls = tls.transpose().map_err(|source| DrillError::Target { source })?;
    if trust.is_none() {
        trust.clone_from(&tls);
    }
    let target = TargetInstance {
        id,
        address: local.first().map_or_else(|| format!("{bracketed}:{port}"), SocketAddr::to_string),
        tls,
        host: parts.port.map_or_else(|| bracketed.clone(), |port| format!("{bracketed}:{port}")),
        base_path: parts.base_path,
    };
    Ok(AttachedPlace { target, url: url.written().to_owned(), local })
}

/// The addresses of a host that is this machine; none for one that is allowed by name.
pub(super) async fn may_touch(
    profile: &Profile,
    what: &str,
    host: &str,
    port: u16,
) -> Result<Vec<SocketAddr>, DrillError> {
    let bare = |name: &str| name.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    let is_allowed = profile.allow_hosts.iter().any(|allowed| bare(allowed) == bare(host));
    let looking = tokio::net::lookup_host((bare(host), port));
    let found: Vec<SocketAddr> = match tokio::time::timeout(LOOKUP_LIMIT, looking).await {
        Ok(Ok(found)) => found.collect(),
        // The lookup is repeated where it is needed, and its failure told there.
        _ if is_allowed => return Ok(Vec::new()),
        Ok(Err(source)) => {
            return Err(DrillError::Lookup {
                what: what.to_owned(),
                host: host.to_owned(),
                source,
            });
        }
        Err(_) => {
            let source = std::io::ErrorKind::TimedOut.into();
            return Err(DrillError::Lookup {
                what: what.to_owned(),
                host: host.to_owned(),
                source,
            });
        }
    };
    let elsewhere = found.iter().find(|address| !address.ip().to_canonical().is_loopback());
    match elsewhere {
        None => Ok(found),
        Some(_) if is_allowed => Ok(Vec::new()),
        Some(address) => Err(refused(
            format!(
                "{what} is not on this machine: `{host}` is {}, and `allow-hosts` does not list it",
                address.ip()
            ),
            format!(
                "If this drill may touch that host, write `allow-hosts = [\"{host}\"]`; it sends \
                 duplicates on purpose, so never at production."
            ),
        )),
    }
}

fn parse(url: &str) -> Result<Parts, &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("it has no http:// in front")?;
    let is_tls = match scheme.to_ascii_lowercase().as_str() {
        "http" => false,
        "https" => true,
        _ => return Err("only http:// and https:// are spoken"),
    };
    if rest.contains(['?', '#']) {
        return Err("it has a query or a fragment");
    }
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    if authority.contains('@') {
        return Err("it has a user or password in it");
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("its [ is not closed")?;
            (host, after.strip_prefix(':'))
        }
        None => {
            authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)))
        }
    };
    let port = port.map(str::parse).transpose().map_err(|_| "its port is no number up to 65535")?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_name) {
        return Err("its host is missing or has a character that hosts don't have");
    }
    let base_path = path.trim_end_matches('/').to_owned();
    Ok(Parts { is_tls, host: host.to_owned(), port, base_path })
}

pub(super) fn refused(what: impl Into<String>, cure: impl Into<String>) -> DrillError {
    DrillError::Refused { what: what.into(), cure: cure.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_what_does_not_belong_is_refused() {
        let parts = parse("https://[::1]:8443/api/v1/").unwrap();
        assert_eq!((parts.host.as_str(), parts.port, parts.is_tls), ("::1", Some(8443), true));
        assert_eq!(parts.base_path, "/api/v1");
        let bare = parse("http://orders.example").unwrap();
        assert_eq!((bare.port, bare.base_path.as_str()), (None, ""));
        for wrong in [
            "127.0.0.1:8080",
            "ftp://a",
            "http://",
            "http://me:pw@a/",
            "http://a?b=c",
            "http://a:x",
            "http://[::1",
            "http://a b",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
