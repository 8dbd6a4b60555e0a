use http::StatusCode;

use super::{Call, Reply, WriteOptions, managed};
use crate::access::reviews;
use crate::admission::{self, Operation};
use crate::pipeline::decode;
use crate::status::ApiError;

/// Answers a review: something that is created to be answered, and not stored.
pub(super) async fn review(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "CreateOptions")?;
    let mut review = decode::object(call, options.validation)?;
    decode::check_place(call, &mut review)?;
    managed::track_new(call, &mut review, &options).await;
    admission::mutate(call, Operation::Create, &mut review, None, &options).await?;
    admission::validate(call, Operation::Create, &review, None, &options).await?;
    reviews::answer(call, review).map(|answer| Reply::Made(StatusCode::CREATED, answer))
}
