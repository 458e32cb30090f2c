//! The strategies that the settings choose, and the list that `--list-strategies` prints.
//!
//! Where a line of defence can be built in more than one way, each way is a type behind one small
//! trait, chosen once at the start: the chain never asks which one it has. The futures are boxed,
//! because a trait object can't have `async fn`; next to a round trip an allocation is nothing.

use std::{fmt::Write, pin::Pin};

use clap::{CommandFactory, Parser};

use super::{
    chain::{self, Claims},
    error::ShopError,
    lock::{self, Lock},
    settings::{Settings, ShopArgs},
    stock::{self, TakesStock},
};

/// A step of a strategy under way.
pub type Going<'a, T> = Pin<Box<dyn Future<Output = Result<T, ShopError>> + Send + 'a>>;

pub struct Strategies {
    pub lock: &'static dyn Lock,
    pub stock: &'static dyn TakesStock,
    pub claims: &'static dyn Claims,
}

impl Strategies {
    pub fn of(settings: &Settings) -> Self {
        Self {
            lock: lock::strategy(settings),
            stock: stock::strategy(settings.stock),
            claims: chain::strategy(settings.idempotency),
        }
    }
}

/// The flags that choose between strategies.
const FLAGS: [&str; 7] =
    ["lock", "lock-per", "lease-kind", "stock", "idempotency", "isolation", "redis-down"];

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    shop: ShopArgs,
}

/// Every strategy with its values and what they mean, read off the flags themselves.
pub fn list() -> String {
    let command = Flags::command();
    let mut out = String::new();
    for flag in FLAGS {
        let chosen = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
        let argument = chosen.expect("every listed flag is one of the shop's");
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "--{flag}  {help}");
        let default = argument.get_default_values().first();
        for value in argument.get_possible_values() {
            let is_default = default.is_some_and(|default| default == value.get_name());
            let mark = if is_default { " (default)" } else { "" };
            let _ = writeln!(out, "     {}{mark}", value.get_name());
            if let Some(help) = value.get_help() {
                let _ = writeln!(out, "         {help}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_listed_with_its_values_and_one_default() {
        let list = list();
        for flag in FLAGS {
            let rest = list.split_once(&format!("--{flag}  ")).expect(flag).1;
            let section = rest.split("\n--").next().unwrap_or_default();
            assert_eq!(section.matches("(default)").count(), 1, "{flag}: {section}");
        }
        for value in ["postgres-advisory", "select-for-update", "redis+postgres", "serializable"] {
            assert!(list.contains(&format!("     {value}")), "{value}");
        }
    }
}
