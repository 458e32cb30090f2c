//! `dupeproof payments`: the payment provider stub alone.

use clap::Args;

use crate::payments::{self, PaymentsArgs};
use crate::ui::{Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct PaymentsCommand {
    #[command(flatten)]
    payments: PaymentsArgs,
}

pub(crate) async fn payments(command: PaymentsCommand) -> Result<Exit, Failure> {
    match payments::serve(command.payments).await {
        Ok(()) => Ok(Exit::Passed),
        Err(error) if error.is_mistake_of_the_caller() => Err(failure(&error)),
        Err(error) => Err(Failure { exit: Exit::Environment, ..failure(&error) }),
    }
}

fn failure(error: &payments::PaymentsError) -> Failure {
    let mut failure = Failure::usage(error.to_string(), "See `dupeproof payments --help`.");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        failure.because.push(cause.to_string());
        source = cause.source();
    }
    failure
}
