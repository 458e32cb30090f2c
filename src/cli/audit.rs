//! `dupeproof audit RUN` and `dupeproof audit PROFILE`: an old run judged again from what its folder
//! holds, or a live database by its rows alone.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Format, failure, profile, run::exit_of};
use crate::audit::Verdict;
use crate::drill;
use crate::history::RunFolder;
use crate::report;
use crate::ui::{self, Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// A results folder, such as results/latest, or a profile whose database is judged as it stands
    #[arg(value_name = "RUN|PROFILE")]
    what: PathBuf,

    /// How to print the result
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) async fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    if args.what.is_file() {
        audit_live(&args.what, args.format).await
    } else {
        audit_run(&args.what, args.format)
    }
}

fn audit_run(run: &Path, format: Format) -> Result<Exit, Failure> {
    if !run.exists() {
        return Err(Failure::usage(
            format!("there is no file or folder {}", run.display()),
            "Name the folder of a run, such as results/latest, or a profile.",
        ));
    }
    let folder = RunFolder::open(run);
    if !folder.journal().is_file() {
        return Err(Failure::usage(
            format!("{} is not a results folder: it has no journal.jsonl", run.display()),
            "Name the folder of a run, such as results/latest, or a profile.",
        ));
    }
    if !folder.profile().is_file() {
        return Err(Failure::usage(
            format!("{} is not a whole results folder: it has no profile.toml", run.display()),
            "Copy the whole folder of a run, or name another one, such as results/latest.",
        ));
    }
    let profile = profile::read_for_audit(&folder.profile())?;
    let secrets = drill::secrets(&profile);
    let result = drill::judge(&folder, &profile, run)
        .map_err(|error| failure::of_drill(&error, &secrets))?;
    ui::result(&match format {
        Format::Text => report::text(&result),
        Format::Json => format!("{:#}\n", serde_json::json!(result)),
    });
    Ok(exit_of(&result))
}

async fn audit_live(path: &Path, format: Format) -> Result<Exit, Failure> {
    let profile = profile::read(path)?;
    let secrets = drill::secrets(&profile);
    let judgement =
        drill::audit_live(&profile).await.map_err(|error| failure::of_drill(&error, &secrets))?;
    let result = report::live(&profile, &judgement);
    ui::result(&match format {
        Format::Text => report::live_text(&result),
        Format::Json => format!("{:#}\n", serde_json::json!(result)),
    });
    Ok(match result.verdict {
        Verdict::Passed => Exit::Passed,
        Verdict::Violated => Exit::Violated,
        Verdict::Inconclusive => Exit::Inconclusive,
    })
}
