//! The profile's lab, as the `lab` room wants it and as a reader wants it.

use std::path::PathBuf;

use super::DrillError;
use super::phases::products;
use crate::history::RunId;
use crate::lab::{LabSpec, PaymentsSpec};
use crate::profile::{LabSettings, PaymentsSettings, Profile};
use crate::report::format::{counted, duration_us};

/// The lab that a profile asks for, with the run's products on sale.
pub(super) fn spec(profile: &Profile, logs: PathBuf, run: RunId) -> Result<LabSpec, DrillError> {
    let lab = &profile.lab;
    let on_sale = |(product, stock)| (product, i32::try_from(stock).unwrap_or(i32::MAX));
    let window = lab.order_window.map(|window| format!("--order-window={}ms", window.as_millis()));
    Ok(LabSpec {
        instances: lab.instances,
        defects: lab.defects.clone(),
        shop_flags: [
            format!("--idempotency={}", lab.idempotency),
            format!("--lock-per={}", lab.lock_per),
            format!("--begin={}", lab.begin),
            format!("--isolation={}", lab.isolation),
            format!("--one-order-per={}", lab.one_order_per),
            format!("--pool-size={}", lab.pool_size),
            format!("--stock={}", lab.stock),
            format!("--lock-poll={}ms", lab.lock_poll.as_millis().max(1)),
            format!("--lock-wait={}ms", lab.lock_wait.as_millis()),
            format!("--lease={}ms", lab.lease.as_millis()),
            format!("--work-time={}ms", lab.work_time.as_millis()),
        ]
        .into_iter()
        .chain(window)
        .chain(lab.payments.iter().flat_map(paying))
        .collect(),
        payments: lab.payments.as_ref().map(|settings| provider(settings, profile.seed)),
        products: products(profile, run)?.into_iter().map(on_sale).collect(),
        ..LabSpec::new(logs)
    })
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

/// The settings that the figures depend on, in words.
pub(super) fn about(lab: &LabSettings) -> String {
    let defects = match lab.defects.as_slice() {
        [] => "no defects".to_owned(),
        defects => format!("defects {}", defects.join(", ")),
    };
    format!(
        "{}, {defects}; idempotency {}, lock per {}, BEGIN {}, {}, one order per {}, \
         stock {}, pool {}, lock poll {}, lease {}{}",
        counted(u64::from(lab.instances), "instance", "instances"),
        lab.idempotency,
        lab.lock_per,
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
