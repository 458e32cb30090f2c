//! A run becomes text, JSON and evidence files. Returns text, never prints.
