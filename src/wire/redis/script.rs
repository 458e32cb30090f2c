//! What a script does, read off its source: its commands on the keys it is given, and what it compares.
//!
//! Not an interpreter: a script that builds its commands out of strings is a script nobody knows.

use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};

use crate::history::Role;
use crate::wire::guide::KeyKind;

/// Scripts that are remembered; a further one stays unknown.
const MOST_SCRIPTS: usize = 4_096;

/// What is known of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::wire) struct Script {
    /// Its commands in capitals, each with which of its keys it is for (from 1; 0 is another).
    commands: Vec<(Box<str>, usize)>,
    /// Which argument (from 1) is a life in milliseconds, or in seconds.
    lease: Option<(usize, u64)>,
    /// Whether it compares what it finds with an argument.
    pub(super) compares: bool,
    says_success: bool,
}

/// The scripts that were seen, by their SHA-1.
#[derive(Debug)]
pub(in crate::wire) struct Scripts(HashMap<[u8; 20], Rc<Script>>);

impl Default for Scripts {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl Scripts {
    pub(super) fn get(&self, sha1: &[u8; 20]) -> Option<Rc<Script>> {
        self.0.get(sha1).cloned()
    }

    /// Its source was sent.
    pub(super) fn learn(&mut self, sha1: [u8; 20], source: &str) -> Option<Rc<Script>> {
        if let Some(known) = self.0.get(&sha1) {
            return Some(Rc::clone(known));
        }
        if self.0.len() >= MOST_SCRIPTS {
            return None;
        }
        let script = Rc::new(Script::of(source));
        self.0.insert(sha1, Rc::clone(&script));
        Some(script)
    }
}

impl Script {
    fn of(source: &str) -> Self {
        let source: String = source.lines().map(without_comment).collect::<Vec<_>>().join("\n");
        let lower = source.to_ascii_lowercase();
        Self {
            commands: commands(&source),
            lease: lease(&source),
            compares: compares(&lower),
            says_success: ["success", "complete", "finished", "'done'", "\"done\""]
                .iter()
                .any(|word| lower.contains(word)),
        }
    }

    fn does(&self, verbs: &[&str], key: usize) -> bool {
        self.commands.iter().any(|(verb, of)| *of == key && verbs.contains(&&**verb))
    }

    /// The argument that is the life of what it writes, and how many milliseconds its unit has.
    pub(super) const fn lease(&self) -> Option<(usize, u64)> {
        self.lease
    }

    /// What it is for, when its first key is of this kind.
    pub(super) fn role(&self, kind: KeyKind) -> Option<Role> {
        const WRITES: [&str; 8] =
            ["SET", "SETNX", "HSET", "HSETNX", "HMSET", "SETEX", "PSETEX", "HINCRBY"];
        match kind {
            KeyKind::Lease if self.does(&["SET", "SETNX", "HSET", "HSETNX", "HMSET"], 1) => {
                Some(Role::Lock)
            }
            KeyKind::Lease if self.does(&["DEL", "UNLINK"], 1) => Some(Role::Unlock),
            KeyKind::Lease if self.does(&["PEXPIRE", "EXPIRE"], 1) => Some(Role::Renew),
            KeyKind::Lease if self.does(&["GET", "HGET"], 1) && self.commands.len() > 1 => {
                Some(Role::Fence)
            }
            KeyKind::Fence => Some(Role::Fence),
            KeyKind::Record if self.says_success && self.does(&WRITES, 1) && !self.is_claim() => {
                Some(Role::Success)
            }
            KeyKind::Record => Some(Role::Claim),
            KeyKind::Lease | KeyKind::Other => None,
        }
    }

    /// A claim takes what isn't there; it may look for a success first.
    fn is_claim(&self) -> bool {
        self.does(&["SETNX", "HSETNX", "EXISTS", "HMGET", "HGETALL"], 1)
    }
}

/// Lua's comments run to the end of the line. A `--` within a text ends it too early, which at most
/// hides a command.
fn without_comment(line: &str) -> &str {
    line.split_once("--").map_or(line, |(code, _)| code)
}

/// Whether it compares what a command found with an argument, whichever stands first.
fn compares(lower: &str) -> bool {
    let dense: String = lower.chars().filter(|letter| !letter.is_whitespace()).collect();
    ["==argv[", "~=argv[", "]==redis.", "]~=redis."].iter().any(|words| dense.contains(words))
}

fn commands(source: &str) -> Vec<(Box<str>, usize)> {
    let mut commands = Vec::new();
    // A key that has a name of its own: `local record = KEYS[1]`.
    let names: Vec<(&str, usize)> = source.lines().filter_map(named_key).collect();
    for call in source.split("call(").skip(1) {
        let call = call.trim_start();
        let Some(quote) = call.chars().next().filter(|quote| matches!(quote, '\'' | '"')) else {
            continue;
        };
        let Some((verb, rest)) = call[1..].split_once(quote) else { continue };
        let argument = rest.trim_start_matches([',', ' ', '\n', '\t']);
        let end = argument.find([',', ')']).unwrap_or(argument.len());
        let argument = argument[..end].trim();
        let key = index(argument, "KEYS[")
            .or_else(|| names.iter().find(|(name, _)| *name == argument).map(|(_, place)| *place));
        commands.push((verb.to_ascii_uppercase().into(), key.unwrap_or(0)));
    }
    commands
}

fn named_key(line: &str) -> Option<(&str, usize)> {
    let (name, value) = line.trim().strip_prefix("local ")?.split_once('=')?;
    Some((name.trim(), index(value.trim(), "KEYS[")?))
}

/// The number in `KEYS[1]`.
fn index(text: &str, before: &str) -> Option<usize> {
    text.strip_prefix(before)?.split(']').next()?.trim().parse().ok()
}

/// The argument behind `PX` or `PEXPIRE key`.
fn lease(source: &str) -> Option<(usize, u64)> {
    const SECOND: u64 = 1_000;
    for (word, unit) in [
        ("'PX'", 1),
        ("\"PX\"", 1),
        ("PEXPIRE", 1),
        ("pexpire", 1),
        ("'px'", 1),
        ("\"px\"", 1),
        ("'EX'", SECOND),
        ("'ex'", SECOND),
        ("EXPIRE", SECOND),
        ("expire", SECOND),
    ] {
        let Some((_, rest)) = source.split_once(word) else { continue };
        let end = rest.find(')').unwrap_or(rest.len());
        let Some((_, argument)) = rest[..end].split_once("ARGV[") else { continue };
        if let Ok(place) = argument.split(']').next().unwrap_or_default().trim().parse() {
            return Some((place, unit));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLOCK: &str = "-- KEYS[1] lock\nif redis.call('GET', KEYS[1]) == ARGV[1] then\n \
        return redis.call('del', KEYS[1])\nend return 0";

    #[test]
    fn a_script_is_known_by_what_it_does_to_its_first_key() {
        let of = |source: &str, kind| Script::of(source).role(kind);
        assert_eq!(of(UNLOCK, KeyKind::Lease), Some(Role::Unlock));
        assert!(Script::of(UNLOCK).compares);
        let renew = "if redis.call(\"get\",KEYS[1]) == ARGV[1] then \
            return redis.call(\"pexpire\",KEYS[1],ARGV[2]) else return 0 end";
        assert_eq!(of(renew, KeyKind::Lease), Some(Role::Renew));
        assert_eq!(Script::of(renew).lease(), Some((2, 1)));
        let grant = "if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then\n\
            return false end return redis.call('INCR', KEYS[2])";
        assert_eq!(of(grant, KeyKind::Lease), Some(Role::Lock));
        assert_eq!(Script::of(grant).lease(), Some((2, 1)));
        assert!(Script::of("if ARGV[1] == redis.call('GET', KEYS[1]) then return 1 end").compares);
        assert!(!Script::of("return redis.call('PEXPIRE', KEYS[1], ARGV[1])").compares);
        assert_eq!(of("return 1", KeyKind::Lease), None);
    }

    #[test]
    fn a_key_may_have_a_name_of_its_own() {
        let claim = "local record = KEYS[1]\nlocal found = redis.call('HMGET', record, 'status')\n\
            if found[1] then return found end\nredis.call('HSET', record, 'status', 'SUCCESS')";
        assert_eq!(Script::of(claim).role(KeyKind::Record), Some(Role::Claim));
        let succeed = "redis.call('HSET', KEYS[1], 'status', 'SUCCESS', 'body', ARGV[1])";
        assert_eq!(Script::of(succeed).role(KeyKind::Record), Some(Role::Success));
    }
}
