//! The wire. Its codecs: any cut of the bytes gives the same frames and the same bytes, against other
//! people's decoders and against what real drivers and servers say to each other. Its proxies: nobody
//! notices them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like the tests themselves")]

mod armed;
mod clients;
mod cuts;
mod driver_steps;
mod drivers;
mod encryption;
mod ends;
mod holding;
mod http_frames;
mod http_steps;
mod lab;
mod links;
mod passing;
mod postgres_frames;
mod postgres_meaning;
mod postgres_messages;
mod postgres_model;
mod postgres_peer;
mod postgres_steps;
mod recorded_postgres;
mod recorded_redis;
mod redis_frames;
mod redis_meaning;
mod redis_steps;
mod relay;
mod rule_crowd;
mod rule_cuts;
mod rule_drivers;
mod rule_full;
mod rule_garbage;
mod rule_postgres;
mod rule_redis;
mod rule_resent;
mod rule_units;
mod shop;
mod tls;
mod tokio_postgres;
mod watched;
