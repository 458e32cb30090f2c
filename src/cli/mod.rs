//! One file per subcommand; each reads as the story of that command.

pub mod hidden;
