//! The PostgreSQL protocol, versions 3.0 and later, both directions.
//!
//! Specification: <https://www.postgresql.org/docs/current/protocol.html>, message formats on
//! <https://www.postgresql.org/docs/current/protocol-message-formats.html>.

mod backend;
mod bind;
mod fields;
mod frame;
mod frontend;
mod meaning;
mod names;
mod poison;
mod reply;
mod request;
mod sql;
mod statement;
mod talk;
mod track;

pub use backend::Backend;
pub use bind::{Bind, Parameter};
pub use frame::{Frame, Lead};
pub use frontend::Frontend;
pub(super) use frontend::{GSS_REQUEST, SSL_REQUEST};
pub(super) use meaning::Texts;
pub use names::{Names, Portal};
pub use reply::{Reply, Transaction, Trouble};
pub use request::{Request, Target};
pub use statement::Statement;
pub(super) use talk::{PostgresTalk, refusal};
