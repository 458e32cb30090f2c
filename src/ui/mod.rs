//! The only room that writes to the terminal.
