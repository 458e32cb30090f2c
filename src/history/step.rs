//! What the wires saw: connections of the target, the steps on them, and what was left out.
//!
//! A step is one exchange that does something: a command of Redis and its reply, one Query or one
//! Execute of PostgreSQL with its completion, one HTTP call. What only keeps a connection going is
//! noise, and counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{InstanceId, IntentId, LinkId, RunTime, StatementId};

/// Which protocol a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    Redis,
    Postgres,
    Http,
}

impl Wire {
    pub const ALL: [Self; 3] = [Self::Redis, Self::Postgres, Self::Http];

    /// As a step's name begins.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Postgres => "postgres",
            Self::Http => "http",
        }
    }
}

/// A connection of the target to one of its servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkFacts {
    pub id: LinkId,
    pub wire: Wire,
    /// Whose connection it is, where each instance has a proxy of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// What the client says that it is, such as `redis-py` or an application name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// The process of PostgreSQL that serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<u32>,
    pub opened: RunTime,
}

/// A text of SQL that steps execute; one that is cut ends in `…`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementFacts {
    /// Counted from 0 over the run.
    pub id: StatementId,
    pub sql: String,
}

/// What a step is for. Inferred from what it does and to what, unless the profile says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Takes or reads the idempotency record before the order is there.
    Claim,
    /// Takes a lease; with its fence where one script does both.
    Lock,
    /// Draws or reads a fence by itself.
    Fence,
    StockRead,
    StockWrite,
    OrderInsert,
    Commit,
    /// Writes the record once the order is committed.
    Success,
    /// Removes a lease.
    Unlock,
    /// Prolongs a lease.
    Renew,
    /// Asks a downstream for a side effect.
    Pay,
}

impl Role {
    pub const ALL: [Self; 11] = [
        Self::Claim,
        Self::Lock,
        Self::Fence,
        Self::StockRead,
        Self::StockWrite,
        Self::OrderInsert,
        Self::Commit,
        Self::Success,
        Self::Unlock,
        Self::Renew,
        Self::Pay,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Lock => "lock",
            Self::Fence => "fence",
            Self::StockRead => "stock-read",
            Self::StockWrite => "stock-write",
            Self::OrderInsert => "order-insert",
            Self::Commit => "commit",
            Self::Success => "success",
            Self::Unlock => "unlock",
            Self::Renew => "renew",
            Self::Pay => "pay",
        }
    }
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepEnd {
    Done,
    /// The server answered with an error.
    Failed,
    /// The server ignored it, because a step before it in the same unit had failed.
    Skipped,
    /// The connection ended before the server's answer was seen: it may have been done.
    Unanswered,
}

/// Where PostgreSQL's connection stood after a step, by its ReadyForQuery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Idle,
    Open,
    /// Open and failed.
    Aborted,
}

/// One exchange between the target and a server of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step<Text = Arc<str>> {
    pub wire: Wire,
    pub link: LinkId,
    /// In capitals: `SET`, `EVAL`, `COMMIT`, `POST`.
    pub verb: Text,
    /// What it is done to, without what differs from intent to intent: `lock:stock`, `orders`,
    /// `/charges`, `unlock lock:stock`. Absent where there is none.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub object: Option<Text>,
    /// The same in full: the first key of a Redis command, the target of an HTTP request.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub subject: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<StatementId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Whose step it is, as far as it was clear when it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// The product of the run that it names, whose owner it may be only afterwards (rule S06).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<i64>,
    /// The transaction of its connection, counted there from 1; absent outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction: Option<u32>,
    /// Absent where the server's ReadyForQuery comes only after a later step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// What a lease was taken, removed or renewed with, hashed: equal tokens have equal numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The life that a key is given, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// Whether the step itself compares what it finds with its token, as an unlock script does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub compares: bool,
    /// The same bytes had come before on another connection, whose client never had an answer. Where the
    /// application asks with fresh values each time, the driver asks again by itself.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resent: bool,
    /// When its first byte was read.
    pub asked: RunTime,
    /// A fault kept it, or what was before it on its connection, from the server until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<RunTime>,
    /// When its last byte had been passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarded: Option<RunTime>,
    /// When the last byte of its reply was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<RunTime>,
    /// When that byte had been passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered: Option<RunTime>,
    pub end: StepEnd,
    /// The reply in short: `OK`, `nil`, `1`, `INSERT 0 1`, `23505`, `NOSCRIPT`, `201`.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub answer: Option<Text>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl<Text: AsRef<str>> Step<Text> {
    /// Its name without the number of its occurrence: `redis SET lock:stock`.
    pub fn name(&self) -> String {
        let (wire, verb) = (self.wire.name(), self.verb.as_ref());
        match &self.object {
            Some(object) => format!("{wire} {verb} {}", object.as_ref()),
            None => format!("{wire} {verb}"),
        }
    }

    /// The server can't have seen it before then.
    pub fn earliest(&self) -> RunTime {
        self.held.unwrap_or(self.asked)
    }

    /// Whether it asked for something that somebody else has: a lease that isn't free.
    pub fn is_refused(&self) -> bool {
        let says_no =
            matches!(self.answer.as_ref().map(AsRef::as_ref), Some("nil" | "0" | "false"));
        let takes = self.role == Some(Role::Lock)
            || matches!(self.verb.as_ref(), "SET" | "SETNX" | "HSETNX");
        self.wire == Wire::Redis && says_no && takes && self.is_done()
    }

    /// Whether it was done and changed what it was meant to change: nothing that was refused, and no
    /// statement that found no row.
    pub fn has_effect(&self) -> bool {
        let no_row = ["INSERT 0 0", "UPDATE 0", "DELETE 0"];
        let answer = self.answer.as_ref().map_or("", AsRef::as_ref);
        let is_undone = answer == "ROLLBACK" && self.verb.as_ref() != "ROLLBACK";
        self.is_done() && !self.is_refused() && !no_row.contains(&answer) && !is_undone
    }

    /// Whether it took effect at the server, as far as its reply says.
    pub const fn is_done(&self) -> bool {
        matches!(self.end, StepEnd::Done)
    }
}

impl<Text> Step<Text> {
    /// A step that has begun, and of which nothing more is known.
    pub(crate) const fn begun(wire: Wire, link: LinkId, verb: Text, asked: RunTime) -> Self {
        Self {
            wire,
            link,
            verb,
            object: None,
            subject: None,
            statement: None,
            role: None,
            intent: None,
            product: None,
            transaction: None,
            standing: None,
            token: None,
            lease_ms: None,
            compares: false,
            resent: false,
            asked,
            held: None,
            forwarded: None,
            answered: None,
            delivered: None,
            end: StepEnd::Unanswered,
            answer: None,
        }
    }

    /// The same step with its texts in another form.
    pub(super) fn with_texts<'a, Other>(
        &'a self,
        mut form: impl FnMut(&'a Text) -> Other,
    ) -> Step<Other> {
        Step {
            wire: self.wire,
            link: self.link,
            verb: form(&self.verb),
            object: self.object.as_ref().map(&mut form),
            subject: self.subject.as_ref().map(&mut form),
            statement: self.statement,
            role: self.role,
            intent: self.intent,
            product: self.product,
            transaction: self.transaction,
            standing: self.standing,
            token: self.token,
            lease_ms: self.lease_ms,
            compares: self.compares,
            resent: self.resent,
            asked: self.asked,
            held: self.held,
            forwarded: self.forwarded,
            answered: self.answered,
            delivered: self.delivered,
            end: self.end,
            answer: self.answer.as_ref().map(form),
        }
    }
}

/// What one wire of a run saw in all, written when its proxies end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireFacts {
    pub wire: Wire,
    pub links: u64,
    pub steps: u64,
    /// Requests that carried a word of the run: a user, a key, a product.
    pub of_the_run: u64,
    /// Exchanges that only keep a connection going, such as a ping.
    pub noise: u64,
    /// Steps that couldn't be named, by what the client says that it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unnamed: BTreeMap<String, u64>,
    /// Directions that could not be read any more and passed unread, streams included.
    pub unread: u64,
    /// Links that were refused because they were about to be encrypted.
    pub refused: u64,
    /// Links whose server couldn't be reached.
    pub unreached: u64,
    /// Steps that were not written down, because the disk was too far behind.
    pub lost: u64,
}
