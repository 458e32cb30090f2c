//! `dupeproof demo`: the published experiments one after the other, in one table.
//!
//! The profiles are part of the program, so that it works wherever it was copied to.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Format, interrupt::Interrupts, profile, run};
use crate::audit::Verdict;
use crate::report::{self, Experiment};
use crate::ui::{self, Exit, Failure};

/// An experiment: its name, its profile, and the verdict that was published.
type Published = (&'static str, &'static str, Verdict);

macro_rules! published {
    ($name:literal, $verdict:ident) => {
        ($name, include_str!(concat!("../../profiles/", $name, ".toml")), Verdict::$verdict)
    };
}

/// In the order of the table.
const EXPERIMENTS: [Published; 6] = [
    published!("lock-inside-transaction", Violated),
    published!("lock-inside-snapshot", Violated),
    published!("lock-outside-transaction", Passed),
    published!("lock-inside-with-unique-key", Passed),
    published!("pay-vs-close-unconditional", Violated),
    published!("pay-vs-close", Passed),
];

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Folder in which results folders are made
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    results: PathBuf,

    /// How to print the table
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// Exit 0 when every experiment came out as published, 1 when one didn't, 3 when one proved nothing.
pub(crate) async fn demo(args: DemoArgs, interrupts: &Interrupts) -> Result<Exit, Failure> {
    let mut experiments = Vec::new();
    for (name, text, verdict) in EXPERIMENTS {
        if interrupts.stop().is_cancelled() {
            break;
        }
        ui::note(&format!("{name} ({} of {})", experiments.len() + 1, EXPERIMENTS.len()));
        let profile = profile::parse(Path::new(&format!("profiles/{name}.toml")), text)?;
        let published = profile.published.clone();
        let result = run::perform(profile, args.results.clone(), interrupts).await?.result;
        experiments.push(Experiment {
            name: name.to_owned(),
            published: published.map_or_else(|| "-".to_owned(), |published| published.figure),
            as_published: result.verdict == verdict,
            result,
        });
    }
    ui::result(&match args.format {
        Format::Text => report::experiments(&experiments),
        Format::Json => {
            let results: Vec<_> = experiments.iter().map(|experiment| &experiment.result).collect();
            format!("{:#}\n", serde_json::json!(results))
        }
    });
    Ok(exit(&experiments))
}

fn exit(experiments: &[Experiment]) -> Exit {
    let inconclusive = |experiment: &Experiment| experiment.result.verdict == Verdict::Inconclusive;
    if experiments.len() < EXPERIMENTS.len() || experiments.iter().any(inconclusive) {
        Exit::Inconclusive
    } else if experiments.iter().all(|experiment| experiment.as_published) {
        Exit::Passed
    } else {
        Exit::Violated
    }
}
