//! The codecs of http against anything: see `dupeproof_fuzz`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dupeproof_fuzz::http(bytes));
