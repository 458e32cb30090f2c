//! What a simulated drill is like: its size, its troubles, its contract, and how its service is wrong.

use std::time::Duration;

use dupeproof::history::{KeyForm, Outcome};
use dupeproof::profile::{
    Answer, Arrival, BusinessColumn, Contract, KeyScope, MissingKey, OtherParameters, Secret,
};

use crate::fixture::{Drill, PRODUCT, user};

/// How the service is wrong; each flag is one defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defects {
    /// Duplicates are executed again.
    pub second_order: bool,
    /// Replays have a body of their own.
    pub other_body: bool,
    /// Some acknowledged orders are never committed.
    pub lost_order: bool,
    /// The fingerprint is never compared.
    pub no_fingerprint: bool,
    /// The fingerprint isn't compared while the first request is in progress.
    pub not_compared_in_progress: bool,
    /// Some orders don't take their stock.
    pub stock_kept: bool,
    /// Records are looked up by the key string alone.
    pub key_not_scoped: bool,
    /// Equal bodies of a user are one order, whatever their keys.
    pub merges_bodies: bool,
    /// Equal bodies within one window are two orders all the same.
    pub ignores_window: bool,
    /// Bad keys are executed.
    pub bad_key_accepted: bool,
    /// A duplicate of a finished request is an error.
    pub duplicate_500: bool,
    /// `In progress` comes without a hint.
    pub no_hint: bool,
    /// The status of an order is changed whatever it was.
    pub status_unconditional: bool,
    /// An update that changes no row is taken for success.
    pub zero_rows_is_success: bool,
    /// A changed request overwrites the order that there is.
    pub upsert: bool,
    /// A rejected request is executed all the same.
    pub rejected_effect: bool,
    /// Some orders have no stock movement.
    pub no_movement: bool,
    /// Some first requests are told `sold out` while there is stock.
    pub sold_out_lie: bool,
    /// Replays are not marked as such.
    pub unmarked: bool,
    /// Successes come without an order id.
    pub unreadable: bool,
}

/// What the attempts of a drill do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// One key for each user, perhaps changed requests.
    #[default]
    Place,
    /// The same, with other bytes in every attempt.
    SameFingerprint,
    /// Two users to a key string.
    SharedKey,
    /// Three keys of a user, one body.
    FreshKey,
    /// Pay and close at the orders of an earlier burst.
    Race,
    /// The same, one after the other.
    RaceInTurn,
    /// Missing and malformed keys.
    BadKeys,
    /// Many buyers of one product.
    LastUnit,
    /// A token for each user, which is its key.
    SubmitToken,
    /// Variants, changed requests and fresh keys, as they are drawn.
    Mixed,
    /// One attempt after the other.
    Sequential,
    /// One attempt a millisecond.
    Rate,
}

/// What the contract says of a changed request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Other {
    #[default]
    Rejected,
    RejectedOnceDone,
    OldResult,
    Unsaid,
}

/// The shape of a random drill.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    pub kind: Kind,
    pub arrival: Arrival,
    pub users: u32,
    pub threads: u32,
    pub stock: i64,
    /// Share of attempts that ask for another quantity.
    pub mutated: f64,
    /// Two keys for each user, and one order for each user.
    pub per_user: bool,
    /// How often each kind of trouble strikes an attempt.
    pub trouble: f64,
    pub crash: bool,
    pub other: Other,
    /// Keys belong to the account.
    pub account: bool,
    /// Replays have a marker and a status of their own.
    pub marked: bool,
    /// Equal bodies of a user are one order for so long, in microseconds.
    pub window: Option<u64>,
    /// Requests without a key are executed.
    pub keyless_executed: bool,
    /// What was paid may be closed.
    pub refunds: bool,
    /// Orders have times of payment and closing.
    pub times: bool,
    /// There is a table of stock movements.
    pub ledger: bool,
    /// The orders table gives neither product nor quantity.
    pub blind: bool,
    /// The orders table doesn't give the key.
    pub nameless: bool,
    /// The users existed before, some with orders.
    pub pool: bool,
    /// What the answer 404 means, where nothing but that is ever answered.
    pub absent: Option<Outcome>,
}

impl Kind {
    pub const ALL: [Self; 12] = [
        Self::Place,
        Self::SameFingerprint,
        Self::SharedKey,
        Self::FreshKey,
        Self::Race,
        Self::RaceInTurn,
        Self::BadKeys,
        Self::LastUnit,
        Self::SubmitToken,
        Self::Mixed,
        Self::Sequential,
        Self::Rate,
    ];

    pub const fn is_race(self) -> bool {
        matches!(self, Self::Race | Self::RaceInTurn)
    }
}

impl Shape {
    /// A key that this contract accepts, or one of the forms that it doesn't.
    pub fn form(self, number: u32) -> KeyForm {
        match self.kind {
            Kind::BadKeys => KeyForm::BAD[number as usize % KeyForm::BAD.len()],
            _ => KeyForm::Good,
        }
    }

    /// Puts contract, tables and baseline of this shape into a drill.
    pub fn set_up(self, drill: &mut Drill) {
        self.write_contract(&mut drill.profile.contract);
        let audit = &mut drill.profile.audit;
        let column = |name: &str| Some(name.to_owned());
        if self.times {
            (audit.orders.paid_at, audit.orders.closed_at) =
                (column("paid_at"), column("closed_at"));
            audit.orders.sold.push("CLOSED".to_owned());
        } else if self.kind.is_race() {
            audit.orders.sold.push("CLOSED".to_owned());
        }
        if self.nameless {
            audit.orders.key = None;
        }
        if self.blind {
            (audit.orders.product, audit.orders.quantity) = (None, None);
        }
        if self.ledger {
            audit.movements = Some(dupeproof::profile::MovementsTable {
                table: "stock_movements".to_owned(),
                order: "order_id".to_owned(),
                product: "product_id".to_owned(),
                delta: "delta".to_owned(),
            });
        }
        for snapshot in [Some(&mut drill.baseline), drill.after.as_mut()].into_iter().flatten() {
            snapshot.stock.get_mut(&PRODUCT.to_string()).unwrap().available = self.stock;
            snapshot.movements = self.ledger.then(Vec::new);
        }
        if self.pool {
            drill.profile.actor.users = (0..self.users).map(|it| Secret::plain(user(it))).collect();
            let old = dupeproof::history::OrderRow {
                id: "17".into(),
                key: Some("of-old".into()),
                product: Some("4711".into()),
                ..crate::fixture::row(0, 3)
            };
            drill.baseline.orders.push(old.clone());
            drill.after().orders.push(old);
        }
    }

    fn write_contract(self, contract: &mut Contract) {
        if self.per_user {
            contract.one_order_per = vec![BusinessColumn::User];
        }
        if self.account {
            contract.key.scope = KeyScope::Account;
        }
        if self.marked {
            contract.replay_marker = Some("idempotent-replayed".to_owned());
            contract.replay.statuses = Some(vec![200]);
        }
        if self.keyless_executed {
            contract.missing_key = MissingKey::Executed;
        }
        contract.window = self.window.map(Duration::from_micros);
        let answer = Answer { statuses: vec![409], code: None };
        contract.other_parameters = match self.other {
            Other::Rejected => OtherParameters::Rejected { answer, while_in_progress: true },
            Other::RejectedOnceDone => {
                OtherParameters::Rejected { answer, while_in_progress: false }
            }
            Other::OldResult => OtherParameters::OldResult,
            Other::Unsaid => OtherParameters::Unsaid,
        };
    }
}
