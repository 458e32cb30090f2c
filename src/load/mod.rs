//! Intents become requests, requests become bursts, replies become outcomes.
