//! Which columns of the orders table can be believed to hold what was sent.
//!
//! A column that never once agrees with what was sent is a slip in the profile (a surrogate id, a
//! hashed key), not a thousand broken orders. It is left out of the comparison, and the run is
//! inconclusive. Three disagreements and no agreement is the measure; a quantity is never doubted,
//! because a service that always stores 1 is a plausible defect.

use std::collections::HashSet;

use crate::codes;
use crate::history::{Doubt, OrderRow, Snapshot};
use crate::profile::{Burst, Hole, Target};

use super::Case;
use super::index::{Index, same_id};
use super::rows::given;
use super::words::plural;

/// Disagreements from which on a column without any agreement is no longer believed.
const ENOUGH: u64 = 3;

/// What the requests that place orders say of their intent. What a profile writes out, such as the
/// one product of a test shop, is the same for everybody, and no intent knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    key: bool,
    pub product: bool,
    pub quantity: bool,
}

/// The profile's columns, without those that are mapped wrongly, and those that hold nothing of what
/// an intent says.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    pub said: Said,
    /// Whether the orders tell how much of which product they hold.
    pub sums: bool,
    /// Whether nobody else can have used the database: it was made for this run.
    pub is_private: bool,
    pub user: Option<&'a str>,
    pub key: Option<&'a str>,
    pub product: Option<&'a str>,
    pub quantity: Option<&'a str>,
    /// Whether acknowledged order ids are the ids of the table.
    pub ids: bool,
    pub doubts: Vec<Doubt>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    agree: u64,
    differ: u64,
}

impl Tally {
    fn add(&mut self, agrees: bool) {
        *(if agrees { &mut self.agree } else { &mut self.differ }) += 1;
    }

    const fn is_believed(self) -> bool {
        self.agree > 0 || self.differ < ENOUGH
    }
}

fn is_private(case: &Case<'_>) -> bool {
    let profile = case.profile;
    let is_ours = match profile.target {
        Target::Lab => true,
        Target::Launched(_) => profile.postgres.is_none(),
        Target::Attached(_) => false,
    };
    is_ours && profile.actor.users.is_empty() && profile.actor.products.is_empty()
}

impl Said {
    fn by(case: &Case<'_>) -> Self {
        let profile = case.profile;
        let tokens: Vec<&str> = profile
            .phases
            .iter()
            .filter_map(|phase| match &phase.burst {
                Burst::SubmitToken(burst) => profile.requests.get(burst.token),
                _ => None,
            })
            .map(|request| request.name.as_str())
            .collect();
        let places = case.history.intents.iter().filter(|intent| intent.entity.is_none());
        let names: HashSet<&str> = places.map(|intent| intent.request.as_str()).collect();
        let says = |any: &[Hole]| {
            let placing = profile.requests.iter().filter(|request| {
                names.contains(request.name.as_str()) && !tokens.contains(&request.name.as_str())
            });
            placing.into_iter().all(|request| any.iter().any(|&hole| request.has(hole)))
        };
        Self {
            key: says(&[Hole::Key, Hole::Token]),
            product: says(&[Hole::Product]),
            quantity: says(&[Hole::Quantity]),
        }
    }
}

impl<'a> Columns<'a> {
    pub fn new(case: &Case<'a>, index: &Index<'a>, snapshot: Option<&'a Snapshot>) -> Self {
        let table = &case.profile.audit.orders;
        let said = Said::by(case);
        let mut columns = Self {
            said,
            sums: false,
            is_private: is_private(case),
            user: table.user.as_deref(),
            key: table.key.as_deref().filter(|_| said.key),
            product: table.product.as_deref().filter(|_| said.product),
            quantity: table.quantity.as_deref().filter(|_| said.quantity),
            ids: true,
            doubts: Vec::new(),
        };
        if let Some(snapshot) = snapshot {
            columns.distrust(index, snapshot);
        }
        let is_believed = columns.product.is_some() || !said.product;
        columns.sums = table.product.is_some() && table.quantity.is_some() && is_believed;
        columns
    }

    fn distrust(&mut self, index: &Index<'a>, snapshot: &'a Snapshot) {
        let [mut user, mut key, mut product] = [Tally::default(); 3];
        for row in &snapshot.orders {
            tally(row, index, &mut user, &mut key, &mut product);
            // One agreement settles a column, and mostly the first row has it.
            let columns = [(self.user, user), (self.key, key), (self.product, product)];
            if columns.iter().all(|(name, tally)| name.is_none() || tally.agree > 0) {
                break;
            }
        }
        for (column, tally, sent) in [
            (&mut self.user, user, "user"),
            (&mut self.key, key, "key"),
            (&mut self.product, product, "product"),
        ] {
            if let Some(name) = column.filter(|_| !tally.is_believed()) {
                *column = None;
                self.doubts.push(mismapped(name, sent, tally.differ));
            }
        }
        let ids = tally_ids(index, snapshot);
        if !ids.is_believed() {
            self.ids = false;
            self.doubts.push(Doubt {
                code: codes::G7.id.to_owned(),
                what: format!(
                    "none of {} is an id of the orders table, although their orders are there",
                    plural(ids.differ, "acknowledged order id", "acknowledged order ids")
                ),
                cure:
                    "point `order-id` of the request and `id` of `[audit] orders` at the same thing"
                        .to_owned(),
            });
        }
    }
}

/// Does the row agree with what its other columns lead to?
fn tally(
    row: &OrderRow,
    index: &Index<'_>,
    user: &mut Tally,
    key: &mut Tally,
    product: &mut Tally,
) {
    let (its_user, its_key) = (given(&row.user), given(&row.key));
    let of_user = its_user.is_some_and(|name| index.names.has_user(name));
    let of_key = its_key.is_some_and(|name| index.names.has_key(name));
    if let (Some(its_user), Some(its_key)) = (its_user, its_key) {
        let of_both = index.names.group(its_user, its_key).is_some();
        if of_user {
            key.add(of_both);
        }
        if of_key {
            user.add(of_both);
        }
    }
    if let (true, Some(name)) = (of_user || of_key, given(&row.product)) {
        product.add(name.parse().is_ok_and(|id: i64| index.products.contains(&id)));
    }
}

/// Of the acknowledged ids whose key has rows: how many are ids of the table?
fn tally_ids(index: &Index<'_>, snapshot: &Snapshot) -> Tally {
    let is_told = |row: &&OrderRow| index.told(&row.id).is_some();
    if snapshot.orders.iter().any(|row| is_told(&row)) {
        return Tally { agree: 1, differ: 0 };
    }
    let ids: HashSet<_> = snapshot.orders.iter().map(|row| same_id(&row.id)).collect();
    let users: HashSet<&str> = snapshot.orders.iter().filter_map(|row| given(&row.user)).collect();
    let keys: HashSet<&str> = snapshot.orders.iter().filter_map(|row| given(&row.key)).collect();
    let mut tally = Tally::default();
    for (id, group) in index.told_orders() {
        let group = &index.keys[group];
        if ids.contains(id) {
            tally.add(true);
        } else if users.contains(group.user) || keys.contains(group.key) {
            tally.add(false);
        }
    }
    tally
}

fn mismapped(column: &str, sent: &str, rows: u64) -> Doubt {
    Doubt {
        code: codes::G7.id.to_owned(),
        what: format!(
            "column `{column}` holds the {sent} that was sent in none of {}, so it isn't compared",
            plural(rows, "row", "rows")
        ),
        cure: format!("name the column that holds the {sent} in `[audit] orders`, or leave it out"),
    }
}
