//! Rows and history become findings. Pure functions.
