//! Time passes for the keys of an intent while a step of it is held (S01).
//!
//! Its renewals are withheld, and then its lease (or record) is deleted, with every key of the intent that
//! lives no longer; or all of that is really waited for. A key without an end, and one that would outlive
//! the time that passes, stays. Where there was no such key nothing passed, and no effect is claimed.

use super::holds::{Held, Lease};
use super::keeper::Keeper;
use super::live::Person;
use super::rules::{self, REPLAY_LIMIT};
use crate::drill::DrillError;
use crate::history::{FaultEvent, Proof, RunTime};
use crate::profile::{Act, Expire, Expired, Passing};
use crate::wire::Notice;

/// Keys whose end is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The first is the one whose end it is about; each with its holder at first.
    keys: Vec<Lease>,
    until: RunTime,
}

/// Leases that were taken for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub keys: Vec<String>,
    pub over: RunTime,
}

impl Keeper {
    /// The lease under which a held step is done, and who has it, where that decides something.
    pub(super) async fn lease(
        &mut self,
        held: &Held,
        notice: &Notice,
    ) -> Result<Option<Lease>, DrillError> {
        let seen = notice.lease.as_ref().map(|lease| lease.key.clone());
        let person = held.whose.first().and_then(|intent| self.live.person(*intent));
        let by_name = || fill(self.means.guide.lock_keys.as_deref()?, person.as_ref()?);
        let Some(key) = seen.or_else(by_name) else { return Ok(None) };
        Ok(self.holders(&[key]).await?.pop())
    }

    /// Leases with their holders now; none where we don't look at keys.
    async fn holders(&mut self, keys: &[String]) -> Result<Vec<Lease>, DrillError> {
        let Some(redis) = &mut self.keys else { return Ok(Vec::new()) };
        let texts: Vec<&str> = keys.iter().map(String::as_str).collect();
        let holders = redis.holders(&texts).await.map_err(|source| DrillError::Keys { source })?;
        let leases = keys.iter().zip(holders);
        Ok(leases.map(|(key, holder)| Lease { key: key.clone(), holder }).collect())
    }

    /// Lets time pass for a step that was held just now, or begins to wait for it.
    pub(super) async fn begin_passing(
        &mut self,
        held: &mut Held,
        notice: &Notice,
    ) -> Result<(), DrillError> {
        let Some(Act::Expire(expire)) = self.fault(held.fault).map(|it| it.spec.act.clone()) else {
            return Ok(());
        };
        let wire = |source| DrillError::Wire { source };
        if let Some(&intent) = held.whose.first() {
            let limit = expire.hold.limit + REPLAY_LIMIT;
            let rule = rules::renewals(held.fault, intent, limit);
            held.renewals = Some(self.means.proxies()?.arm(vec![rule]).await.map_err(wire)?);
        }
        let Some((first, others)) = self.keys_of(held, notice, expire) else { return Ok(()) };
        let Some(redis) = &mut self.keys else { return Ok(()) };
        let keys = |source| DrillError::Keys { source };
        match expire.how {
            Passing::Delete => {
                let gone = redis.let_pass(&first, &others).await.map_err(keys)?;
                if gone > 0 {
                    self.effect(held, Proof::KeysGone { keys: gone }).await;
                }
            }
            Passing::Wait => {
                let Some(left) = redis.left(&first).await.map_err(keys)? else { return Ok(()) };
                let mut passing = vec![first];
                for other in others {
                    if redis.left(&other).await.map_err(keys)?.is_some_and(|own| own <= left) {
                        passing.push(other);
                    }
                }
                let until = self.means.clock.now().plus(REPLAY_LIMIT);
                held.passing = Some(Waiting { keys: self.holders(&passing).await?, until });
            }
        }
        Ok(())
    }

    /// The key that the fault is about, and the others of the intent.
    fn keys_of(
        &self,
        held: &Held,
        notice: &Notice,
        expire: Expire,
    ) -> Option<(String, Vec<String>)> {
        let person = held.whose.first().and_then(|intent| self.live.person(*intent));
        let guide = &self.means.guide;
        let by_name = |template: &Option<String>| fill(template.as_deref()?, person.as_ref()?);
        let (lock, record) = (by_name(&guide.lock_keys), by_name(&guide.record_keys));
        let carries_key = |key: &&String| {
            person
                .as_ref()
                .is_some_and(|person| !person.key.is_empty() && key.contains(person.key.as_str()))
        };
        let first = match expire.what {
            Expired::Lease => held.lease.as_ref().map(|lease| lease.key.clone()).or(lock.clone()),
            Expired::Record => {
                record.clone().or_else(|| notice.keys.iter().find(carries_key).cloned())
            }
        }?;
        let mut others = notice.keys.clone();
        others.extend(lock.into_iter().chain(record));
        others.sort_unstable();
        others.dedup();
        others.retain(|key| *key != first);
        Some((first, others))
    }

    async fn effect(&self, held: &Held, proof: Proof) {
        self.means.record(held.fault, FaultEvent::Effect { firing: held.firing, proof }).await;
    }

    /// Looks whether time has passed for those that wait for it; from then on what else ends the hold
    /// counts, and its limit.
    pub(super) async fn look_at_passing(&mut self) -> Result<(), DrillError> {
        for place in 0..self.holds.len() {
            let Some(waiting) = self.holds[place].passing.clone() else { continue };
            let keys: Vec<String> = waiting.keys.iter().map(|lease| lease.key.clone()).collect();
            let now = self.holders(&keys).await?;
            let gone = waiting.keys.iter().zip(&now).filter(|(was, is)| was.holder != is.holder);
            let gone = gone.count() as u32;
            let is_over = waiting.keys.first().zip(now.first()).is_none_or(|(was, is)| was != is);
            let clock = self.means.clock;
            if !is_over && clock.now() < waiting.until {
                continue;
            }
            self.holds[place].passing = None;
            if is_over && gone > 0 {
                let proof = Proof::KeysExpired { keys: gone };
                self.effect(&self.holds[place], proof).await;
            }
            let fault = self.holds[place].fault;
            if let Some(Act::Expire(Expire { hold, .. })) =
                self.fault(fault).map(|it| it.spec.act.clone())
            {
                self.holds[place].deadline = Some(clock.now().plus(hold.limit));
            }
        }
        Ok(())
    }
}

/// A key by its template; none where something in it isn't known of an intent.
pub(super) fn fill(template: &str, person: &Person) -> Option<String> {
    let filled = template
        .replace("{user}", &person.user)
        .replace("{key}", &person.key)
        .replace("{product}", &person.product.to_string());
    let filled = match &person.entity {
        Some(entity) => filled.replace("{entity}", entity),
        None => filled,
    };
    (!filled.contains(['{', '}'])).then_some(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_an_unknown_hole_is_no_key() {
        let person =
            Person { user: "u-1".to_owned(), key: "k-1".to_owned(), product: 42, entity: None };
        assert_eq!(fill("lock:stock:{product}", &person).unwrap(), "lock:stock:42");
        assert_eq!(fill("idem:{user}:{key}", &person).unwrap(), "idem:u-1:k-1");
        assert_eq!(fill("lock:orders", &person).unwrap(), "lock:orders");
        assert_eq!(fill("lock:{entity}", &person), None);
    }
}
