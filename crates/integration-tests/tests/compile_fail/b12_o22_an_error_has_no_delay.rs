//! A delay belongs to a success: there is no result that is an error and asks for a delay.

use std::time::Duration;

use controller_runtime_controller::Error;

fn main() {
    let _ = Error::transient("broken").requeue_after(Duration::from_secs(60));
}
