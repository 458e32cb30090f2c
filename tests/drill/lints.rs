//! One request is enough for a lint: each defect that shows on the wires is named by a drill that asks
//! once, and a correct shop has none, however it is built.

use crate::checks::Drilled;
use crate::rig::Rig;

/// Names of all findings of a drill of single requests, after it passed.
fn found(lab: &str, users: u32) -> (Vec<String>, Drilled) {
    let rig = Rig::new();
    let profile = format!(
        "seed = 42\n[lab]\n{lab}\n[[phase]]\nname = 'one'\nburst.sequential = {{ users = {users} }}\n"
    );
    let drilled = Drilled::run(&rig, &profile, 0);
    let codes = drilled.findings("protected").into_iter().map(str::to_owned).collect();
    (codes, drilled)
}

/// A drill that names just these lints, the first of them with these moments in its story.
fn names(lab: &str, users: u32, lints: &[&str], story: &[&str]) {
    let (codes, drilled) = found(lab, users);
    assert_eq!(codes, lints, "{lab}\n{}", drilled.text);
    let lint = drilled.finding(lints[0], "protected");
    let scenes = lint["story"]["scenes"].as_array().expect("it is told");
    let told: Vec<_> = scenes.iter().filter_map(|scene| scene["what"].as_str()).collect();
    let mut rest = told.iter();
    for moment in story {
        assert!(rest.any(|what| what.starts_with(moment)), "{moment} in {told:#?}");
    }
    assert!(told.iter().all(|what| !what.contains("observed")), "{told:#?}");
    assert!(drilled.text.contains(&format!("protected[{}]: ", lints[0])), "{}", drilled.text);
    assert!(drilled.text.contains(" protected, in "), "{}", drilled.text);
    assert!(
        drilled.text.contains(&format!("dupeproof explain {}\n", lints[0])),
        "{}",
        drilled.text
    );
}

#[test]
fn an_unlock_before_the_commit_is_l1() {
    let story = ["attempt 1 sent", "EVAL lock lock:stock:", "EVAL unlock lock:stock:", "COMMIT"];
    names("defects = ['unlock-before-commit']", 1, &["L1"], &story);
}

#[test]
fn an_unlock_by_name_is_l2() {
    let story = ["EVAL lock lock:stock:", "DEL lock:stock:"];
    names("defects = ['unlock-plain-del']", 1, &["L2"], &story);
}

#[test]
fn an_end_that_comes_later_is_l4() {
    let story = ["SETNX lock:stock:", "PEXPIRE lock:stock:"];
    names("defects = ['setnx-then-pexpire']", 1, &["L4"], &story);
}

#[test]
fn one_token_for_two_requests_is_l5() {
    let story = ["EVAL lock lock:stock:", "EVAL lock lock:stock:"];
    names("defects = ['constant-token']", 2, &["L5"], &story);
}

#[test]
fn a_renewal_by_name_is_l6() {
    let story = ["EVAL lock lock:stock:", "PEXPIRE lock:stock:"];
    let lab = "defects = ['renew-without-token']\nlease = '300ms'\nwork-time = '250ms'";
    names(lab, 1, &["L6"], &story);
}

#[test]
fn a_value_that_is_written_back_is_l8() {
    let story = ["SELECT ... FROM product_stock", "UPDATE product_stock"];
    names("defects = ['rmw-stock']", 1, &["L8"], &story);
}

#[test]
fn a_row_lock_outside_of_a_transaction_is_l9() {
    let lab = "defects = ['for-update-outside-tx']";
    names(lab, 1, &["L8", "L9"], &["SELECT ... FROM product_stock", "UPDATE product_stock"]);
}

#[test]
fn a_correct_shop_has_no_lint_however_it_is_built() {
    for lab in [
        "stock = 'version'",
        "stock = 'select-for-update'",
        "lock = 'postgres-advisory'",
        "lock = 'none'\nstock = 'conditional'",
        "lease-kind = 'reentrant'\nlease = '300ms'\nwork-time = '250ms'",
    ] {
        let (codes, drilled) = found(lab, 1);
        assert_eq!(codes, [""; 0], "{lab}\n{}", drilled.text);
        assert_eq!(drilled.gate("L1"), "held", "{lab}\n{}", drilled.text);
    }
}
