//! All reads of PostgreSQL and Redis: baseline, drain, rows.
