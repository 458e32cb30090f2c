//! Intents become requests, requests become bursts, replies become outcomes.
//!
//! | part | does |
//! |---|---|
//! | `plan`, `render`, `fingerprint`, `dice` | what is sent, decided before anything is |
//! | `http` | one HTTP/1.1 request on the wire for each attempt, and its reply |
//! | `outcome` | what a reply means under the contract |
//! | `burst` | all last bytes in one instant |
//! | `asker`, `resolve` | asking again: a client's retries, and the resolver's |
//! | `desk`, `scribe`, `bodies` | what the clients of a burst share, and the way to the journal |
//! | `files`, `progress`, `run` | open files, counters for whoever watches, the run's numbers |

mod asker;
mod bodies;
mod burst;
mod desk;
mod dice;
mod error;
mod files;
mod fingerprint;
mod http;
mod outcome;
mod plan;
mod progress;
mod render;
mod resolve;
mod run;
mod scribe;
mod target;
mod tasks;

pub use burst::{BurstSummary, Freezer, Freezing};
pub use error::LoadError;
pub use http::{Reply, ReplyBudget, ReplyFault, ReplyReader, Tls, get};
pub use outcome::{Reading, Seen, classify};
pub use plan::{key_name, user_name};
pub use progress::{Progress, ProgressNow};
pub use resolve::Resolved;
pub use run::{Load, LoadSettings};
pub use scribe::Tally;
pub use target::TargetInstance;
