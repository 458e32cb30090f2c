//! `dupeproof schema WHICH`: the JSON Schemas, for editors and for readers of results.

use clap::{Args, ValueEnum};

use crate::ui::{self, Exit, Failure};
use crate::{profile, report};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Of which file
    #[arg(value_enum, default_value_t = Which::Profile)]
    which: Which,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Profiles, as an editor wants it
    Profile,
    /// result.json
    Result,
}

pub(crate) fn schema(args: &SchemaArgs) -> Result<Exit, Failure> {
    let schema = match args.which {
        Which::Profile => profile::schema(),
        Which::Result => report::result_schema(),
    };
    ui::result(&format!("{schema:#}\n"));
    Ok(Exit::Passed)
}
