//! Tells a mismatch from `in progress` where the contract has one answer for both.
//!
//! The reply alone doesn't say which it is. But once a key was acknowledged for one request, another
//! request that leaves afterwards under that key has nothing to wait for: it is refused as changed.
//! Until then the milder reading stands, and the client asks again. Nothing is remembered where
//! status and code tell the two apart.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::history::{Intent, IntentId, RunTime};
use crate::profile::{Contract, KeyScope};

/// Whose key it is (nobody's, where it is the account's), and the key.
type Name = (Option<String>, String);

/// What has been asked for and acknowledged under each key.
#[derive(Debug)]
pub(super) struct Meanings {
    scope: Option<KeyScope>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Key and fingerprint of each intent.
    intents: HashMap<IntentId, (Name, String)>,
    /// The fingerprint that a key was first acknowledged for, and when.
    winners: HashMap<Name, (RunTime, String)>,
}

impl Meanings {
    pub fn of(contract: &Contract) -> Self {
        let scope = contract.mismatch_may_be_in_progress().then_some(contract.key.scope);
        Self { scope, known: Mutex::default() }
    }

    pub fn learn(&self, intents: &[Intent]) {
        let Some(scope) = self.scope else { return };
        let mut known = self.lock();
        for intent in intents.iter().filter(|it| it.key_form.is_good() && it.entity.is_none()) {
            let user = (scope == KeyScope::User).then(|| intent.user.clone());
            let name = (user, intent.key.clone());
            known.intents.insert(intent.id, (name, intent.fingerprint.clone()));
        }
    }

    pub fn acknowledged(&self, intent: IntentId, at: RunTime) {
        if self.scope.is_none() {
            return;
        }
        let mut known = self.lock();
        let Some((name, print)) = known.intents.get(&intent).cloned() else { return };
        let winner = known.winners.entry(name).or_insert_with(|| (at, print.clone()));
        if at < winner.0 {
            *winner = (at, print);
        }
    }

    /// Whether an attempt of this intent that left then can only have been refused as changed.
    pub fn is_changed(&self, intent: IntentId, first_byte: Option<RunTime>) -> bool {
        if self.scope.is_none() {
            return false;
        }
        let known = self.lock();
        let Some((name, print)) = known.intents.get(&intent) else { return false };
        let winner = known.winners.get(name).filter(|(_, winner)| winner != print);
        winner.is_some_and(|(told, _)| first_byte > Some(*told))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().expect("nothing panics while it is held")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{KeyForm, PhaseId};
    use crate::profile::{Answer, OtherParameters};

    fn intent(id: u32, user: &str, print: &str) -> Intent {
        Intent {
            id: IntentId(id),
            phase: PhaseId(0),
            user: user.to_owned(),
            key: "k".to_owned(),
            product: 1,
            quantity: 1,
            fingerprint: print.to_owned(),
            request: "place".to_owned(),
            entity: None,
            key_form: KeyForm::Good,
        }
    }

    fn meanings(scope: KeyScope, mismatch: u16) -> Meanings {
        let answer = |status| Answer { statuses: vec![status], code: None };
        let mut contract = Contract::order_strict();
        contract.key.scope = scope;
        contract.in_progress = answer(409);
        contract.other_parameters =
            OtherParameters::Rejected { answer: answer(mismatch), while_in_progress: false };
        let meanings = Meanings::of(&contract);
        meanings.learn(&[intent(0, "a", "one"), intent(1, "a", "two"), intent(2, "b", "two")]);
        meanings.acknowledged(IntentId(0), RunTime(50));
        meanings
    }

    #[test]
    fn only_another_request_after_the_first_acknowledgement_is_changed() {
        let meanings = meanings(KeyScope::User, 409);
        assert!(meanings.is_changed(IntentId(1), Some(RunTime(51))));
        assert!(!meanings.is_changed(IntentId(1), Some(RunTime(50))), "it may have met the work");
        assert!(!meanings.is_changed(IntentId(0), Some(RunTime(51))), "it is the same request");
        assert!(!meanings.is_changed(IntentId(2), Some(RunTime(51))), "another user's key");
        assert!(!meanings.is_changed(IntentId(9), Some(RunTime(51))), "never heard of");
    }

    #[test]
    fn an_accounts_key_is_one_for_all_users() {
        let meanings = meanings(KeyScope::Account, 409);
        assert!(meanings.is_changed(IntentId(2), Some(RunTime(51))));
    }

    #[test]
    fn where_the_status_tells_nothing_is_remembered() {
        let meanings = meanings(KeyScope::User, 422);
        assert!(!meanings.is_changed(IntentId(1), Some(RunTime(51))));
        assert!(meanings.lock().intents.is_empty());
    }
}
