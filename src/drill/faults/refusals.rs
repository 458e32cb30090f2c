//! What can't be done to this target, told before anything starts.

use crate::drill::DrillError;
use crate::profile::{Act, Fault, Hold, Profile, Target, Until};
use crate::wire::Guide;

/// Judges the faults of a profile by what its target has.
///
/// # Errors
/// [`DrillError::Refused`] with reason and cure.
pub(in crate::drill) fn judge(profile: &Profile) -> Result<(), DrillError> {
    if !super::are_in(profile) {
        return Ok(());
    }
    if !has_proxies(profile) {
        return Err(refused(
            "the profile has faults on wires, and nothing stands between the target and its servers",
            "Take `proxies = false` out, or give `[postgres]`, `[redis]` or `[payments]` a `proxy`.",
        ));
    }
    let guide = crate::drill::wires::guide(profile);
    let mut faults = profile.phases.iter().flat_map(|phase| &phase.faults);
    faults.try_for_each(|fault| one(profile, &guide, fault))
}

fn has_proxies(profile: &Profile) -> bool {
    match &profile.target {
        Target::Lab => profile.lab.proxies,
        Target::Launched(launched) => launched.proxies,
        Target::Attached(_) => {
            profile.postgres.as_ref().is_some_and(|postgres| postgres.proxy.is_some())
                || profile.redis.proxy.is_some()
                || profile.payments.is_some()
        }
    }
}

fn one(profile: &Profile, guide: &Guide, fault: &Fault) -> Result<(), DrillError> {
    let name = fault.name();
    let is_attached = matches!(profile.target, Target::Attached(_));
    if is_attached && matches!(fault.act, Act::SwapUpstream { .. }) {
        return Err(refused(
            format!("`{name}` needs a second Redis, and an attached target has its own"),
            "Launch the target with `target.launch`: it gets a private Redis, and a spare one.",
        ));
    }
    if !touches_keys(&fault.act) {
        return Ok(());
    }
    match profile.redis.url.as_ref().filter(|_| is_attached) {
        None if is_attached => {
            return Err(refused(
                format!(
                    "`{name}` looks at keys of the target's Redis, which the profile doesn't name"
                ),
                "Write `[redis] url = \"${NAME}\"`.",
            ));
        }
        Some(url) if !url.reveal().starts_with("redis://") => {
            return Err(refused(
                format!("`{name}` looks at keys of Redis, and that is done without TLS only"),
                "Name a `redis://` URL in `[redis] url`, or take the fault out.",
            ));
        }
        _ => {}
    }
    if matches!(fault.act, Act::TakeLease { .. }) && guide.lock_keys.is_none() {
        return Err(refused(
            format!("`{name}` has to know how the target names its locks"),
            "Write `[redis] lock-keys`, such as \"lock:stock:{product}\".",
        ));
    }
    Ok(())
}

/// Whether we look at keys ourselves for it.
pub(super) const fn touches_keys(act: &Act) -> bool {
    let hold = match act {
        Act::TakeLease { .. } | Act::Expire(_) => return true,
        Act::Hold(hold) => hold,
        _ => return false,
    };
    matches!(hold, Hold { until: Until::TakenOver | Until::LeaseOver, .. })
}

fn refused(what: impl Into<String>, cure: impl Into<String>) -> DrillError {
    DrillError::Refused { what: what.into(), cure: cure.into() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const ATTACHED: &str = "[target]\nurls = [\"http://127.0.0.1:1\"]\n[postgres]\n\
                            url = \"postgres://it@127.0.0.1/orders\"\n\
                            proxy = \"127.0.0.1:7001\"\n";

    /// The reason why a fault of an attached target is refused.
    fn refusal(redis: &str, act: &str) -> Option<String> {
        let fault = format!(
            "[[phase]]\nname = \"a\"\nburst.same-key = {{ users = 1, threads = 2 }}\n\
             [[phase.fault]]\nat.step = {{ after = \"postgres COMMIT\" }}\ndo.{act}\n"
        );
        let text = format!("{ATTACHED}{redis}{fault}");
        let profile = crate::profile::parse(Path::new("a.toml"), &text, &|_| None);
        judge(&profile.expect("the profile is right")).err().map(|error| error.to_string())
    }

    #[test]
    fn what_needs_a_redis_of_ours_or_keys_that_we_can_reach_is_refused() {
        let expire = "expire = { what = \"lease\" }";
        let redis = |url: &str| {
            format!(
                "[redis]\nurl = \"{url}\"\nproxy = \"127.0.0.1:7002\"\n\
                 lock-keys = \"lock:{{product}}\"\n"
            )
        };
        assert_eq!(refusal("", "hold = { until = \"others\" }"), None);
        assert_eq!(refusal(&redis("redis://127.0.0.1:1"), expire), None);
        let told = refusal(&redis("rediss://127.0.0.1:1"), expire);
        assert!(told.is_some_and(|told| told.contains("without TLS")));
        let told = refusal(&redis("redis://127.0.0.1:1"), "swap-upstream = {}");
        assert!(told.is_some_and(|told| told.contains("second Redis")));
    }
}
