//! The crates' examples that need a server, each run as its user would.

use integration_tests::{Example, Fixture};

/// Runs the example against a server of its own; it must succeed and print `expected`, the fixture's namespace as
/// `<namespace>`.
async fn check(package: &str, example: &str, words: &[&str], expected: &str) {
    let fixture = Fixture::start(&format!("example-{}", example.replace('_', "-"))).await;
    let printed = Example::of(&fixture, package, example).await.run(words).await;
    assert_eq!(printed.replace(fixture.namespace(), "<namespace>").trim(), expected.trim(), "{package}: {example}");
    fixture.stop().await;
}

#[tokio::test]
async fn client_three_views() {
    let expected = "\
typed: <namespace>/three-views has color=green
unstructured: its size is 3
metadata only: its label app is three-views
applied twice: still one change
deleted, and then there is none";
    check("controller-runtime-client", "three_views", &[], expected).await;
}

#[tokio::test]
async fn manager_whole_program() {
    let expected = "\
ready: its cache is synced
reconciled: <namespace>/whole-program
stopped: cancelled, 0 parts were late";
    check("controller-runtime-manager", "whole_program", &[], expected).await;
}

#[tokio::test]
async fn cache_shelves() {
    let expected = "\
new: compilers
new: grammar
new: gears
languages: compilers, grammar
languages and machines: compilers
languages: compilers, gears
left: 0";
    check("controller-runtime-cache", "shelves", &[], expected).await;
}

#[tokio::test]
async fn controller_mirror() {
    let expected = "\
copied: {\"color\": \"green\"}
copied again: {\"color\": \"green\"}";
    check("controller-runtime-controller", "mirror", &[], expected).await;
}

#[tokio::test]
async fn controller_channel() {
    let expected = "\
hello ada, at attempt 2
hello grace, at attempt 2";
    check("controller-runtime-controller", "channel", &[], expected).await;
}
