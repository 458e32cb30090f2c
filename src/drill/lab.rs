//! The profile's lab, as the `lab` room wants it and as a reader wants it.

use std::path::PathBuf;
use std::time::Duration;

use super::DrillError;
use super::phases::products;
use crate::history::RunId;
use crate::lab::{LabSpec, PaymentsSpec};
use crate::profile::{Act, LabSettings, PaymentsSettings, Profile};
use crate::report::format::{counted, duration_us};

/// The lab that a profile asks for, with the run's products on sale.
pub(super) fn spec(profile: &Profile, logs: PathBuf, run: RunId) -> Result<LabSpec, DrillError> {
    let on_sale = |(product, stock)| (product, i32::try_from(stock).unwrap_or(i32::MAX));
    Ok(LabSpec {
        instances: profile.lab.instances,
        defects: profile.lab.defects.clone(),
        shop_flags: shop_flags(&profile.lab),
        payments: profile.lab.payments.as_ref().map(|settings| provider(settings, profile.seed)),
        products: products(profile, run)?.into_iter().map(on_sale).collect(),
        postgres_settings: vec![most_connections(profile.lab.instances, profile.lab.pool_size)],
        spare_redis: swaps_redis(profile),
        ..LabSpec::new(logs)
    })
}

/// Whether a second Redis is needed, for a failover.
pub(super) fn swaps_redis(profile: &Profile) -> bool {
    let mut faults = profile.phases.iter().flat_map(|phase| &phase.faults);
    faults.any(|fault| fault.armed && matches!(fault.act, Act::SwapUpstream { .. }))
}

/// Enough for every pool, and for us.
pub fn most_connections(instances: u16, pool_size: u32) -> (String, String) {
    const OURS: u32 = 60;
    let wanted = u32::from(instances).saturating_mul(pool_size).saturating_add(OURS);
    ("max_connections".to_owned(), wanted.max(300).to_string())
}

/// How the shop names its locks and its idempotency records in Redis, where it has them. Two defects
/// are a wrong name.
pub(super) fn keys(lab: &LabSettings) -> (Option<String>, Option<String>) {
    let has = |name: &str| lab.defects.iter().any(|defect| defect == name);
    let lock = match lab.lock_per {
        _ if has("global-lock-key") => "lock:orders",
        _ if has("lock-on-user-not-stock") => "lock:order:create:{user}",
        "product" => "lock:stock:{product}",
        "user" => "lock:order:create:{user}",
        _ => "lock:orders",
    };
    let locks = lab.lock == "redis";
    let records = matches!(lab.idempotency, "redis+postgres");
    (locks.then(|| lock.to_owned()), records.then(|| "idem:orders:{user}:{key}".to_owned()))
}

/// How the profile's settings are said to the shop, its defects left out.
pub fn shop_flags(lab: &LabSettings) -> Vec<String> {
    let ms = |flag, time: Duration| format!("--{flag}={}ms", time.as_millis());
    let maybe = |flag, time: Option<Duration>| time.map(|time| ms(flag, time));
    [
        format!("--idempotency={}", lab.idempotency),
        format!("--redis-down={}", lab.redis_down),
        format!("--lock={}", lab.lock),
        format!("--lock-per={}", lab.lock_per),
        format!("--lease-kind={}", lab.lease_kind),
        format!("--begin={}", lab.begin),
        format!("--isolation={}", lab.isolation),
        format!("--one-order-per={}", lab.one_order_per),
        format!("--pool-size={}", lab.pool_size),
        format!("--stock={}", lab.stock),
        ms("lock-poll", lab.lock_poll.max(Duration::from_millis(1))),
        ms("lock-wait", lab.lock_wait),
        ms("lease", lab.lease),
        ms("work-time", lab.work_time),
        ms("record-ttl", lab.record_ttl),
        ms("token-ttl", lab.token_ttl),
        ms("redis-timeout", lab.redis_timeout),
        format!("--owners-at-most={}", lab.owners_at_most),
    ]
    .into_iter()
    .chain(maybe("order-window", lab.order_window))
    .chain(maybe("processing-lease", lab.processing_lease))
    .chain(lab.payments.iter().flat_map(paying))
    .collect()
}

/// What the shop is told about paying.
fn paying(settings: &PaymentsSettings) -> [String; 3] {
    [
        format!("--payment-timeout={}ms", settings.shop_timeout.as_millis()),
        format!("--paying-limit={}ms", settings.paying_limit.as_millis()),
        format!("--reconcile-every={}ms", settings.reconcile_every.as_millis()),
    ]
}

fn provider(settings: &PaymentsSettings, seed: u64) -> PaymentsSpec {
    PaymentsSpec {
        flags: vec![
            format!("--delay={}ms", settings.delay.as_millis()),
            format!("--fail-share={}", settings.fail_share),
            format!("--fail-after-share={}", settings.fail_after_share),
            format!("--drop-share={}", settings.drop_share),
            format!("--decline-share={}", settings.decline_share),
            format!("--seed={seed}"),
        ],
    }
}

/// A lock that is not there covers nothing; a lease in Redis is what one expects.
fn lock_in_words(lab: &LabSettings) -> String {
    match lab.lock {
        "none" => "no lock".to_owned(),
        "redis" if lab.lock_per == "global" => "one lock for all orders".to_owned(),
        "redis" => format!("lock per {}", lab.lock_per),
        other => format!("{other} lock per {}", lab.lock_per),
    }
}

/// The settings that the figures depend on, in words.
pub(super) fn about(lab: &LabSettings) -> String {
    let defects = match lab.defects.as_slice() {
        [] => "no defects".to_owned(),
        defects => format!("defects {}", defects.join(", ")),
    };
    format!(
        "{}, {defects}; idempotency {}, {}, BEGIN {}, {}, one order per {}, \
         stock {}, pool {}, lock poll {}, lease {}{}",
        counted(u64::from(lab.instances), "instance", "instances"),
        lab.idempotency,
        lock_in_words(lab),
        lab.begin.replace('-', " ").replace("lock", "the lock").replace("with", "and"),
        lab.isolation.replace('-', " "),
        lab.one_order_per,
        lab.stock,
        lab.pool_size,
        duration_us(lab.lock_poll.as_micros() as u64),
        duration_us(lab.lease.as_micros() as u64),
        lab.payments.as_ref().map_or_else(String::new, about_payments),
    )
}

/// The provider's habits that differ from the usual ones.
fn about_payments(settings: &PaymentsSettings) -> String {
    let mut out = "; paid through a provider".to_owned();
    if !settings.delay.is_zero() {
        out.push_str(&format!(", delay {}", duration_us(settings.delay.as_micros() as u64)));
    }
    for (what, share) in [
        ("fail", settings.fail_share),
        ("fail after their effect", settings.fail_after_share),
        ("lose their reply", settings.drop_share),
        ("are declined", settings.decline_share),
    ] {
        if share > 0.0 {
            out.push_str(&format!(", {}% of charges {what}", share * 100.0));
        }
    }
    out
}
