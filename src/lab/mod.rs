//! The embedded default: a private PostgreSQL, a private Redis, and instances of the shop.
//!
//! [`Lab::start`] brings all of it up on loopback in about a second, in a temporary folder, from
//! programs that are installed already; [`Servers::start`] does the first half of it, for whoever wants
//! to stand between servers and instances. Everything is a process of its own, started under guard,
//! so that it can be killed and paused, and so that all of it is gone at the end, however the end
//! comes. [`Lab::stop`] ends it with SIGKILL: its data is temporary, and every gentler signal can
//! leave a busy back-end behind.
//!
//! `spec` says what is wanted; `programs` and `account` find what is there; `site` is the folder
//! and the list of what must end; `postgres`, `redis`, `payments` and `instance` each start one kind of server;
//! `servers` are those that instances use; `running` is the lab that is up; `launched` adds instances of the user's own service to it, and
//! `listeners` tells whose port is whose.

mod account;
mod error;
mod events;
mod instance;
mod launched;
mod listeners;
mod logs;
mod payments;
mod ports;
mod postgres;
mod programs;
mod redis;
mod running;
mod server;
mod servers;
mod site;
mod spec;

pub use error::LabError;
pub use events::LabEvent;
pub use instance::Instance;
pub use launched::{LaunchPlace, LaunchSpec, LaunchedInstance};
pub use payments::{Payments, PaymentsSpec};
pub use running::Lab;
pub use server::Server;
pub use servers::{Addresses, Servers};
pub use spec::LabSpec;
