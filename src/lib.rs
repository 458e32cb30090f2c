//! dupeproof asks an order service for the same thing twice, and proves what happens.
//!
//! The rooms, floor by floor; each may use the floors below it, and the hands never import each
//! other (`tests/architecture.rs` keeps it so):
//!
//! | floor | rooms |
//! |---|---|
//! | face | [`cli`], [`ui`] |
//! | conductors | [`drill`], [`settle`] |
//! | hands | [`load`], [`chaos`], [`observe`], [`lab`], [`wire`] |
//! | judgement | [`audit`], [`story`], [`report`] |
//! | base | [`profile`], [`history`], [`guard`], [`codes`] |
//! | strangers | [`shop`], [`payments`] |

pub mod audit;
pub mod chaos;
pub mod cli;
pub mod codes;
pub mod drill;
pub mod guard;
pub mod history;
pub mod lab;
pub mod load;
pub mod observe;
pub mod payments;
pub mod profile;
pub mod report;
pub mod settle;
pub mod shop;
pub mod story;
pub mod ui;
pub mod wire;
