//! What can be broken: for each clause of a contract the services that break it, and what the audit
//! must say about each.
//!
//! The list is made by taking the contract apart field by field, so that a new clause doesn't compile
//! before somebody has decided here how it is broken.

use dupeproof::profile::{
    AfterExpiry, Contract, Hint, KeyCarrier, KeyRule, KeyScope, KeySyntax, MissingKey,
    OtherParameters, Replay, ReplayBody,
};

/// One thing that a service does otherwise than its contract says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Break {
    /// Each request is executed, whatever its key.
    KeyIgnored,
    /// Two users share a key that is each one's own.
    KeyNotScoped,
    /// Two users have a key each that belongs to their account.
    KeyScopedToUser,
    /// A first success has a status of its own.
    FirstStatus,
    ReplayStatus,
    ReplayOutsideOfContract,
    ReplayWithoutOrder,
    ReplayBody,
    ReplayOfAnotherOrder,
    MarkerMissing,
    MarkerOnFirst,
    InProgressStatus,
    InProgressCode,
    InProgressExecuted,
    InProgressForEver,
    NoHint,
    MismatchAccepted,
    MismatchExecuted,
    MismatchStatus,
    MismatchCode,
    MismatchIgnoredInProgress,
    OldResultRefused,
    MissingKeyAccepted,
    MissingKeyStatus,
    MissingKeyCode,
    MissingKeyRefused,
    MalformedKeyAccepted,
    MalformedKeyStatus,
    RejectionStatus,
    RejectionPlaces,
    RejectionDecidedAnew,
    RejectionKept,
    ShedPlaces,
    NeverDecides,
    KeysForgotten,
    KeysNeverForgotten,
    BodiesMerged,
    MovementMissing,
    TooSlow,
}

/// What the audit makes of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// A finding of this code.
    As(&'static str),
    /// Seen, and not provable: this gate is missed.
    Doubted(&'static str),
    /// Nothing that a client or a row could tell; why.
    Unseen(&'static str),
}

use Shown::{As, Doubted, Unseen};

/// Clauses without a word to be kept.
pub const NOTHING_TO_BREAK: [(&str, &str); 3] = [
    ("preset", "it only names the others"),
    ("parked", "it is the answer to a fault, and these drills have none"),
    ("redis-down", "it is about a lost Redis, and these drills have none"),
];

/// Every break of a contract, with its clause and what must come of it.
pub fn breaks(contract: &Contract) -> Vec<(&'static str, Break, Shown)> {
    let Contract {
        preset: _,
        key,
        first: _,
        replay,
        replay_marker,
        in_progress,
        other_parameters,
        missing_key,
        malformed_key,
        business_rejection: _,
        shed: _,
        parked: _,
        hint,
        rejection_is_stored,
        after_expiry,
        window,
        settles_within,
        longest_wait: _,
        one_order_per,
        recovery_limit: _,
        redis_down: _,
    } = contract;
    let is_said = !in_progress.statuses.is_empty();
    let mut all = vec![
        ("first", Break::FirstStatus, As("I25")),
        ("shed", Break::ShedPlaces, As("I18")),
        ("longest-wait", Break::TooSlow, As("I21")),
        ("recovery-limit", Break::NeverDecides, Doubted("G11")),
        ("business-rejection", Break::RejectionPlaces, As("I08b")),
        (
            "business-rejection",
            Break::RejectionStatus,
            // Where nobody says what `in progress` looks like, it may be that.
            if is_said { As("I25") } else { Doubted("G11") },
        ),
    ];
    all.extend(of_key(key).map(|it| ("key", it.0, it.1)));
    all.extend(of_replay(replay).map(|it| ("replay", it.0, it.1)));
    if replay_marker.is_some() {
        all.push(("replay-marker", Break::MarkerMissing, As("R6")));
        all.push(("replay-marker", Break::MarkerOnFirst, As("R6")));
    }
    all.push(("in-progress", Break::InProgressExecuted, As("I02")));
    if is_said {
        all.push(("in-progress", Break::InProgressStatus, As("I25")));
        all.push(("in-progress", Break::InProgressForEver, As("R3")));
    }
    if in_progress.code.is_some() {
        all.push(("in-progress", Break::InProgressCode, As("I25")));
    }
    if *hint != Hint::None {
        all.push(("hint", Break::NoHint, As("I21")));
    }
    all.extend(of_other_parameters(other_parameters).map(|it| ("other-parameters", it.0, it.1)));
    all.extend(of_missing_key(missing_key).map(|it| ("missing-key", it.0, it.1)));
    if malformed_key.is_some() {
        let shown = if may_be_malformed(key) { As("I26") } else { Unseen(ALL_WELL_FORMED) };
        all.push(("malformed-key", Break::MalformedKeyAccepted, shown));
        all.push(("malformed-key", Break::MalformedKeyStatus, shown));
    }
    all.push(if *rejection_is_stored {
        ("rejection-is-stored", Break::RejectionDecidedAnew, As("I06"))
    } else {
        let why = "a drill never puts stock back, so a kept rejection and a new one are the same";
        ("rejection-is-stored", Break::RejectionKept, Unseen(why))
    });
    all.push(match after_expiry {
        AfterExpiry::SameOrder => ("after-expiry", Break::KeysForgotten, As("I02")),
        AfterExpiry::NewOrder | AfterExpiry::Rejected => {
            let why = "no record expires within a drill, and a contract doesn't say when";
            ("after-expiry", Break::KeysNeverForgotten, Unseen(why))
        }
    });
    assert_eq!(*window, None, "no preset has a window: break it when one does");
    all.push(("window", Break::BodiesMerged, As("I16")));
    assert_eq!(*settles_within, None, "no preset is a saga: break it when one is");
    all.push(("settles-within", Break::MovementMissing, As("I04")));
    assert!(one_order_per.is_empty(), "no preset has a business key: break it when one does");
    all.push(("one-order-per", Break::KeyIgnored, As("I02")));
    all
}

const ALL_WELL_FORMED: &str = "any text is a key, and a field of a body is there once";

fn may_be_malformed(key: &KeyRule) -> bool {
    matches!(key.carrier, KeyCarrier::Header(_))
        || key.syntax != KeySyntax::Raw
        || key.longest.is_some()
}

type Breaks = std::vec::IntoIter<(Break, Shown)>;

fn of_key(key: &KeyRule) -> Breaks {
    let KeyRule { carrier: _, syntax: _, longest: _, scope } = key;
    let of_scope = match scope {
        KeyScope::User => (Break::KeyNotScoped, As("I09")),
        KeyScope::Account => (Break::KeyScopedToUser, As("I07")),
    };
    // Who doesn't look where the key is sees none: `one-order-per`. Syntax and length are broken with
    // `malformed-key`, where the contract has an answer.
    vec![of_scope].into_iter()
}

fn of_replay(replay: &Replay) -> Breaks {
    let Replay { statuses: _, body } = replay;
    let mut all = vec![
        (Break::ReplayStatus, As("I06")),
        (Break::ReplayOutsideOfContract, As("I25")),
        (Break::ReplayWithoutOrder, As("I25")),
        (Break::ReplayOfAnotherOrder, As("I06")),
    ];
    match body {
        ReplayBody::Bytes | ReplayBody::Json => all.push((Break::ReplayBody, As("I06"))),
        ReplayBody::OrderId | ReplayBody::Current => {}
    }
    all.into_iter()
}

fn of_other_parameters(clause: &OtherParameters) -> Breaks {
    let mut all = vec![(Break::MismatchExecuted, As("I07"))];
    match clause {
        OtherParameters::Rejected { answer, while_in_progress } => {
            all.push((Break::MismatchAccepted, As("I07")));
            all.push((Break::MismatchStatus, As("I25")));
            if *while_in_progress {
                all.push((Break::MismatchIgnoredInProgress, As("I07")));
            }
            if answer.code.is_some() {
                all.push((
                    Break::MismatchCode,
                    match answer.statuses.as_slice() {
                        [200] => As("I25"),
                        _ => {
                            Unseen("it reads as a rejection of the malformed, as validation has it")
                        }
                    },
                ));
            }
        }
        OtherParameters::OldResult => all.push((Break::OldResultRefused, As("R3"))),
        OtherParameters::Unsaid => {}
    }
    all.into_iter()
}

fn of_missing_key(clause: &MissingKey) -> Breaks {
    match clause {
        MissingKey::Rejected(answer) => {
            let mut all =
                vec![(Break::MissingKeyAccepted, As("I26")), (Break::MissingKeyStatus, As("I26"))];
            if answer.code.is_some() {
                all.push((Break::MissingKeyCode, As("I26")));
            }
            all
        }
        MissingKey::Executed => vec![(Break::MissingKeyRefused, As("I26"))],
        MissingKey::Unsaid => Vec::new(),
    }
    .into_iter()
}

impl Break {
    /// What else must follow from it: orders and stock that disagree, a second order that is told of,
    /// a table that is no last line of defence.
    pub const fn follow_ups(self) -> &'static [&'static str] {
        match self {
            Self::KeyIgnored
            | Self::InProgressExecuted
            | Self::MismatchExecuted
            | Self::KeysForgotten => &["I02", "I06", "R6", "L10"],
            Self::KeyScopedToUser => &["I02", "L10"],
            Self::BodiesMerged => &["R6", "L10"],
            Self::MissingKeyAccepted => &["L10"],
            Self::RejectionPlaces => &["I03", "I03b"],
            Self::MovementMissing => &["I03b"],
            Self::ReplayOfAnotherOrder => &["I05"],
            _ => &[],
        }
    }

    /// The phases in which it shows, by name; all others would only take their time.
    pub const fn phases(self) -> &'static [&'static str] {
        match self {
            Self::KeyIgnored
            | Self::FirstStatus
            | Self::InProgressStatus
            | Self::InProgressCode
            | Self::InProgressExecuted
            | Self::NoHint
            | Self::ShedPlaces
            | Self::NeverDecides => &["double click"],
            Self::KeyNotScoped | Self::KeyScopedToUser => &["one key of eight users"],
            Self::ReplayStatus
            | Self::ReplayOutsideOfContract
            | Self::ReplayWithoutOrder
            | Self::ReplayBody
            | Self::ReplayOfAnotherOrder
            | Self::MarkerMissing
            | Self::MarkerOnFirst
            | Self::InProgressForEver
            | Self::RejectionDecidedAnew
            | Self::KeysForgotten
            | Self::KeysNeverForgotten
            | Self::MovementMissing
            | Self::TooSlow => &["in turn"],
            Self::MismatchAccepted
            | Self::MismatchExecuted
            | Self::MismatchStatus
            | Self::MismatchCode
            | Self::OldResultRefused => &["changed"],
            // Beside other keys it might have waited for a lock of theirs.
            Self::MismatchIgnoredInProgress => &["changed, alone"],
            Self::MissingKeyAccepted
            | Self::MissingKeyStatus
            | Self::MissingKeyCode
            | Self::MissingKeyRefused
            | Self::MalformedKeyAccepted
            | Self::MalformedKeyStatus => &["in turn", "bad keys"],
            Self::RejectionStatus | Self::RejectionPlaces => &["the last units, asked for once"],
            Self::RejectionKept => &["the last units"],
            Self::BodiesMerged => &["one body under three keys"],
        }
    }

    /// Whether it needs a table that would let a second order of a key in.
    pub const fn needs_a_weak_schema(self) -> bool {
        matches!(
            self,
            Self::KeyIgnored
                | Self::KeyScopedToUser
                | Self::InProgressExecuted
                | Self::MismatchExecuted
                | Self::MissingKeyAccepted
                | Self::KeysForgotten
                | Self::BodiesMerged
        )
    }
}
