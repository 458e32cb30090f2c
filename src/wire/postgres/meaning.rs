//! What a text of SQL is called and for, worked out once for each text.

use std::rc::Rc;

use foldhash::HashMap;

use crate::history::{Role, StatementId};
use crate::wire::Part;
use crate::wire::guide::Guide;
use crate::wire::observer::Observer;

use super::sql::{Named, named};

/// Texts that are remembered; clients that write values into them have no end of texts.
const MOST_TEXTS: usize = 20_000;

/// What a text means.
#[derive(Clone, Debug)]
pub(in crate::wire) struct Meaning {
    pub(super) verb: Rc<str>,
    pub(super) object: Option<Rc<str>>,
    pub(super) role: Option<Role>,
    pub(super) statement: Option<StatementId>,
    pub(super) is_noise: bool,
    pub(super) ends_transaction: bool,
}

/// The texts that were seen.
#[derive(Debug, Default)]
pub(in crate::wire) struct Texts(HashMap<Box<[u8]>, Option<Rc<Meaning>>>);

/// None for a text that can't be named.
pub(super) fn meaning(sql: Part<'_>, observer: &Observer) -> Option<Rc<Meaning>> {
    if let Some(known) = observer.texts.borrow().0.get(sql.bytes) {
        return known.clone();
    }
    let meaning = work_out(sql, observer).map(Rc::new);
    let texts = &mut observer.texts.borrow_mut().0;
    if texts.len() < MOST_TEXTS {
        texts.insert(sql.bytes.into(), meaning.clone());
    }
    meaning
}

fn work_out(sql: Part<'_>, observer: &Observer) -> Option<Meaning> {
    // A text may be cut in the middle of a character.
    let text = match std::str::from_utf8(sql.bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&sql.bytes[..error.valid_up_to()]).ok()?,
    };
    let Named { verb, object, is_noise } = named(text)?;
    let role = role(verb, object, &observer.guide);
    Some(Meaning {
        verb: observer.word(verb),
        object: object.map(|object| observer.word(object)),
        role,
        statement: if is_noise || has_password(verb, text) {
            None
        } else {
            observer.ledger.statement(sql)
        },
        is_noise,
        ends_transaction: matches!(verb, "COMMIT" | "ROLLBACK"),
    })
}

/// Whether a text gives somebody a password, which has no place in a journal.
fn has_password(verb: &str, text: &str) -> bool {
    matches!(verb, "CREATE" | "ALTER" | "DO")
        && text.as_bytes().windows(8).any(|word| word.eq_ignore_ascii_case(b"password"))
}

fn role(verb: &str, object: Option<&str>, guide: &Guide) -> Option<Role> {
    if !guide.roles.is_empty() {
        let name = match object {
            Some(object) => format!("postgres {verb} {object}"),
            None => format!("postgres {verb}"),
        };
        if let Some(role) = guide.role(&name) {
            return Some(role);
        }
    }
    match (verb, object) {
        ("COMMIT", _) => Some(Role::Commit),
        ("INSERT", Some(table)) if guide.is_orders(table) => Some(Role::OrderInsert),
        ("SELECT", Some(table)) if guide.is_stock(table) => Some(Role::StockRead),
        ("UPDATE" | "INSERT" | "DELETE", Some(table)) if guide.is_stock(table) => {
            Some(Role::StockWrite)
        }
        ("SELECT", Some(function)) if function.contains("advisory") => {
            Some(if function.contains("unlock") { Role::Unlock } else { Role::Lock })
        }
        _ => None,
    }
}
