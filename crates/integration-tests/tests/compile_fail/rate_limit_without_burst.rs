//! A rate limit has two mandatory parts.

use controller_runtime_client::RateLimit;

fn main() {
    let _limit = RateLimit::builder().per_second(10).build();
}
