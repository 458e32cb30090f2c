//! TOML becomes a checked profile, all mistakes at once, each with its place.
//!
//! `keys` describes every key, in the vocabulary of `shape`; `check` walks a file beside that
//! description, `contradictions` compares what was sound, `build` makes the types of `model` and
//! `contract`; `schema` tells editors. `write` goes the other way.

mod body;
mod build;
mod burst;
mod check;
mod contract;
mod contradictions;
mod failure;
mod fault;
mod keys;
mod load;
mod mistake;
mod model;
mod node;
mod pattern;
mod place;
mod presets;
mod reference;
mod rules;
mod scan;
mod schema;
mod secrets;
mod shape;
mod suggest;
mod syntax;
mod target;
mod template;
mod units;
mod urls;
mod verbs;
mod write;

use std::path::Path;

use toml::de::DeTable;

use node::Node;

pub use body::BodyTemplate;
pub use burst::{
    Arrival, BadKeys, Burst, Crowd, LastUnit, Mixed, Mutated, Race, Rate, Release, Sequential,
    SharedKey, SubmitToken, Vary,
};
pub use contract::{
    AfterExpiry, Answer, BodyCode, BusinessColumn, Contract, Hint, KeyCarrier, KeyRule, KeyScope,
    KeySyntax, MissingKey, OtherParameters, RedisDown, Replay, ReplayBody,
};
pub use fault::{
    Act, Cut, Expire, Expired, Failure, Fault, Hold, Loss, Owned, Partition, Passing, StepPattern,
    StepTrigger, Trigger, Until, Which,
};
pub use load::{LONGEST_PROFILE, LoadProfileError, load};
pub use mistake::{Mistake, Mistakes};
pub use model::{
    AuditTables, Budget, Choice, ClientSettings, LabSettings, Limits, MovementsTable, OrdersTable,
    PaymentsSettings, Phase, Products, Profile, Published, Request, Retries, StockTable,
};
pub use reference::reference;
pub use schema::schema;
pub use target::{
    Actor, Attached, CustomCheck, Downstream, Launched, Login, Postgres, Redis, Secret, Statements,
    Target, Wires,
};
pub use template::{Filling, Hole, TemplateMistake, TemplateMistakeKind, TextTemplate};
pub use units::write_duration;
pub use urls::{is_loopback, is_same_host};
pub use write::reproduction;

/// Checks a profile's text. `path` is what messages call it, `env` looks up variables of the
/// environment.
pub fn parse(
    path: &Path,
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Profile, Mistakes> {
    let node = checked(&keys::PROFILE, path, text, env, contradictions::contradictions)?;
    Ok(build::profile(path, head(text), &node))
}

/// Checks a file of rules for `dupeproof proxy`: faults whose steps are anyone's.
pub fn parse_rules(
    path: &Path,
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Fault>, Mistakes> {
    let node = checked(&keys::RULES, path, text, env, contradictions::of_rules)?;
    Ok(node.get("rule").map(Node::items).unwrap_or_default().iter().map(build::rule).collect())
}

/// The values of a file that has neither mistakes nor contradictions.
fn checked(
    description: &'static shape::Table,
    path: &Path,
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
    contradictions: fn(&Node) -> Vec<Mistake>,
) -> Result<Node, Mistakes> {
    let (toml, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(Mistakes::new(path, text, syntax::mistakes(text, &errors)));
    }
    let mut check = check::Check::new(text, env);
    let node = check.table(description, toml.get_ref(), 0..0);
    let mut mistakes = check.into_mistakes();
    mistakes.extend(contradictions(&node));
    if mistakes.is_empty() { Ok(node) } else { Err(Mistakes::new(path, text, mistakes)) }
}

/// The comment at the head of a file. Directives for editors (`#:schema`) are left out: they are
/// relative to the file.
fn head(text: &str) -> Vec<String> {
    let text = text.trim_start_matches('\u{feff}');
    text.lines()
        .skip_while(|line| line.trim().is_empty() || line.starts_with("#:"))
        .map_while(|line| line.strip_prefix('#'))
        .filter(|line| !line.starts_with(':'))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned())
        .collect()
}
