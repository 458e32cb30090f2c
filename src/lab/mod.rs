//! The embedded default: a private PostgreSQL, a private Redis, and instances of the shop.
