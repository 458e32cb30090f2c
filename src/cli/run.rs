//! `dupeproof run PROFILE`: the drill.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::{Format, defects, failure, interrupt::Interrupts, profile};
use crate::drill::{self, Order};
use crate::profile::Profile;
use crate::report::{self, RunResult};
use crate::ui::{self, Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The profile, a TOML file
    profile: PathBuf,

    /// Defects of the lab's shop in place of the profile's, separated by commas; "" for none
    #[arg(long, value_name = "DEFECTS", value_delimiter = ',')]
    defects: Option<Vec<String>>,

    /// Seed of every random choice, in place of the profile's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Folder in which results folders are made
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    results: PathBuf,

    /// How to print the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) async fn run(args: RunArgs, interrupts: &Interrupts) -> Result<Exit, Failure> {
    let mut profile = profile::read(&args.profile)?;
    if let Some(defects) = args.defects {
        profile.lab.defects = defects.into_iter().filter(|name| !name.is_empty()).collect();
    }
    if let Some(seed) = args.seed {
        profile.seed = seed;
    }
    let result = perform(profile, args.results, interrupts).await?;
    ui::result(&match args.format {
        Format::Text => report::text(&result),
        Format::Json => format!("{:#}\n", serde_json::json!(result)),
    });
    Ok(exit_of(&result))
}

/// Runs one drill and tells its progress; `demo` uses it too.
pub(crate) async fn perform(
    mut profile: Profile,
    results: PathBuf,
    interrupts: &Interrupts,
) -> Result<RunResult, Failure> {
    profile.lab.defects = defects::known(&profile.lab.defects)?;
    let exe = std::env::current_exe().map_err(|source| failure::own_file(&source))?;
    let order = Order { profile, exe, results, stop: interrupts.stop().clone() };
    drill::run(order, Arc::new(ui::narrator())).await.map_err(|broken| failure::of_broken(&broken))
}

/// The exit that a result stands for.
pub(crate) fn exit_of(result: &RunResult) -> Exit {
    [Exit::Passed, Exit::Violated, Exit::Inconclusive, Exit::BudgetMissed]
        .into_iter()
        .find(|exit| exit.code() == result.exit_code)
        .unwrap_or(Exit::Bug)
}
