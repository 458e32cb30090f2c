//! Leases in Redis, as the steps of their keys show them.
//!
//! What `SET NX` and `SETNX` answer is known. What a script answers isn't: some hand out a fence or 1 and
//! say nil to who has to wait, others the opposite. A script is believed to grant by a positive number
//! where some holder's last one before its own release was one, and none was nil; of others nothing is
//! known, and so nothing is said.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use crate::history::{Role, Step, StepEnd, Wire};

use super::steps::{Placed, Steps};

/// The steps of every key that somebody asked for as a lock.
#[derive(Debug, Default)]
pub(super) struct Locks<'a> {
    keys: BTreeMap<&'a str, Vec<Placed<'a>>>,
    /// Names of scripts that grant by a positive number.
    understood: HashMap<String, bool>,
    /// What each token got and gave up of a key, in the order in which it was asked.
    of_token: HashMap<(&'a str, u64), Vec<&'a Step>>,
}

/// A lease that was got, and the step that gave it up, if one did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold<'a> {
    pub key: &'a str,
    pub grant: Placed<'a>,
    pub released: Option<Placed<'a>>,
}

impl<'a> Locks<'a> {
    pub fn new(steps: &Steps<'a>) -> Self {
        let mut locks = Self::default();
        for at in steps.all().filter(|at| is_bid(at.step)) {
            locks.keys.entry(at.step.subject.as_deref().unwrap_or_default()).or_default();
        }
        if locks.keys.is_empty() {
            return locks;
        }
        for at in steps.all().filter(|at| at.step.wire == Wire::Redis) {
            let of_key = at.step.subject.as_deref().and_then(|key| locks.keys.get_mut(key));
            if let Some(of_key) = of_key {
                of_key.push(at);
            }
        }
        locks.understood = understood(locks.keys.values());
        let mut of_token: HashMap<(&'a str, u64), Vec<&'a Step>> = HashMap::new();
        for (key, steps) in &locks.keys {
            for at in steps.iter().filter(|at| locks.is_grant(at.step) || is_removal(at.step)) {
                if let Some(token) = at.step.token {
                    of_token.entry((*key, token)).or_default().push(at.step);
                }
            }
        }
        locks.of_token = of_token;
        locks
    }

    /// Keys and their steps, in the order in which they were asked.
    pub fn keys(&self) -> impl Iterator<Item = (&'a str, &[Placed<'a>])> {
        self.keys.iter().map(|(key, steps)| (*key, steps.as_slice()))
    }

    /// The steps of a key, from those on that were asked when this one was.
    pub fn since(&self, key: &str, step: &Step) -> impl Iterator<Item = &Placed<'a>> {
        let of_key = self.keys.get(key).map_or(&[][..], Vec::as_slice);
        of_key[of_key.partition_point(|at| at.step.earliest() < step.earliest())..].iter()
    }

    /// Whether a step got a lease.
    pub fn is_grant(&self, step: &Step) -> bool {
        is_bid(step)
            && step.is_done()
            && is_positive(step)
            && (is_command(step) || self.understood.get(&step.name()).is_some_and(|&is| is))
    }

    /// The leases that the steps of one request got, in their order. One that is entered again by its
    /// holder is given up with its last leave.
    pub fn held_by(&self, steps: &[Placed<'a>]) -> Vec<Hold<'a>> {
        let mut holds: Vec<Hold<'a>> = Vec::new();
        for grant in steps.iter().filter(|at| self.is_grant(at.step)) {
            let Some(key) = grant.step.subject.as_deref() else { continue };
            let is_entered_again = holds.iter().any(|hold| {
                hold.key == key
                    && is_same_token(hold.grant.step, grant.step)
                    && hold.released.is_none_or(|end| end.step.earliest() > grant.step.earliest())
            });
            if !is_entered_again && !self.is_held_already(key, grant.step) {
                holds.push(Hold { key, grant: *grant, released: self.released(key, grant) });
            }
        }
        holds
    }

    /// Whether the token had the lease before, by a step that may not have been this request's to see.
    fn is_held_already(&self, key: &str, grant: &Step) -> bool {
        let of_token = grant.token.and_then(|token| self.of_token.get(&(key, token)));
        let steps = of_token.map_or(&[][..], Vec::as_slice);
        let before = steps.iter().take_while(|step| !std::ptr::eq(**step, grant));
        let count = |held: u32, step: &&Step| {
            if self.is_grant(step) { held + 1 } else { held.saturating_sub(1) }
        };
        before.fold(0, count) > 0
    }

    fn released(&self, key: &str, grant: &Placed<'a>) -> Option<Placed<'a>> {
        let later = self.since(key, grant.step).skip_while(|at| !std::ptr::eq(at.step, grant.step));
        let mut entered = 1;
        for at in later.skip(1) {
            let is_own = is_same_token(at.step, grant.step);
            if self.is_grant(at.step) {
                if !is_own {
                    return None;
                }
                entered += 1;
            } else if is_removal(at.step) {
                let is_makers = || at.attempt.map(|it| it.id) == grant.attempt.map(|it| it.id);
                if is_plain_delete(at.step) {
                    return is_makers().then_some(*at);
                }
                if is_own {
                    entered -= 1;
                }
                if entered == 0 {
                    return Some(*at);
                }
            }
        }
        None
    }
}

/// Whether each script that asks for a lock grants it by a positive number: so it did for every holder,
/// between the release before and its own. Who releases in vain has lost what it got, or never knew
/// what it was answered, and speaks only for the script.
fn understood<'b, 'a: 'b>(
    keys: impl Iterator<Item = &'b Vec<Placed<'a>>>,
) -> HashMap<String, bool> {
    let mut known: HashMap<String, bool> = HashMap::new();
    let mut bids: Vec<&Placed<'a>> = Vec::new();
    for steps in keys {
        bids.clear();
        for at in steps {
            if is_bid(at.step) && !is_command(at.step) {
                bids.push(at);
            }
            if !is_release(at.step) {
                continue;
            }
            let own: Vec<&Placed<'a>> =
                bids.iter().copied().filter(|bid| is_by_holder(bid, at)).collect();
            if let Some(last) = own.last() {
                if is_positive(at.step) {
                    let is_so = own.iter().any(|bid| is_positive(bid.step));
                    *known.entry(last.step.name()).or_insert(true) &= is_so;
                } else if is_positive(last.step) {
                    known.entry(last.step.name()).or_insert(true);
                }
            }
            if is_positive(at.step) {
                bids.retain(|bid| bid.step.answered > Some(at.step.earliest()));
            }
        }
    }
    known
}

/// Whether who asked for a lock is who gave it up, by token, or where that is not shown, by request.
fn is_by_holder(bid: &Placed<'_>, end: &Placed<'_>) -> bool {
    let made_by = bid.attempt.map(|it| it.id);
    let by_request = || made_by.is_some() && made_by == end.attempt.map(|it| it.id);
    is_same_token(bid.step, end.step) || end.step.token.is_none() && by_request()
}

/// Whether a step asks for a lock, whatever it is answered.
pub(super) fn is_bid(step: &Step) -> bool {
    step.wire == Wire::Redis && step.role == Some(Role::Lock) && step.subject.is_some()
}

/// Whether a lock is asked for by a command, whose answer has one meaning.
fn is_command(step: &Step) -> bool {
    matches!(&*step.verb, "SET" | "SETNX" | "HSETNX")
}

/// Whether a reply says yes, or counts something.
pub(super) fn is_positive(step: &Step) -> bool {
    let answer = step.answer.as_deref().unwrap_or_default();
    answer == "OK" || answer.parse::<i64>().is_ok_and(|number| number > 0)
}

/// Whether two steps show the same token.
pub(super) fn is_same_token(one: &Step, other: &Step) -> bool {
    one.token.is_some() && one.token == other.token
}

/// A deletion by name alone. One in a `MULTI` may stand behind a `WATCH`, and isn't counted.
pub(super) fn is_plain_delete(step: &Step) -> bool {
    step.wire == Wire::Redis
        && matches!(&*step.verb, "DEL" | "UNLINK")
        && step.end == StepEnd::Done
        && step.answer.as_deref() != Some("QUEUED")
}

/// Whether a step certainly took a key away.
pub(super) fn is_removal(step: &Step) -> bool {
    is_release(step) && is_positive(step)
}

/// Whether a step that was to take a key away was answered.
fn is_release(step: &Step) -> bool {
    let by_script = step.role == Some(Role::Unlock) && step.is_done();
    step.wire == Wire::Redis && (is_plain_delete(step) || by_script)
}

/// A command that gives a key a term, whoever has it.
pub(super) fn sets_term(step: &Step) -> bool {
    step.wire == Wire::Redis
        && matches!(&*step.verb, "PEXPIRE" | "EXPIRE" | "PEXPIREAT" | "EXPIREAT")
}

/// Whether a step was meant to prolong a lease.
pub(super) fn is_renewal(step: &Step) -> bool {
    step.wire == Wire::Redis && (step.role == Some(Role::Renew) || sets_term(step))
}
