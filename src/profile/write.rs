//! A profile as TOML: with all defaults for the record of a run, or cut down to what a finding
//! needs.
//!
//! What is written reads as an equal profile, given the same environment: values that were taken
//! from it are written as `${NAME}`.

mod bursts;
mod contract;
mod faults;
mod sections;
mod target;
mod values;

use std::fmt::Write;
use std::time::Duration;

use super::burst::Burst;
use super::fault::{Fault, StepTrigger, Trigger, Which};
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
        let burst = phase.burst.clone();
        shrink(&mut phase.burst, users.max(1));
        if phase.burst != burst {
            phase.faults.iter_mut().for_each(|fault| soon(fault, users.max(1)));
        }
    }
    keep_what_is_used(&mut small);
    small.to_toml()
}

/// Counts on no more steps than there are users: fewer users take each step fewer times.
fn soon(fault: &mut Fault, users: u32) {
    if let Trigger::Step(StepTrigger { which: Which::Nth(nth), .. }) = &mut fault.at {
        *nth = (*nth).min(users);
    }
}

/// At most so many users. What a kind's numbers must keep of each other, they keep: a last unit stays
/// scarce, steady load becomes shorter.
fn shrink(burst: &mut Burst, users: u32) {
    match burst {
        Burst::SameKey(crowd) | Burst::SameFingerprint(crowd) | Burst::FreshKey(crowd) => {
            crowd.users = crowd.users.min(users);
        }
        Burst::Mutated(burst) => burst.crowd.users = burst.crowd.users.min(users),
        Burst::SubmitToken(burst) => burst.crowd.users = burst.crowd.users.min(users),
        Burst::Mixed(burst) => burst.crowd.users = burst.crowd.users.min(users),
        Burst::Race(burst) => burst.crowd.users = burst.crowd.users.min(users),
        Burst::SharedKey(burst) => {
            // One user alone shares a key with nobody.
            burst.crowd.users = burst.crowd.users.min(users.max(2));
            burst.sharing = burst.sharing.min(burst.crowd.users);
        }
        Burst::LastUnit(burst) => {
            let least = u64::from(burst.stock) / u64::from(burst.crowd.quantity.max(1)) + 1;
            let users = users.max(u32::try_from(least).unwrap_or(u32::MAX));
            burst.crowd.users = burst.crowd.users.min(users);
        }
        Burst::Sequential(burst) => burst.users = burst.users.min(users),
        Burst::BadKeys(burst) => burst.users = burst.users.min(users),
        Burst::Rate(rate) => {
            let needed = u64::from(users).div_ceil(u64::from(rate.per_second.max(1)));
            rate.lasts = rate.lasts.min(Duration::from_secs(needed));
        }
    }
}

/// Only the requests that the phases and the login send, in their order.
fn keep_what_is_used(profile: &mut Profile) {
    let mut used = Vec::new();
    visit_requests(profile, &mut |index| used.push(*index));
    used.sort_unstable();
    used.dedup();
    profile.requests =
        used.iter().filter_map(|&index| profile.requests.get(index).cloned()).collect();
    visit_requests(profile, &mut |index| *index = used.binary_search(index).unwrap_or(0));
}

fn visit_requests(profile: &mut Profile, visit: &mut dyn FnMut(&mut usize)) {
    if let Some(login) = &mut profile.actor.login {
        visit(&mut login.request);
    }
    for phase in &mut profile.phases {
        match &mut phase.burst {
            Burst::SameKey(crowd) | Burst::SameFingerprint(crowd) | Burst::FreshKey(crowd) => {
                visit(&mut crowd.request);
            }
            Burst::Mutated(burst) => visit(&mut burst.crowd.request),
            Burst::SharedKey(burst) => visit(&mut burst.crowd.request),
            Burst::LastUnit(burst) => visit(&mut burst.crowd.request),
            Burst::Mixed(burst) => visit(&mut burst.crowd.request),
            Burst::SubmitToken(burst) => {
                visit(&mut burst.crowd.request);
                visit(&mut burst.token);
            }
            Burst::Race(burst) => {
                visit(&mut burst.crowd.request);
                visit(&mut burst.first);
                burst.requests.iter_mut().for_each(&mut *visit);
            }
            Burst::Sequential(burst) => {
                visit(&mut burst.request);
                burst.route.iter_mut().for_each(&mut *visit);
            }
            Burst::BadKeys(burst) => visit(&mut burst.request),
            Burst::Rate(rate) => visit(&mut rate.request),
        }
    }
}

/// A comment line; the control characters that TOML forbids there become blanks.
fn comment(out: &mut String, line: &str) {
    let is_plain = |c: char| c == '\t' || !c.is_ascii_control();
    let plain: String = line.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let line = format!("# {plain}");
    writeln!(out, "{}", line.trim_end()).expect("a String takes everything");
}
