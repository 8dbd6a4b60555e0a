//! Which key comes when several are ready.

use controller_runtime_workqueue::{Add, LOW_PRIORITY};
use tokio::time::advance;

use crate::{drain, ms, queue, take};

#[tokio::test(start_paused = true)]
async fn b1_two_adds_before_a_get_are_one() {
    let queue = queue();
    queue.add("a");
    queue.add("a");
    queue.add_with("a", Add::now().priority(3));
    queue.add_after("a", ms(1));
    queue.add_rate_limited("a");
    assert_eq!(queue.len(), 1);
    assert_eq!(drain(&queue), ["a"]);
    advance(ms(100)).await;
    assert_eq!(drain(&queue), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn b3_equal_priorities_come_first_in_first_out() {
    let queue = queue();
    for key in ["c", "a", "b"] {
        queue.add(key);
    }
    queue.add("c");
    for key in ["z", "y"] {
        queue.add_with(key, Add::now().priority(LOW_PRIORITY));
    }
    assert_eq!(drain(&queue), ["c", "a", "b", "z", "y"]);
}

#[tokio::test(start_paused = true)]
async fn b4_a_priority_only_rises_while_queued() {
    let queue = queue();
    queue.add_with("low", Add::now().priority(-1));
    queue.add("a");
    queue.add_with("a", Add::now().priority(-5));
    queue.add("b");
    queue.add_with("b", Add::now().priority(7));
    queue.add_with("waits", Add::after(ms(1)).priority(9));
    queue.add_with("waits", Add::after(ms(1)).priority(2));
    assert_eq!(queue.snapshot().depth, [(-1, 1), (0, 1), (7, 1)]);
    assert_eq!(take(&queue).priority(), 7);
    assert_eq!(drain(&queue), ["a", "low"]);
    queue.add_with("b", Add::now().priority(-5));
    assert_eq!(take(&queue).priority(), -5, "what was delivered does not hold it up");
    advance(ms(1)).await;
    assert_eq!(take(&queue).priority(), 9);
}

#[tokio::test(start_paused = true)]
async fn b4_a_priority_rises_while_a_worker_has_the_key() {
    let queue = queue();
    queue.add("a");
    let item = take(&queue);
    queue.add_with("a", Add::now().priority(2));
    queue.add_with("a", Add::now().priority(1));
    item.done();
    assert_eq!(take(&queue).priority(), 2);
}

#[tokio::test(start_paused = true)]
async fn b5_a_raised_key_comes_after_those_that_had_the_priority_before() {
    let queue = queue();
    queue.add("foo");
    advance(ms(1)).await;
    queue.add_with("bar", Add::now().priority(1));
    advance(ms(1)).await;
    queue.add_with("foo", Add::now().priority(1));
    queue.add_with("baz", Add::now().priority(1));
    assert_eq!(drain(&queue), ["bar", "foo", "baz"]);
}

#[tokio::test(start_paused = true)]
async fn b8_a_high_priority_that_becomes_ready_goes_first() {
    let queue = queue();
    queue.add_with("high", Add::after(ms(1000)).priority(1));
    queue.add("low");
    queue.add("low too");
    assert_eq!(*take(&queue), "low");
    advance(ms(1000)).await;
    assert_eq!(drain(&queue), ["high", "low too"]);
}

#[tokio::test(start_paused = true)]
async fn b9_the_order_is_that_of_ready_times_not_of_adds() {
    let queue = queue();
    queue.add_after("late", ms(30));
    queue.add_after("early", ms(10));
    queue.add_after("early too", ms(10));
    advance(ms(20)).await;
    queue.add("now");
    advance(ms(20)).await;
    assert_eq!(drain(&queue), ["early", "early too", "now", "late"]);
}

#[tokio::test(start_paused = true)]
async fn many_raises_keep_the_order_and_the_count() {
    let queue = queue();
    queue.add_with("stays", Add::now().priority(-2));
    for _ in 0..5000 {
        queue.add_with("a", Add::now().priority(-2));
        queue.add_with("a", Add::now().priority(-1));
        assert_eq!((queue.snapshot().depth, *take(&queue)), (vec![(-2, 1), (-1, 1)], "a"));
    }
    assert_eq!(drain(&queue), ["stays"]);
}
