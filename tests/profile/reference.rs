//! The pages of the reference are what the registry and the description say.
//!
//! `UPDATE_SCHEMAS=1 cargo test --test profile` writes them anew.

use std::path::Path;

use dupeproof::{codes, profile};

fn is_fresh(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(name);
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        let folder = path.parent().expect("a page lies in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(&path, page).expect("the page can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "{name}: UPDATE_SCHEMAS=1 cargo test --test profile");
}

#[test]
fn the_page_of_codes_is_fresh() {
    is_fresh("codes.md", &codes::reference());
}

#[test]
fn the_page_of_profiles_is_fresh() {
    is_fresh("profile.md", &profile::reference());
}

#[test]
fn the_page_of_profiles_names_every_key_and_preset() {
    let page = profile::reference();
    for name in ["per-second", "mutated-share", "absent-or-null", "allow-hosts", "powertools"] {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    for name in ["order-strict", "stripe-v1", "aip-155"] {
        let (_, section) = page.split_once(&format!("\n### `{name}`\n")).expect("a section each");
        let section = section.split("\n### ").next().expect("there is a first part");
        assert!(section.contains("Source: ") && section.contains("\nin-progress = "), "{name}");
    }
}
