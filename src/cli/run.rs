//! `dupeproof run PROFILE`: the drill.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::{Format, defects, failure, interrupt::Interrupts, profile};
use crate::drill::{self, Order, Outcome};
use crate::profile::{Profile, Target};
use crate::report::{self, RunResult};
use crate::ui::{self, Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The profile, a TOML file. Without `target` in it the lab is drilled, with it a service of
    /// your own
    profile: PathBuf,

    /// Defects of the lab's shop in place of the profile's, separated by commas; "" for none
    #[arg(long, value_name = "DEFECTS", value_delimiter = ',')]
    defects: Option<Vec<String>>,

    /// Arm none of the profile's faults: the same load behind the same proxies, which proves nothing
    #[arg(long)]
    disarm: bool,

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
        if profile.target != Target::Lab {
            return Err(Failure::usage(
                "--defects switches defects of the lab's shop on, and this profile drills another \
                 target",
                "Leave --defects out, or take `[target]` out of the profile.",
            ));
        }
        profile.lab.defects = defects.into_iter().filter(|name| !name.is_empty()).collect();
    }
    if let Some(seed) = args.seed {
        profile.seed = seed;
    }
    if args.disarm {
        disarm(&mut profile)?;
    }
    let secrets = drill::secrets(&profile);
    let Outcome { result, trouble } = perform(profile, args.results, interrupts).await?;
    ui::result(&match args.format {
        Format::Text => report::text(&result),
        Format::Json => format!("{:#}\n", serde_json::json!(result)),
    });
    match trouble {
        // The worst wins: what was found is worse than what wasn't tidied up.
        Some(error) => {
            let failure = failure::of_drill(&error, &secrets);
            ui::note(failure.render().trim_end());
            Ok(if result.exit_code == 1 { Exit::Violated } else { failure.exit })
        }
        None => Ok(exit_of(&result)),
    }
}

/// Leaves all faults as they are, and arms none of them.
fn disarm(profile: &mut Profile) -> Result<(), Failure> {
    let mut faults = profile.phases.iter_mut().flat_map(|phase| &mut phase.faults).peekable();
    if faults.peek().is_none() {
        return Err(Failure::usage(
            "--disarm leaves the faults of a profile unarmed, and this one has none",
            "Leave --disarm out.",
        ));
    }
    faults.for_each(|fault| fault.armed = false);
    Ok(())
}

/// Runs one drill and tells its progress; `demo` uses it too.
pub(crate) async fn perform(
    mut profile: Profile,
    results: PathBuf,
    interrupts: &Interrupts,
) -> Result<Outcome, Failure> {
    profile.lab.defects = defects::known(&profile.lab.defects)?;
    if profile.target == Target::Lab {
        let has_provider = profile.lab.payments.is_some();
        defects::fit(&profile.lab.defects, drill::shop_flags(&profile.lab), has_provider)?;
    }
    let exe = std::env::current_exe().map_err(|source| failure::own_file(&source))?;
    let secrets = drill::secrets(&profile);
    let order = Order { profile, exe, results, stop: interrupts.stop().clone() };
    let drilled = drill::run(order, Arc::new(ui::narrator())).await;
    drilled.map_err(|broken| failure::of_broken(&broken, &secrets))
}

/// The exit that a result stands for.
pub(crate) fn exit_of(result: &RunResult) -> Exit {
    [Exit::Passed, Exit::Violated, Exit::Inconclusive, Exit::BudgetMissed]
        .into_iter()
        .find(|exit| exit.code() == result.exit_code)
        .unwrap_or(Exit::Bug)
}
