//! Who and what a run plays with: the names of users, keys and products, by number.
//!
//! They are a function of the run and the number alone, so that whoever reads the database can ask
//! for exactly these rows before anything was sent. Pools of existing users and products (S09) take
//! the place of made-up ones, in turn.

use sha2::{Digest, Sha256};

use crate::history::RunId;
use crate::profile::{Actor, KeyRule, KeySyntax, Secret};

use super::dice::uuid_of;

/// The user of the run's intent with this number, where the profile names none.
pub fn user_name(run: RunId, intent: u32) -> String {
    name('u', run, intent)
}

/// The key of the run's intent with this number, where keys have no syntax of their own.
pub fn key_name(run: RunId, intent: u32) -> String {
    name('k', run, intent)
}

fn name(kind: char, run: RunId, intent: u32) -> String {
    let mut name = String::with_capacity(32);
    write_name(&format!("{kind}-{run}-"), intent, &mut name);
    name
}

fn write_name(begin: &str, intent: u32, out: &mut String) {
    out.push_str(begin);
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(intent);
    out.push_str(&"000"[digits.len().min(3)..]);
    out.push_str(digits);
}

/// The names of one run.
#[derive(Clone, Debug)]
pub struct Cast {
    run: RunId,
    /// What the names of users and keys begin with.
    begins: [String; 2],
    syntax: KeySyntax,
    users: Vec<Secret>,
    products: Vec<i64>,
}

impl Cast {
    pub fn new(run: RunId, actor: &Actor, rule: &KeyRule) -> Self {
        Self {
            run,
            begins: ['u', 'k'].map(|kind| format!("{kind}-{run}-")),
            syntax: rule.syntax,
            users: actor.users.clone(),
            products: actor.products.clone(),
        }
    }

    /// The user of the intent with this number.
    pub fn user(&self, intent: u32) -> String {
        let mut user = String::with_capacity(32);
        self.write_user(intent, &mut user);
        user
    }

    /// Writes the same over what a buffer holds.
    pub(super) fn write_user(&self, intent: u32, out: &mut String) {
        out.clear();
        match self.users.len() {
            0 => write_name(&self.begins[0], intent, out),
            count => out.push_str(self.users[intent as usize % count].reveal()),
        }
    }

    /// A user as messages may show it: one that came from the environment by its variable's name.
    pub(super) fn shown(&self, user: &str) -> String {
        let known = self.users.iter().find(|known| known.reveal() == user);
        known.map_or(user, Secret::written).to_owned()
    }

    /// The key of the intent with this number, as it is stored: without the quotes that it may
    /// travel in.
    pub fn key(&self, intent: u32) -> String {
        let mut key = String::with_capacity(36);
        self.write_key(intent, &mut key);
        key
    }

    /// Writes the same over what a buffer holds.
    pub(super) fn write_key(&self, intent: u32, out: &mut String) {
        out.clear();
        match self.syntax {
            KeySyntax::Raw | KeySyntax::Quoted => write_name(&self.begins[1], intent, out),
            KeySyntax::Uuid => {
                let digest = Sha256::digest(format!("key/{}/{intent}", self.run));
                let mut bytes = [0; 16];
                bytes.copy_from_slice(&digest[..16]);
                out.push_str(&uuid_of(bytes));
            }
        }
    }

    /// The product with this index.
    pub fn product(&self, index: u32) -> i64 {
        match self.products.len() {
            0 => self.run.first_product() + i64::from(index),
            count => self.products[index as usize % count],
        }
    }
}
