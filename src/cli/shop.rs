//! `dupeproof shop`: the reference order service alone.

use clap::Args;

use crate::shop::{self, ShopArgs};
use crate::ui::{self, Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct ShopCommand {
    #[command(flatten)]
    shop: ShopArgs,
}

pub(crate) async fn shop(command: ShopCommand) -> Result<Exit, Failure> {
    if command.shop.list_defects {
        ui::result(&list());
        return Ok(Exit::Passed);
    }
    if command.shop.list_strategies {
        ui::result(&shop::strategies());
        return Ok(Exit::Passed);
    }
    match shop::serve(command.shop).await {
        Ok(()) => Ok(Exit::Passed),
        Err(error) if error.is_mistake_of_the_caller() => Err(failure(&error)),
        Err(error) => Err(Failure { exit: Exit::Environment, ..failure(&error) }),
    }
}

fn failure(error: &shop::ShopError) -> Failure {
    let mut failure = Failure::usage(error.to_string(), "See `dupeproof shop --help`.");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        failure.because.push(cause.to_string());
        source = cause.source();
    }
    failure
}

fn list() -> String {
    let mut out = String::new();
    for defect in shop::defects() {
        out.push_str(&format!("{}  {}\n     {}\n", defect.id, defect.switch, defect.does));
        let partners: Vec<_> = defect.partners.iter().map(ToString::to_string).collect();
        if !partners.is_empty() {
            out.push_str(&format!("     shows together with: {}\n", partners.join(", ")));
        }
        for need in defect.needs {
            out.push_str(&format!("     needs {}\n", need.text()));
        }
        out.push_str(&format!("     found by: {}\n", defect.finds));
    }
    out
}
