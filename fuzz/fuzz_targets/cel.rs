#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| controller_runtime_fuzz::run("cel", data));
