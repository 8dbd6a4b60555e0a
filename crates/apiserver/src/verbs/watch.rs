use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::list_options::ListOptions;
use super::watch_stream::{EventEncoder, WatchStream};
use super::{Call, Reply, conversion};
use crate::body::Body;
use crate::status::ApiError;
use crate::store::{Object, Range, RevisionError, Watch};

/// Watches without `timeoutSeconds` end after this time at least and twice as long at most.
const MIN_TIMEOUT_SECONDS: u64 = 1800;

/// Streams what happens to objects, from a revision or from the state that they are in.
pub(super) async fn watch(call: &Call) -> Result<Reply, ApiError> {
    let options = ListOptions::of(call, true)?;
    let mut encoder = EventEncoder::new(call);
    let (events, watch) = Box::pin(start(call, &options, &mut encoder)).await?;
    let seconds = options
        .timeout_seconds
        .filter(|seconds| *seconds > 0)
        .unwrap_or_else(|| MIN_TIMEOUT_SECONDS + call.core.ambient.random() % MIN_TIMEOUT_SECONDS);
    let stream = WatchStream::new(
        watch,
        events,
        encoder,
        options.selection,
        call,
        Duration::from_secs(seconds),
        options.bookmarks,
    );
    Ok(Reply::Watch(Body::stream(stream)))
}

/// The first events and the watch that follows them; without a watch the stream ends after the events.
async fn start(
    call: &Call,
    options: &ListOptions,
    encoder: &mut EventEncoder,
) -> Result<(VecDeque<Bytes>, Option<Watch>), ApiError> {
    let mut events = VecDeque::new();
    let revision = options.revision.unwrap_or_default();
    let wants_state = options.send_initial_events.unwrap_or(revision == 0);
    let from = if wants_state {
        let current = call.core.store.revision();
        if revision > current {
            return Err(ApiError::revision_too_large(revision, current));
        }
        let (objects, revision) = state(call, options).await?;
        events.extend(objects.iter().map(|object| encoder.stored("ADDED", object)));
        if options.send_initial_events == Some(true) && options.bookmarks {
            events.push_back(encoder.bookmark(revision, true));
        }
        revision
    } else if revision == 0 {
        call.core.store.revision()
    } else {
        revision
    };
    match call.core.store.watch(Some(&call.collection()), from) {
        Ok(watch) => Ok((events, Some(watch))),
        Err(RevisionError::TooOld { wanted, oldest }) => {
            let error = ApiError::expired(format!("too old resource version: {wanted} ({oldest})"));
            events.push_back(encoder.error(&error));
            Ok((events, None))
        }
        Err(RevisionError::TooNew { wanted, current }) => Err(ApiError::revision_too_large(wanted, current)),
    }
}

async fn state(call: &Call, options: &ListOptions) -> Result<(Vec<Arc<Object>>, u64), ApiError> {
    let range = Range { namespace: Some(call.namespace.as_str()).filter(|one| !one.is_empty()), ..Range::default() };
    let selection = &options.selection;
    let page = call
        .core
        .store
        .list(&call.collection(), &range, |object| {
            conversion::asks(&call.resource) || selection.matches(&call.resource, object)
        })
        .map_err(super::list_options::revision_error)?;
    let mut objects = conversion::seen_all(&call.core, &call.resource, page.objects).await?;
    if conversion::asks(&call.resource) {
        objects.retain(|object| selection.matches(&call.resource, object));
    }
    Ok((objects, page.revision))
}
