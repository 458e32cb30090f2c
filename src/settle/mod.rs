//! From the end of the load to two audits: heal, drain, audit A0, resolve, audit A1.
