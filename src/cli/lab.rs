//! `dupeproof lab`: the whole lab, kept up until Ctrl-C.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Receiver;

use crate::guard::{Guard, GuardError};
use crate::lab::{Lab, LabError, LabEvent, LabSpec};

/// Keep a private PostgreSQL, a private Redis and instances of the shop up until Ctrl-C.
#[derive(Debug, Clone, Args)]
pub struct LabArgs {
    /// Instances of the shop
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub instances: u16,

    /// Defects of the shop to switch on, separated by commas
    #[arg(long, value_name = "DEFECTS", value_delimiter = ',')]
    pub defects: Vec<String>,

    /// Where the servers write their logs
    #[arg(long, value_name = "FOLDER", default_value = "results/lab-logs")]
    pub logs: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum LabCommandError {
    #[error("could not find this program's own file")]
    Own(#[source] io::Error),
    #[error("could not listen for signals")]
    Signals(#[source] io::Error),
    #[error("could not print where the lab is")]
    Print(#[source] io::Error),
    #[error(transparent)]
    Guard(#[from] GuardError),
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error("{what} ended ({status}), and the lab with it; the end of its log:\n{log_tail}")]
    Exited {
        what: String,
        status: String,
        log_tail: String,
    },
}

/// Serves the lab; returns when it was asked to end, or when one of its servers has ended.
pub async fn lab(args: LabArgs) -> Result<(), LabCommandError> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(LabCommandError::Signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(LabCommandError::Signals)?;
    let exe = std::env::current_exe().map_err(LabCommandError::Own)?;
    let guard = Guard::start(&exe).await?;
    let served = tokio::select! {
        served = serve(args, &guard) => served,
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    guard.finish().await?;
    served
}

/// Dropped when a signal comes, and the lab with it.
async fn serve(args: LabArgs, guard: &Guard) -> Result<(), LabCommandError> {
    let LabArgs {
        instances,
        defects,
        logs,
    } = args;
    let spec = LabSpec {
        instances,
        defects,
        ..LabSpec::new(logs)
    };
    let mut lab = Lab::start(spec, guard).await?;
    print(&lab).map_err(LabCommandError::Print)?;
    let events = lab.events();
    let exited = first(events).await;
    lab.stop().await?;
    exited.map_or(
        Ok(()),
        |LabEvent::Exited {
             what,
             status,
             log_tail,
         }| {
            Err(LabCommandError::Exited {
                what: what.to_string(),
                status,
                log_tail,
            })
        },
    )
}

async fn first(events: Option<Receiver<LabEvent>>) -> Option<LabEvent> {
    events?.recv().await
}

fn print(lab: &Lab) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    for instance in &lab.instances {
        writeln!(stdout, "{}    http://{}", instance.name, instance.address)?;
    }
    writeln!(stdout, "postgres  {}", lab.postgres_url)?;
    writeln!(stdout, "redis     {}", lab.redis_url)?;
    stdout.flush()
}
