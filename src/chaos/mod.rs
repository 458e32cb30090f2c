//! Acts on processes of the target: pause and resume, read back.
