//! What is done to a driver, as a rule.

use std::time::Duration;

use dupeproof::history::{StepPoint, Wire};
use dupeproof::profile::{Failure, Loss};
use dupeproof::wire::{Rule, WireAct};

use crate::armed::{HOLD, rule};

pub const LOSSES: [Loss; 3] = [Loss::Close, Loss::Reset, Loss::Stall];
/// How long a hold lasts.
pub const HELD: Duration = Duration::from_millis(200);
/// How long a driver hangs before it is helped.
pub const STALLED: Duration = Duration::from_millis(1_300);
/// How long an application waits for an answer, where its driver can be told.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// The step that counts is an order's COMMIT, or the script that gives a lease back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Its request, and then let go.
    Held,
    ReplyLost(Loss),
    /// Its request, by a close.
    RequestLost,
    /// An INSERT fails.
    FirstFails,
    LastFails,
    /// It fails, and the connection with it.
    Terminated,
}

impl Case {
    pub const fn told(self, wire: Wire) -> &'static str {
        match (self, wire) {
            (Self::Held, Wire::Postgres) => "COMMIT held for 200 ms",
            (Self::Held, _) => "request held for 200 ms",
            (Self::ReplyLost(Loss::Close), _) => "reply lost, closed",
            (Self::ReplyLost(Loss::Reset), _) => "reply lost, reset",
            (Self::ReplyLost(Loss::Stall), _) => "reply lost, stalled until heal",
            (Self::RequestLost, _) => "COMMIT lost, closed",
            (Self::FirstFails, _) => "40001 at INSERT",
            (Self::LastFails, Wire::Postgres) => "40001 at COMMIT",
            (Self::LastFails, _) => "READONLY",
            (Self::Terminated, _) => "57P01 at COMMIT",
        }
    }

    pub fn rule(self, wire: Wire) -> Rule {
        let point = match self {
            Self::ReplyLost(_) => StepPoint::After,
            _ => StepPoint::Before,
        };
        let last = match wire {
            Wire::Postgres => "COMMIT",
            _ => "EVAL",
        };
        let verb = if self == Self::FirstFails { "INSERT" } else { last };
        rule(point, wire, verb, self.act(wire))
    }

    fn act(self, wire: Wire) -> WireAct {
        match self {
            Self::Held => HOLD,
            Self::ReplyLost(loss) => WireAct::DropReply(loss),
            Self::RequestLost => WireAct::DropRequest(Loss::Close),
            Self::FirstFails | Self::LastFails if wire == Wire::Postgres => fails("40001"),
            Self::FirstFails | Self::LastFails => WireAct::Fail(Failure::Redis {
                error: "READONLY You can't write against a read only replica.".to_owned(),
            }),
            Self::Terminated => fails("57P01"),
        }
    }

    /// What a slow reply makes of a patient application is a case of its own.
    pub fn patience(self) -> Option<Duration> {
        (self == Self::ReplyLost(Loss::Stall)).then_some(PATIENCE)
    }
}

fn fails(sqlstate: &str) -> WireAct {
    let message = "could not serialize access due to concurrent update".to_owned();
    WireAct::Fail(Failure::Postgres { sqlstate: sqlstate.to_owned(), message })
}
