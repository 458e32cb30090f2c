//! One file per subcommand; each reads as the story of that command.

mod audit;
mod defects;
mod demo;
mod environment;
mod explain;
mod failure;
mod fronts;
mod hidden;
mod interrupt;
mod lab;
mod payments;
mod profile;
mod proxy;
mod rule_file;
mod rules;
mod run;
mod schema;
mod shop;

use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::ui::{self, Color, Exit, Failure};
use interrupt::Interrupts;

const EXIT_CODES: &str = "\
Exit codes: 0 passed; 1 an invariant is violated; 2 usage or profile mistake;
3 inconclusive; 4 environment (target, PostgreSQL, Redis, a missing program);
5 invariants hold, a budget was missed; 70 a bug in dupeproof; 130 second Ctrl-C.";

/// Asks an order service for the same thing twice, and proves what happens.
#[derive(Debug, Parser)]
#[command(name = "dupeproof", version, after_help = EXIT_CODES, max_term_width = 80)]
struct Cli {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the drill that a profile describes
    Run(run::RunArgs),
    /// Judge an old run again, from its results folder, or a live database, by a profile
    Audit(audit::AuditArgs),
    /// Run the published experiments one after the other, and print one table
    Demo(demo::DemoArgs),
    /// Keep a whole lab up until Ctrl-C, and print its URLs
    Lab(lab::LabArgs),
    /// Serve the reference order service alone
    ///
    /// Every setting may also come from the environment, as DUPEPROOF_SHOP_ and the flag's name,
    /// such as DUPEPROOF_SHOP_LOCK_PER=user; a flag wins.
    Shop(Box<shop::ShopCommand>),
    /// Serve the payment provider stub alone
    Payments(payments::PaymentsCommand),
    /// Stand between a target and its servers until Ctrl-C, and tell what was seen
    Proxy(Box<proxy::ProxyArgs>),
    /// Say what a code means, how it is checked, and what to do
    Explain(explain::ExplainArgs),
    /// Print a JSON Schema
    Schema(schema::SchemaArgs),
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

/// The whole program.
pub fn main() -> ExitCode {
    if let Some(code) = hidden::dispatch(std::env::args_os()) {
        return code;
    }
    environment::without_surprises();
    let command = Cli::command().mut_subcommand("shop", crate::shop::from_environment);
    let cli = Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    ui::choose_color(cli.color);
    let exit = std::panic::catch_unwind(AssertUnwindSafe(|| perform(cli.command)));
    ExitCode::from(exit.unwrap_or_else(|_| bug()).code())
}

fn perform(command: Command) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let what = format!("cannot start the threads that dupeproof works with: {error}");
            return fail(&Failure {
                exit: Exit::Environment,
                ..Failure::usage(what, "Free processes and memory (ulimit -u), then try again.")
            });
        }
    };
    let exit = runtime.block_on(async {
        let interrupts = Interrupts::listen();
        tokio::select! {
            ended = dispatch(command, &interrupts) => ended.unwrap_or_else(|failure| fail(&failure)),
            () = interrupts.at_once() => Exit::Interrupted,
        }
    });
    runtime.shutdown_background();
    exit
}

async fn dispatch(command: Command, interrupts: &Interrupts) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(args, interrupts).await,
        Command::Audit(args) => audit::audit(&args).await,
        Command::Demo(args) => demo::demo(args, interrupts).await,
        Command::Lab(args) => lab::lab(args, interrupts).await,
        Command::Shop(args) => shop::shop(*args).await,
        Command::Payments(args) => payments::payments(args).await,
        Command::Proxy(args) => proxy::proxy(*args, interrupts).await,
        Command::Explain(args) => explain::explain(&args),
        Command::Schema(args) => schema::schema(&args),
    }
}

fn fail(failure: &Failure) -> Exit {
    ui::note(failure.render().trim_end());
    failure.exit
}

/// The panic's own message has been printed already.
fn bug() -> Exit {
    ui::note(
        "error: this is a bug in dupeproof, not in what it tested. What was recorded is kept.",
    );
    ui::note("  help: please report it with the message above and the command that led to it.");
    Exit::Bug
}
