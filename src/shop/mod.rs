//! The reference order service. A stranger: imports nothing of the other rooms.
