//! Intents become requests, requests become bursts, replies become outcomes.
//!
//! | part | does |
//! |---|---|
//! | `sketch`, `cast`, `dice` | who means what and asks when; their names; decided by the seed |
//! | `compose`, `writing`, `letter` | a sketch becomes intents with fingerprints, and bytes |
//! | `message`, `keys`, `session` | one request from its templates: keys, logins |
//! | `forms`, `spelling`, `manners`, `tree`, `fingerprint` | other bytes of the same meaning |
//! | `http` | one HTTP/1.1 request on the wire for each attempt, and its reply |
//! | `outcome`, `meanings` | what a reply means under the contract, and beside what is known already |
//! | `phase` | one phase from its sketch to its summary |
//! | `burst` | all last bytes in one instant, or as the arrival says |
//! | `scripts`, `asker` | one after the other; a client and its retries |
//! | `steady` | an open loop at a rate |
//! | `resolve` | asking again for what has no definite outcome |
//! | `desk`, `scribe`, `bodies`, `decided` | what clients share, and the way to the journal |
//! | `files`, `progress`, `run` | open files, counters for whoever watches, the run's numbers |
//! | `herald`, `witness` | who is told of intents before their requests leave, and of attempts while they last |
//! | `probe` | whether every instance answers again once a fault is healed |

mod asker;
mod bodies;
mod burst;
mod cast;
mod compose;
mod decided;
mod desk;
mod dice;
mod error;
mod files;
mod fingerprint;
mod forms;
mod herald;
mod http;
mod keys;
mod letter;
mod manners;
mod meanings;
mod message;
mod outcome;
mod phase;
mod pointer;
mod probe;
mod progress;
mod resolve;
mod run;
mod scribe;
mod scripts;
mod session;
mod sketch;
mod spelling;
mod steady;
mod target;
mod tasks;
mod tree;
mod witness;
mod writing;

pub use burst::{Freezer, Freezing};
pub use cast::{Cast, key_name, user_name};
pub use error::LoadError;
pub use herald::{Herald, Heralding};
pub use http::{Reply, ReplyBudget, ReplyFault, ReplyReader, Tls, get};
pub use outcome::{Reading, Seen, classify};
pub use phase::PhaseSummary;
pub use probe::probes;
pub use progress::{Progress, ProgressNow};
pub use resolve::Resolved;
pub use run::{Load, LoadSettings, MOST_IN_FLIGHT};
pub use scribe::Tally;
pub use sketch::{Parts, Planned, planned};
pub use target::TargetInstance;
pub use witness::{Leaving, Witness};
