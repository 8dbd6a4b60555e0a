//! A short run of every target, always with the same inputs. `cargo xtask fuzz` runs longer, with others.

use controller_runtime_fuzz::{TARGETS, drive};

fn check(name: &str, count: usize) {
    let target = TARGETS.iter().find(|target| target.name == name);
    drive(target.unwrap_or_else(|| panic!("no target {name}")), 1, count);
}

macro_rules! smoke {
    ($($name:ident: $count:expr),* $(,)?) => {
        $(#[test] fn $name() { check(stringify!($name), $count); })*

        #[test]
        fn every_target_is_here() {
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}

smoke! {
    apply: 1000,
    cel: 1000,
    continue_token: 1000,
    json_merge: 5000,
    json_patch: 1000,
    protobuf: 500,
    schema: 2000,
    selector: 1000,
    strategic_merge: 2000,
}
