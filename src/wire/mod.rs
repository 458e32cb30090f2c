//! What crosses a connection between the target and its servers, passed on and looked at.
//!
//! [`Proxies`] stand in front of the target's servers. Each connection to it is a link of two directions. A
//! [`Codec`] takes the bytes of one direction in whatever pieces they come, keeps them byte for
//! byte until they have been passed on, and has a [`Scanner`] say where frames begin and end. The
//! scanners know one protocol each: [`redis`], [`postgres`] and [`http`].
//!
//! Scanners are told nothing twice and hold back nothing: a frame is never needed whole, however
//! large it is, only a bounded part of it is kept to tell what it is. What can't be read as frames
//! any more is passed on as it comes, and nothing more is said about it.

mod accept;
mod codec;
mod connect;
mod counts;
mod cuts;
mod direction;
mod error;
mod event;
mod exchanges;
mod fate;
mod greeting;
mod guide;
pub mod http;
mod ledger;
mod link;
mod mark;
mod notes;
mod obey;
mod observer;
mod offer;
mod orders;
mod part;
pub mod postgres;
mod proxies;
pub mod redis;
mod resent;
mod rule;
mod rules;
mod shape;
mod stream;
mod talk;
mod tokens;
mod trust;
mod upstream;
mod url;

pub use codec::{Codec, Edit};
pub use counts::{Counts, Side};
pub use error::WireError;
pub use event::ProxyEvent;
pub use guide::Guide;
pub use mark::{Mark, Scanner};
pub use part::Part;
pub use proxies::{Proxies, ProxySpec, Watch};
pub use rule::{Activity, Armed, HoldId, Notice, Rule, SeenLease, WireAct};
pub use tokens::Expected;
pub use upstream::{ServerTls, Trust, Upstream};
pub use url::{ServerUrl, UrlError};
