//! TOML becomes a checked profile, all mistakes at once, each with its place.
