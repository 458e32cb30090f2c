//! Ids, intents, attempts, outcomes, and the journal on disk.
