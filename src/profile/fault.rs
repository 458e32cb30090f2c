//! `[[phase.fault]]`: what is done to the target's wires and stores, and when.
//!
//! A fault has one trigger (`at`) and one act (`do`). A trigger that is a step names it by the grammar
//! that steps have everywhere: `WIRE VERB OBJECT #n`.

mod words;

use std::fmt;
use std::time::Duration;

use crate::history::{Role, StepPoint, Wire};

/// One fault of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub at: Trigger,
    pub act: Act,
    /// Whether it is armed at all: without it the same load runs behind the same proxies, which
    /// proves nothing and is inconclusive.
    pub armed: bool,
}

impl Fault {
    /// In one line: `hold after "postgres COMMIT"`.
    pub fn name(&self) -> String {
        match &self.at {
            Trigger::Step(step) => {
                let name = step.step.as_ref().map_or_else(
                    || step.role.map_or_else(|| "a step".to_owned(), |role| role.name().to_owned()),
                    ToString::to_string,
                );
                format!("{} {} \"{name}\"", self.act.word(), step.point.word())
            }
            Trigger::Time(time) => {
                format!("{} at {}", self.act.word(), super::units::write_duration(*time))
            }
        }
    }
}

/// When a fault fires.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    Step(StepTrigger),
    /// So long after the phase began.
    Time(Duration),
}

/// A step at which a fault fires. Everything that is given must fit.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTrigger {
    pub point: StepPoint,
    /// None: any step that the rest fits (a role, a key, a table).
    pub step: Option<StepPattern>,
    pub role: Option<Role>,
    pub of: Owned,
    pub which: Which,
    /// The place of an instance, from 0.
    pub instance: Option<u16>,
    /// A key of Redis with holes that fit anything: `lock:stock:{product}`.
    pub key: Option<String>,
    /// The table that a statement is about.
    pub table: Option<String>,
    /// Words that the statement has, in this order, whatever stands between them and however they are
    /// written: `UPDATE stock WHERE last_fence`.
    pub sql: Option<String>,
    /// A value that the step carries: an argument of a command, a bound parameter.
    pub parameter: Option<String>,
    /// Each occurrence fires with this probability, drawn from the seed; 1 is always.
    pub probability: f64,
}

/// Whose steps count. Steps that carry nothing of the run are nobody's and never count in a drill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owned {
    /// Steps that are certainly one intent's.
    Intent,
    /// Steps that name a product of the run, whichever intent's they are.
    Product,
    /// All steps: for `dupeproof proxy`, which knows no intents.
    Anyone,
}

/// Which of the steps that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The n-th one, once; counted from 1.
    Nth(u32),
    Every,
    /// The first one of each intent (or of each product, where products own the steps).
    FirstOfEach,
}

/// A step's name, or the beginning of one: `postgres COMMIT`, `redis EVAL unlock`, `redis *`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPattern {
    pub wire: Wire,
    /// In capitals; none fits any.
    pub verb: Option<String>,
    /// Fits itself, and what goes on behind it with a blank or a colon.
    pub object: Option<String>,
    /// Which one of its intent's steps of this name, from 1.
    pub number: Option<u32>,
}

impl StepPattern {
    /// Whether a step of this name fits, its number aside.
    pub fn fits(&self, wire: Wire, verb: &str, object: Option<&str>) -> bool {
        self.wire == wire
            && self.verb.as_deref().is_none_or(|wanted| wanted == verb)
            && self.object.as_deref().is_none_or(|wanted| {
                let rest = object.and_then(|object| object.strip_prefix(wanted));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
            })
    }
}

impl fmt::Display for StepPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.wire.name(), self.verb.as_deref().unwrap_or("*"))?;
        if let Some(object) = &self.object {
            write!(out, " {object}")?;
        }
        self.number.map_or(Ok(()), |number| write!(out, " #{number}"))
    }
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// The step waits until something has happened.
    Hold(Hold),
    /// The request never reaches the server.
    DropRequest(Loss),
    /// The server has done it, and the client never hears of it.
    DropReply(Loss),
    Delay(Duration),
    /// Both ends are reset.
    Reset,
    /// The server doesn't do it, and the client is given this error.
    Fail(Failure),
    /// Nothing passes on this connection any more, in either direction, until the fault is healed.
    BlackHole,
    Partition(Partition),
    /// Redis is another, empty one from now on, as after a failover that lost everything.
    SwapUpstream {
        wire: Wire,
    },
    /// Time passes for keys of the step's intent, while the step is held (S01).
    Expire(Expire),
    /// The lease of each intent of the phase is taken by somebody else, for so long.
    TakeLease {
        lasts: Duration,
    },
}

impl Act {
    /// Its word in profiles.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Hold(_) => "hold",
            Self::DropRequest(_) => "drop-request",
            Self::DropReply(_) => "drop-reply",
            Self::Delay(_) => "delay",
            Self::Reset => "reset",
            Self::Fail(_) => "fail",
            Self::BlackHole => "black-hole",
            Self::Partition(_) => "partition",
            Self::SwapUpstream { .. } => "swap-upstream",
            Self::Expire(_) => "expire",
            Self::TakeLease { .. } => "take-lease",
        }
    }
}

/// A hold, and what ends it. It never outlasts its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    pub until: Until,
    /// It ends then at the latest.
    pub limit: Duration,
}

/// What ends a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Every other attempt of the same intent (or product) has its answer, is blocked (S02), or is held
    /// by the same fault.
    Others,
    /// Somebody else holds the lease under which the step is done.
    TakenOver,
    /// The lease under which the step is done is gone.
    LeaseOver,
    /// The time limit.
    Limit,
}

/// How a connection ends whose request or reply was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// With an orderly end.
    Close,
    Reset,
    /// It stays silent, and is reset when the fault is healed.
    Stall,
}

/// The error that a client is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Five characters: `40001`. Class 57P is FATAL and ends the connection.
    Postgres {
        sqlstate: String,
        message: String,
    },
    /// The line behind the minus: `READONLY You can't write against a read only replica.`
    Redis {
        error: String,
    },
    Http {
        status: u16,
    },
}

/// Instances are cut off from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    pub wire: Wire,
    /// None: all instances.
    pub instance: Option<u16>,
    pub how: Cut,
    /// Healed after that; else when the phase is over.
    pub lasts: Option<Duration>,
}

/// What a partition looks like from the target's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Open connections are reset, new ones refused.
    Refuse,
    /// Nothing passes, nothing ends.
    BlackHole,
}

/// Whose life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expire {
    pub what: Expired,
    pub how: Passing,
    /// Whether the phase is run once more with one user and time that really passes (S01).
    pub replay: bool,
    /// What ends the hold behind it.
    pub hold: Hold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// The lease of the step's intent, and every key of the intent that lives no longer.
    Lease,
    /// Its idempotency record, and every key of the intent that lives no longer.
    Record,
}

/// How time passes for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// The key is deleted, as if its time were over.
    Delete,
    /// It is waited for.
    Wait,
}
