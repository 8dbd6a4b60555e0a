//! What the types exclude: programs that must not compile, each with what the compiler says about it.
//!
//! A case is a file in `compile_fail` with a `.stderr` beside it. `TRYBUILD=overwrite cargo test -p integration-tests
//! --test compile_fail` writes the messages anew, and `-- trybuild=NAME` at its end does so for one case.

#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
