//! The dead man's process that ends what a killed dupeproof leaves behind.
