//! Whose step is it, where it didn't say so when it passed (rule S06)?
//!
//! A step that names an intent is that intent's. The other steps of a transaction follow those that
//! do, if they all name the same one; so does its BEGIN, which comes before any name. A step that
//! names a product alone is that of the one intent of the product that was under way, if there was
//! one: for that, no attempt may be missing, and nobody but the run may buy the product. All others are
//! nobody's.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use foldhash::{HashMap, HashMapExt};

use crate::history::{History, IntentId, LinkId, RunTime, Step};

use super::windows::Windows;

/// Whose the steps of something are, as far as they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    One(IntentId),
    Several,
}

/// The owner of each step. `knows_buyers`: every attempt that can have named a product is known.
pub(super) fn owners(
    history: &History,
    windows: &Windows<'_>,
    knows_buyers: bool,
) -> Vec<Option<IntentId>> {
    let is_known = |id: &IntentId| (id.0 as usize) < history.intents.len();
    let mut owners: Vec<Option<IntentId>> =
        history.steps.iter().map(|step| step.intent.filter(is_known)).collect();
    share_transactions(&history.steps, &mut owners);
    if knows_buyers {
        by_product(history, windows, &mut owners);
        share_transactions(&history.steps, &mut owners);
    }
    owners
}

fn share_transactions(steps: &[Step], owners: &mut [Option<IntentId>]) {
    let name = |step: &Step| Some((step.link, step.transaction?));
    let mut whose: HashMap<(LinkId, u32), Whose> = HashMap::new();
    for (step, owner) in steps.iter().zip(&*owners) {
        // An intent that nobody described is another one too.
        let (Some(name), Some(intent)) = (name(step), step.intent.or(*owner)) else { continue };
        let all = whose.entry(name).or_insert(Whose::One(intent));
        if *all != Whose::One(intent) {
            *all = Whose::Several;
        }
    }
    for (step, owner) in steps.iter().zip(owners) {
        if owner.is_none()
            && step.intent.is_none()
            && let Some(Whose::One(intent)) = name(step).and_then(|name| whose.get(&name))
        {
            *owner = Some(*intent);
        }
    }
}

fn by_product(history: &History, windows: &Windows<'_>, owners: &mut [Option<IntentId>]) {
    let mut of_product: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (place, step) in history.steps.iter().enumerate() {
        if let (None, None, Some(product)) = (owners[place], step.intent, step.product) {
            of_product.entry(product).or_default().push(place);
        }
    }
    let mut begins: BTreeMap<i64, Vec<(RunTime, RunTime, IntentId)>> = BTreeMap::new();
    for intent in history.intents.iter().filter(|it| of_product.contains_key(&it.product)) {
        let spans = windows.of_intent(intent.id);
        let spans = spans.map(|(_, span)| (span.begin, span.end, intent.id));
        begins.entry(intent.product).or_default().extend(spans);
    }
    for (product, mut places) in of_product {
        let Some(spans) = begins.get_mut(&product) else { continue };
        spans.sort_unstable();
        places.sort_by_key(|&place| history.steps[place].asked);
        let mut under_way = UnderWay::new(spans);
        for place in places {
            owners[place] = under_way.only_one(history.steps[place].asked);
        }
    }
}

/// The intents that are under way at one moment after another.
struct UnderWay<'s> {
    to_come: std::slice::Iter<'s, (RunTime, RunTime, IntentId)>,
    ends: BinaryHeap<Reverse<(RunTime, IntentId)>>,
    /// Attempts of each.
    now: HashMap<IntentId, usize>,
}

impl<'s> UnderWay<'s> {
    fn new(spans: &'s [(RunTime, RunTime, IntentId)]) -> Self {
        Self { to_come: spans.iter(), ends: BinaryHeap::new(), now: HashMap::new() }
    }

    fn only_one(&mut self, moment: RunTime) -> Option<IntentId> {
        while let Some(&(begin, end, intent)) = self.to_come.as_slice().first() {
            if begin > moment {
                break;
            }
            self.to_come.next();
            self.ends.push(Reverse((end, intent)));
            *self.now.entry(intent).or_default() += 1;
        }
        while let Some(&Reverse((end, intent))) = self.ends.peek() {
            if end >= moment {
                break;
            }
            self.ends.pop();
            if let Some(attempts) = self.now.get_mut(&intent) {
                *attempts -= 1;
                if *attempts == 0 {
                    self.now.remove(&intent);
                }
            }
        }
        match self.now.len() {
            1 => self.now.keys().next().copied(),
            _ => None,
        }
    }
}
