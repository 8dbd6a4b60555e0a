use std::io::Write;

/// Says, also in runs that capture the output of tests, that a test did not run and why.
pub fn skip(test: &str, reason: &str) {
    // The test runner captures what the print macros write, and only that.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}
