//! What a request to Redis is for: its object, its role, and what of a lease it carries.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;

use crate::history::{IntentId, Role};
use crate::wire::guide::KeyKind;
use crate::wire::observer::Observer;
use crate::wire::{Part, shape};

use super::Request;

/// What a request means.
#[derive(Debug, Default)]
pub(super) struct Meaning {
    pub(super) object: Option<String>,
    pub(super) role: Option<Role>,
    /// What a lease is taken, removed or renewed with.
    pub(super) token: Option<u64>,
    pub(super) lease_ms: Option<u64>,
    /// Whether it compares what it finds with its token.
    pub(super) compares: bool,
}

/// `key` is its first one.
pub(super) fn meaning(
    verb: &str,
    request: &Request<'_>,
    key: Option<&str>,
    intent: Option<IntentId>,
    observer: &Observer,
) -> Meaning {
    let Some(key) = key else { return Meaning::default() };
    let object = shape::of_key(key, &observer.tokens.borrow());
    let kind = observer.guide.kind_of_key(key, false);
    let is_script = verb.starts_with("EVAL");
    let mut means = if is_script {
        script(request, kind, observer)
    } else {
        command(verb, request, kind, intent, observer)
    };
    means.object = match (is_script, means.role, object) {
        (true, Some(role), Some(object)) => Some(format!("{} {object}", role.name())),
        (true, Some(role), None) => Some(role.name().to_owned()),
        (_, _, object) => object,
    };
    if !observer.guide.roles.is_empty() {
        let verb = verb.strip_suffix("SHA").unwrap_or(verb);
        let name = match &means.object {
            Some(object) => format!("redis {verb} {object}"),
            None => format!("redis {verb}"),
        };
        means.role = observer.guide.role(&name).or(means.role);
    }
    means
}

fn script(request: &Request<'_>, kind: KeyKind, observer: &Observer) -> Meaning {
    let script = request.script().and_then(|sha1| observer.scripts.borrow().get(&sha1));
    let Some(script) = script else { return Meaning::default() };
    let keys = request.keys().count();
    let argument = |place: usize| request.argument(2 + keys + place);
    let role = script.role(kind);
    let lease = script.lease().and_then(|(place, unit)| {
        argument(place)?.whole_text()?.parse::<u64>().ok()?.checked_mul(unit)
    });
    let is_of_a_lease = matches!(role, Some(Role::Lock | Role::Unlock | Role::Renew));
    Meaning {
        object: None,
        role,
        token: if is_of_a_lease { argument(1).and_then(hashed) } else { None },
        lease_ms: lease,
        compares: script.compares,
    }
}

fn command(
    verb: &str,
    request: &Request<'_>,
    kind: KeyKind,
    intent: Option<IntentId>,
    observer: &Observer,
) -> Meaning {
    let lease_ms = request.lease().and_then(|lease| u64::try_from(lease.as_millis()).ok());
    let role = match (kind, verb) {
        (KeyKind::Lease, "SET" | "SETNX") => Some(Role::Lock),
        (KeyKind::Lease, "DEL" | "UNLINK" | "GETDEL") => Some(Role::Unlock),
        (KeyKind::Lease, "PEXPIRE" | "EXPIRE" | "PEXPIREAT" | "EXPIREAT") => Some(Role::Renew),
        (KeyKind::Fence, "INCR" | "INCRBY" | "GET" | "SET") => Some(Role::Fence),
        (KeyKind::Record, "SET" | "HSET" | "HMSET" | "SETEX" | "PSETEX") => {
            let is_new = request.set_options().is_some_and(|options| options.nx);
            let is_committed =
                || intent.is_some_and(|intent| observer.committed.borrow().contains(&intent));
            Some(if !is_new && is_committed() { Role::Success } else { Role::Claim })
        }
        (KeyKind::Record, "GET" | "HGET" | "HGETALL" | "HMGET" | "SETNX" | "HSETNX" | "EXISTS") => {
            Some(Role::Claim)
        }
        _ => None,
    };
    let token = match (role, verb) {
        (Some(Role::Lock), _) => request.argument(2).and_then(hashed),
        _ => None,
    };
    Meaning { object: None, role, token, lease_ms, compares: false }
}

fn hashed(part: Part<'_>) -> Option<u64> {
    if !part.is_whole {
        return None;
    }
    let mut hasher = FixedState::with_seed(11).build_hasher();
    hasher.write(part.bytes);
    Some(hasher.finish())
}
