//! `dupeproof audit RUN`: an old run judged again, from what its folder holds.

use std::path::PathBuf;

use clap::Args;

use super::{Format, failure, profile, run::exit_of};
use crate::drill;
use crate::history::RunFolder;
use crate::report;
use crate::ui::{self, Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// A results folder, such as results/latest
    run: PathBuf,

    /// How to print the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let folder = RunFolder::open(&args.run);
    if !folder.journal().is_file() {
        return Err(Failure::usage(
            format!("{} is not a results folder: it has no journal.jsonl", args.run.display()),
            "Name the folder of a run, such as results/latest.",
        ));
    }
    if !folder.profile().is_file() {
        return Err(Failure::usage(
            format!("{} is not a whole results folder: it has no profile.toml", args.run.display()),
            "Copy the whole folder of a run, or name another one, such as results/latest.",
        ));
    }
    let profile = profile::read_for_audit(&folder.profile())?;
    let result =
        drill::judge(&folder, &profile, &args.run).map_err(|error| failure::of_drill(&error))?;
    ui::result(&match args.format {
        Format::Text => report::text(&result),
        Format::Json => format!("{:#}\n", serde_json::json!(result)),
    });
    Ok(exit_of(&result))
}
