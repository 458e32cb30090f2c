//! A profile as TOML: with all defaults for the record of a run, or cut down to what a finding
//! needs.
//!
//! What is written reads as an equal profile, given the same environment: values that were taken
//! from it are written as `${NAME}`.

mod sections;
mod values;

use std::fmt::Write;

use super::burst::Burst;
use super::model::{Budget, Profile};

impl Profile {
    /// The whole profile, every default filled in.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        for line in &self.head {
            comment(&mut out, line);
        }
        if !self.head.is_empty() {
            out.push('\n');
        }
        sections::profile(&mut out, self);
        out
    }
}

/// A profile that shows a finding again: the phase alone, with at most `users` users; lab, defects
/// and contract as they were. `why` becomes a comment above the profile's own, a line each.
///
/// Budgets and published figures are left out: they say nothing about so small a run.
pub fn reproduction(profile: &Profile, phase: usize, users: u32, why: &str) -> String {
    let mut small = profile.clone();
    let mut head: Vec<String> = why.lines().map(str::to_owned).collect();
    if !head.is_empty() && !small.head.is_empty() {
        head.push(String::new());
    }
    small.head.splice(0..0, head);
    small.budget = Budget::default();
    small.published = None;
    small.phases = profile.phases.get(phase).cloned().into_iter().collect();
    for phase in &mut small.phases {
        if let Burst::SameKey(burst) = &mut phase.burst {
            burst.users = burst.users.min(users.max(1));
            small.requests = profile.requests.get(burst.request).cloned().into_iter().collect();
            burst.request = 0;
        }
    }
    small.to_toml()
}

/// A comment line; the control characters that TOML forbids there become blanks.
fn comment(out: &mut String, line: &str) {
    let is_plain = |c: char| c == '\t' || !c.is_ascii_control();
    let plain: String = line.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let line = format!("# {plain}");
    writeln!(out, "{}", line.trim_end()).expect("a String takes everything");
}
