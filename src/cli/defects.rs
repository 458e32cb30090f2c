//! Checks defects and settings of the lab's shop, before anything is started.

use crate::shop::{self, DefectInfo, defects};
use crate::ui::Failure;

/// Puts switch names in place of ids, or says which name is unknown and what was meant.
pub(crate) fn known(names: &[String]) -> Result<Vec<String>, Failure> {
    names.iter().map(|name| one(name)).collect()
}

/// Says in a sentence why the shop can't be set up like this.
pub(crate) fn fit(
    defects: &[String],
    mut flags: Vec<String>,
    has_provider: bool,
) -> Result<(), Failure> {
    if has_provider {
        // It is started later; that there will be one is all that matters here.
        flags.push("--payments-url=http://127.0.0.1:1".to_owned());
    }
    if !defects.is_empty() {
        flags.push(format!("--defects={}", defects.join(",")));
    }
    shop::check(&flags).map_err(|error| {
        let cure = "Change `[lab]` in the profile; `dupeproof shop --list-strategies` and \
                    `--list-defects` tell what there is.";
        Failure::usage(error.to_string(), cure)
    })
}

fn one(name: &str) -> Result<String, Failure> {
    let same = |info: &&DefectInfo| info.switch == name || info.id.eq_ignore_ascii_case(name);
    if let Some(info) = defects().iter().find(same) {
        return Ok(info.switch.to_owned());
    }
    let nearest = defects()
        .iter()
        .map(|info| (strsim::jaro_winkler(info.switch, name), info.switch))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let cure = match nearest {
        Some((_, switch)) => {
            format!("Did you mean `{switch}`? `dupeproof shop --list-defects` lists all.")
        }
        None => "`dupeproof shop --list-defects` lists all.".to_owned(),
    };
    Err(Failure::usage(format!("the shop has no defect `{name}`"), cure))
}
