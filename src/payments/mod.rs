//! The payment provider stub: charges and refunds, each idempotent by its id, slow or failing on
//! request.
//!
//! A stranger like the shop: a process of its own that imports nothing of the other rooms. Its log
//! is the evidence that decides what an unclear payment came to, so every request and every effect
//! is a line of it before the reply leaves, and a restart knows what the log knows.
//!
//! | file | holds |
//! |---|---|
//! | `ledger` | what was charged and refunded, and by which id |
//! | `log` | the lines, written and read back |
//! | `mood`, `plan` | how a charge is met: at random by shares, or as it was ordered |
//! | `routes`, `control`, `answer` | what is served to the shop, and to whoever conducts a drill |
//! | `server`, `settings`, `error` | how it is started, set up and ended |

mod answer;
mod control;
mod error;
mod ledger;
mod log;
mod mood;
mod plan;
mod routes;
mod server;
mod settings;

pub use error::PaymentsError;
pub use server::serve;
pub use settings::PaymentsArgs;
