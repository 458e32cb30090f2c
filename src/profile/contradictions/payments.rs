//! `[lab.payments]`: a charge meets one fate, so the shares of all fates are at most all of it.

use super::super::mistake::Mistake;
use super::super::node::Node;
use crate::codes;

const SHARES: [&str; 4] = ["fail-share", "fail-after-share", "drop-share", "decline-share"];

pub(super) fn compare(profile: &Node, found: &mut Vec<Mistake>) {
    let Some(payments) = profile.get("lab").and_then(|lab| lab.get("payments")) else { return };
    let share = |name: &str| payments.get(name).and_then(Node::share);
    let shares: Option<Vec<f64>> = SHARES.into_iter().map(share).collect();
    let Some(sum) = shares.map(|shares| shares.iter().sum::<f64>()) else { return };
    if sum > 1.0 + 1e-9 {
        let what = "the shares of charges that end badly are more than all of them";
        found.push(
            Mistake::new(&codes::SHARES, payments.span.clone(), what)
                .label(format!("they add up to {sum:.3}"))
                .help("at most 1 together; what is left over is charged as it should be"),
        );
    }
}
