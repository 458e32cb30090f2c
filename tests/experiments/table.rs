//! What a pair of an experiment and a defect is, and all of them.

/// An experiment's profile, and what has to come of it.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// File name under `profiles/experiments/` without its ending.
    pub profile: &'static str,
    /// The code of the finding.
    pub code: &'static str,
    pub found: Found,
}

/// How loudly a defect is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Past the last line of defence, or the caller is misled: critical or contract.
    Violated,
    Protected,
    Efficiency,
}

impl Found {
    pub const fn severities(self) -> &'static [&'static str] {
        match self {
            Self::Violated => &["critical", "contract"],
            Self::Protected => &["protected"],
            Self::Efficiency => &["efficiency"],
        }
    }

    /// The exit code of such a run.
    pub const fn exit(self) -> i32 {
        match self {
            Self::Violated => 1,
            Self::Protected | Self::Efficiency => 0,
        }
    }
}

pub const fn violated(profile: &'static str, code: &'static str) -> Pair {
    Pair { profile, code, found: Found::Violated }
}

pub const fn protected(profile: &'static str, code: &'static str) -> Pair {
    Pair { profile, code, found: Found::Protected }
}

pub const fn efficiency(profile: &'static str, code: &'static str) -> Pair {
    Pair { profile, code, found: Found::Efficiency }
}

pub fn all() -> impl Iterator<Item = Pair> {
    super::table_a::PAIRS.iter().chain(super::table_b::PAIRS).copied()
}
