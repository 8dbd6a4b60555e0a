use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use controller_runtime_ambient::Ambient;
use futures::Stream;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::{Instant, Sleep, sleep_until};

use super::call::{outline, view};
use super::list_options::Selection;
use super::{Call, conversion};
use crate::core::Core;
use crate::metadata::fields;
use crate::pipeline::negotiate::{Encoding, Form};
use crate::pipeline::represent;
use crate::protobuf;
use crate::resource::Resource;
use crate::status::ApiError;
use crate::store::{Event, EventType, Object, Watch};
use crate::table::{self, Table};

/// Time between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);
/// The last bookmark comes this long before the end.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// The frames of one watch: one event each.
#[derive(Debug)]
pub(super) struct WatchStream {
    /// `None` once the stream only has to deliver what is queued.
    watch: Option<Watch>,
    queued: VecDeque<Bytes>,
    encoder: EventEncoder,
    selection: Selection,
    namespace: String,
    timeout: Duration,
    timers: Option<Timers>,
    bookmarks: bool,
    /// Converts events where a webhook has to be asked.
    converter: Option<Arc<Core>>,
    converting: Option<Converting>,
}

/// Events on their way to another version.
struct Converting(BoxFuture<'static, Result<Vec<Arc<Event>>, ApiError>>);

impl fmt::Debug for Converting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Converting")
    }
}

#[derive(Debug)]
struct Timers {
    end: Pin<Box<Sleep>>,
    bookmark: Option<Pin<Box<Sleep>>>,
}

impl WatchStream {
    pub(super) fn new(
        watch: Option<Watch>,
        queued: VecDeque<Bytes>,
        encoder: EventEncoder,
        selection: Selection,
        call: &Call,
        timeout: Duration,
        bookmarks: bool,
    ) -> Self {
        let converter = conversion::asks(&encoder.resource).then(|| Arc::clone(&call.core));
        let namespace = call.namespace.clone();
        let converting = None;
        Self { converter, converting, watch, queued, encoder, selection, namespace, timeout, timers: None, bookmarks }
    }

    fn timers(&mut self) -> &mut Timers {
        let (timeout, bookmarks) = (self.timeout, self.bookmarks);
        self.timers.get_or_insert_with(|| {
            let now = Instant::now();
            let first = BOOKMARK_INTERVAL.min(timeout.saturating_sub(BOOKMARK_BEFORE_END));
            Timers {
                end: Box::pin(sleep_until(now + timeout)),
                bookmark: (bookmarks && !first.is_zero()).then(|| Box::pin(sleep_until(now + first))),
            }
        })
    }

    /// Whether a bookmark is due; sets the time of the next.
    fn bookmark_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let timers = self.timers();
        let end = timers.end.deadline();
        let Some(bookmark) = &mut timers.bookmark else { return false };
        if bookmark.as_mut().poll(cx).is_pending() {
            return false;
        }
        let last = end.checked_sub(BOOKMARK_BEFORE_END).unwrap_or(end);
        let now = bookmark.deadline();
        if now >= last {
            timers.bookmark = None;
        } else {
            bookmark.as_mut().reset((now + BOOKMARK_INTERVAL).min(last));
        }
        true
    }

    fn enqueue(&mut self, event: &Event) {
        if !self.namespace.is_empty() && event.object.key.namespace != self.namespace {
            return;
        }
        let resource = Arc::clone(&self.encoder.resource);
        let selects = |object: &Object| self.selection.is_everything() || self.selection.matches(&resource, object);
        let before = event.previous.as_deref().is_some_and(selects);
        let after = event.kind != EventType::Deleted && selects(&event.object);
        let frame = match (before, after) {
            (false, false) => return,
            (false, true) => self.encoder.stored("ADDED", &event.object),
            (true, true) => self.encoder.stored("MODIFIED", &event.object),
            (true, false) if event.kind == EventType::Deleted => self.encoder.stored("DELETED", &event.object),
            // Who leaves the selection is shown as it was last selected, at the revision of the write.
            (true, false) => {
                let Some(previous) = &event.previous else { return };
                let mut last = view(&resource, previous.value()).into_owned();
                fields::set(&mut last, "resourceVersion", event.revision().to_string());
                self.encoder.value("DELETED", &last)
            }
        };
        self.queued.push_back(frame);
    }
}

impl Stream for WatchStream {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        loop {
            if let Some(frame) = this.queued.pop_front() {
                return Poll::Ready(Some(frame));
            }
            if this.watch.is_some() && this.timers().end.as_mut().poll(cx).is_ready() {
                this.watch = None;
            }
            let Some(watch) = &mut this.watch else { return Poll::Ready(None) };
            if let Some(converting) = &mut this.converting {
                let Poll::Ready(converted) = converting.0.as_mut().poll(cx) else { return Poll::Pending };
                this.converting = None;
                match converted {
                    Ok(events) => events.iter().for_each(|event| this.enqueue(event)),
                    // The client lists again, and is told why it can't.
                    Err(_) => this.watch = None,
                }
                continue;
            }
            match watch.poll_events(cx) {
                Poll::Ready(Ok(events)) => {
                    if let Some(core) = &this.converter {
                        let converted = converted(Arc::clone(core), Arc::clone(&this.encoder.resource), events);
                        this.converting = Some(Converting(Box::pin(converted)));
                        continue;
                    }
                    for event in &*events {
                        this.enqueue(event);
                    }
                    continue;
                }
                // Too slow, or nothing more to come: the client starts again from what it has seen.
                Poll::Ready(Err(_)) => {
                    this.watch = None;
                    continue;
                }
                Poll::Pending => {}
            }
            let seen = watch.cursor();
            if !this.bookmark_is_due(cx) {
                return Poll::Pending;
            }
            this.queued.push_back(this.encoder.bookmark(seen, false));
        }
    }
}

/// Events with their objects in the version of a resource.
async fn converted(
    core: Arc<Core>,
    resource: Arc<Resource>,
    events: Vec<Arc<Event>>,
) -> Result<Vec<Arc<Event>>, ApiError> {
    let mut converted = Vec::with_capacity(events.len());
    for event in events {
        let mut states = vec![Arc::clone(&event.object)];
        states.extend(event.previous.clone());
        let mut states = conversion::seen_all(&core, &resource, states).await?.into_iter();
        let Some(object) = states.next() else { continue };
        converted.push(Arc::new(Event { kind: event.kind, object, previous: states.next() }));
    }
    Ok(converted)
}

/// Writes events in the form that the client accepts.
#[derive(Debug)]
pub(super) struct EventEncoder {
    resource: Arc<Resource>,
    encoding: Encoding,
    form: Form,
    is_beta: bool,
    table: Table,
    /// Whether the columns have been described: only the first event does.
    described: bool,
    ambient: Ambient,
}

impl EventEncoder {
    pub(super) fn new(call: &Call) -> Self {
        Self {
            resource: Arc::clone(&call.resource),
            encoding: call.accept.encoding,
            form: call.accept.form,
            is_beta: call.accept.is_beta,
            table: call.table(),
            described: false,
            ambient: call.core.ambient.clone(),
        }
    }

    /// An event about a stored object.
    pub(super) fn stored(&mut self, kind: &str, object: &Object) -> Bytes {
        match (self.form, self.encoding) {
            (Form::Object, Encoding::Json) => frame(kind, &represent::stored_json(&self.resource, object)),
            (Form::Object, Encoding::Protobuf) => {
                protobuf::watch_frame(kind, &represent::stored_protobuf(&self.resource, object))
            }
            (Form::Object, Encoding::Yaml) => self.value(kind, &view(&self.resource, object.value())),
            (Form::Partial | Form::Table, _) => self.value(kind, &outline(&self.resource, object.value())),
        }
    }

    /// An event about an object that is not stored like this.
    pub(super) fn value(&mut self, kind: &str, object: &Value) -> Bytes {
        match self.form {
            Form::Object => self.frame(kind, object),
            Form::Partial => self.frame(kind, &table::in_version(table::partial(object), self.is_beta)),
            Form::Table => {
                let first = !std::mem::replace(&mut self.described, true);
                let table = self.table.event(object, first, self.ambient.now());
                self.frame(kind, &table::in_version(table, self.is_beta))
            }
        }
    }

    fn frame(&self, kind: &str, object: &Value) -> Bytes {
        match self.encoding {
            Encoding::Protobuf => protobuf::watch_frame(kind, &protobuf::encode(object).unwrap_or_default()),
            Encoding::Json | Encoding::Yaml => frame(kind, &represent::value_json(object)),
        }
    }

    /// A bookmark; `initial` says that the state is complete.
    pub(super) fn bookmark(&mut self, revision: u64, initial: bool) -> Bytes {
        let mut object = json!({
            "kind": self.resource.kind,
            "apiVersion": self.resource.api_version(),
            "metadata": {"resourceVersion": revision.to_string()},
        });
        if initial {
            fields::set(&mut object, "annotations", json!({"k8s.io/initial-events-end": "true"}));
        }
        self.value("BOOKMARK", &object)
    }

    /// An error, after which the stream ends.
    pub(super) fn error(&self, error: &ApiError) -> Bytes {
        self.frame("ERROR", &error.to_value())
    }
}

fn frame(kind: &str, object: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(object.len() + 32);
    frame.put_slice(b"{\"type\":\"");
    frame.put_slice(kind.as_bytes());
    frame.put_slice(b"\",\"object\":");
    frame.put_slice(object);
    frame.put_slice(b"}\n");
    frame.freeze()
}
