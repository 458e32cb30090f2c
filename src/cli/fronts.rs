//! The servers that `dupeproof proxy` stands in front of: from flags or from a profile, and only
//! where it may.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::lookup_host;

use super::profile;
use super::proxy::ProxyArgs;
use crate::drill;
use crate::history::{Secrets, Wire};
use crate::profile::{Profile, is_loopback, is_same_host};
use crate::ui::Failure;
use crate::wire::{Guide, ProxySpec, ServerUrl};

/// A proxy, and how the target is told of it.
#[derive(Debug)]
pub(super) struct Front {
    /// The variable that services mostly take the URL from.
    pub(super) variable: &'static str,
    pub(super) url: ServerUrl,
    pub(super) spec: ProxySpec,
}

/// All proxies, and what the profile knows of what crosses them.
#[derive(Debug, Default)]
pub(super) struct Fronts {
    pub(super) fronts: Vec<Front>,
    pub(super) guide: Guide,
    pub(super) secrets: Secrets,
    /// The profile's file.
    pub(super) profile: String,
}

/// Where somebody wrote a URL, and what the cure of a mistake in it names.
struct Named<'a> {
    wire: Wire,
    variable: &'static str,
    place: String,
    url: &'a str,
    listen: Option<SocketAddr>,
}

/// What the command line asks for; every mistake in it ends the command with exit 2.
pub(super) async fn asked_for(args: &ProxyArgs) -> Result<Fronts, Failure> {
    let Some(path) = &args.profile else {
        return Ok(Fronts { fronts: of_flags(args).await?, ..Fronts::default() });
    };
    let profile = profile::read(path)?;
    let fronts = of_profile(&profile, args).await?;
    if fronts.is_empty() {
        return Err(Failure::usage(
            format!("{} asks for no proxy", path.display()),
            "Say where one listens, such as `proxy = \"127.0.0.1:16379\"` beside `url` in `[redis]`, \
             `[postgres]` or `[payments]`; or name servers with --redis, --postgres and --http.",
        ));
    }
    Ok(Fronts {
        fronts,
        guide: drill::guide(&profile),
        secrets: drill::secrets(&profile),
        profile: path.display().to_string(),
    })
}

async fn of_flags(args: &ProxyArgs) -> Result<Vec<Front>, Failure> {
    let flags = [
        (Wire::Redis, "REDIS_URL", "--redis", &args.redis, args.listen_redis),
        (Wire::Postgres, "DATABASE_URL", "--postgres", &args.postgres, args.listen_postgres),
        (Wire::Http, "HTTP_URL", "--http", &args.http, args.listen_http),
    ];
    let mut fronts = Vec::new();
    for (wire, variable, flag, url, listen) in flags {
        let Some(url) = url else { continue };
        let named = Named { wire, variable, place: flag.to_owned(), url, listen };
        let front = front(&named, args, &args.allow_host, "--allow-host").await?;
        fronts.push(front);
    }
    if fronts.is_empty() {
        return Err(Failure::usage(
            "there is no server to stand in front of",
            "Name one or more, such as --redis redis://127.0.0.1:6379, or a profile with proxies.",
        ));
    }
    Ok(fronts)
}

async fn of_profile(profile: &Profile, args: &ProxyArgs) -> Result<Vec<Front>, Failure> {
    let postgres = profile.postgres.as_ref().map(|postgres| (&postgres.url, postgres.proxy));
    let redis = profile.redis.url.as_ref().map(|url| (url, profile.redis.proxy));
    let payments = profile.payments.as_ref().map(|payments| (&payments.url, Some(payments.proxy)));
    let sections = [
        (Wire::Redis, "REDIS_URL", "redis", redis),
        (Wire::Postgres, "DATABASE_URL", "postgres", postgres),
        (Wire::Http, "PAYMENTS_URL", "payments", payments),
    ];
    let mut fronts = Vec::new();
    for (wire, variable, section, server) in sections {
        let Some((url, Some(listen))) = server else { continue };
        let (place, url) = (format!("`[{section}] url`"), url.reveal());
        let named = Named { wire, variable, place, url, listen: Some(listen) };
        let mut front = front(&named, args, &profile.allow_hosts, "`allow-hosts`").await?;
        // The profile lists the addresses beside loopback, and has been checked.
        front.spec.beyond_loopback = true;
        fronts.push(front);
    }
    Ok(fronts)
}

async fn front(
    named: &Named<'_>,
    args: &ProxyArgs,
    allowed: &[String],
    list: &str,
) -> Result<Front, Failure> {
    let Named { wire, variable, place, url, listen } = named;
    let url = ServerUrl::read(*wire, url)
        .map_err(|error| Failure::usage(format!("{place}: {error}"), error.cure))?;
    let url = match &args.ca {
        Some(authorities) => url.trusting(authorities),
        None => url,
    };
    let (host, port) = (&url.upstream().host, url.upstream().port);
    if !allowed.iter().any(|allowed| is_same_host(allowed, host)) && !is_here(host, port).await {
        return Err(Failure::usage(
            format!("{place} leads to {host}, which is another machine and isn't allowed"),
            format!("If it is the host that you mean, list it: {list} {host}."),
        ));
    }
    let listen = listen.unwrap_or((Ipv4Addr::LOCALHOST, 0).into());
    let spec = ProxySpec {
        beyond_loopback: args.beyond_loopback,
        ..ProxySpec::new(*wire, listen, url.upstream().clone())
    };
    Ok(Front { variable, url, spec })
}

/// Whether a host is this machine, whatever its name.
async fn is_here(host: &str, port: u16) -> bool {
    if is_loopback(host) {
        return true;
    }
    let Ok(addresses) = lookup_host((host, port)).await else { return false };
    let mut addresses = addresses.map(|address| address.ip().to_canonical()).peekable();
    addresses.peek().is_some() && addresses.all(|address| address.is_loopback())
}
