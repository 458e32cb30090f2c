//! `[lab.payments]`: the payment provider that the lab's shop pays through.
//!
//! The words are those of the provider's own flags, and of the shop's, which they are passed on to.

use super::super::shape::{Field, Shape, Table};
use super::{MAYBE_NO_WAIT, WAIT};

const fn share(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, doc, Shape::Share).default("0.0")
}

pub static PAYMENTS: Table = Table {
    head: "[lab.payments]",
    noun: "the payment provider",
    fields: &[
        Field::new("delay", "How long every charge takes.", MAYBE_NO_WAIT).default("\"0ms\""),
        share("fail-share", "The share of charges answered with 500, without an effect."),
        share(
            "fail-after-share",
            "The share of charges answered with 500 although they took effect.",
        ),
        share(
            "drop-share",
            "The share of charges that take effect and whose connection is then dropped.",
        ),
        share("decline-share", "The share of charges that are declined."),
        Field::new("shop-timeout", "How long the shop waits for the provider's answer.", WAIT)
            .default("\"2s\""),
        Field::new(
            "paying-limit",
            "How long an order may be PAYING before the shop asks the provider about it by itself.",
            MAYBE_NO_WAIT,
        )
        .default("\"3s\""),
        Field::new("reconcile-every", "How often the shop looks for such orders.", WAIT)
            .default("\"1s\""),
    ],
};
