use super::modify::modify;
use super::{Call, Reply, WriteOptions};
use crate::metadata::owners;
use crate::pipeline::decode;
use crate::status::ApiError;

/// Replaces an object, or what one of its subresources covers.
pub(super) async fn update(call: &Call) -> Result<Reply, ApiError> {
    let options = WriteOptions::of(call, "UpdateOptions")?;
    let mut object = decode::object(call, options.validation)?;
    decode::check_place(call, &mut object)?;
    owners::drop_duplicates(call, &mut object, false);
    super::create::set_defaults(call, &mut object);
    let may_create = call.subresource.is_none() && call.resource.strategy.create_on_update();
    modify(call, &options, may_create, |live, versions| {
        let mut new = object.clone();
        super::managed::tracking(call, &options).track(live, &mut new, versions);
        Ok(new)
    })
    .await
}
