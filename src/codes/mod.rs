//! The registry of findings and errors: id, slug, title, text, cure.
