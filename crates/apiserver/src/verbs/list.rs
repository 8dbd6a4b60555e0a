use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::list_options::{ListOptions, RevisionMatch, revision_error};
use super::{Call, Items, Reply, conversion};
use crate::status::ApiError;
use crate::store::token::ContinueToken;
use crate::store::{Page, Range, RevisionError};

/// Lists objects: a consistent snapshot, in pages if asked for.
pub(super) async fn list(call: &Call) -> Result<Reply, ApiError> {
    Box::pin(listed(call, &ListOptions::of(call, false)?)).await.map(Reply::List)
}

/// The objects that a list with these options shows, and the list's metadata.
pub(super) async fn listed(call: &Call, options: &ListOptions) -> Result<Items, ApiError> {
    let token = token(options)?;
    let (revision, after) = match &token {
        Some(token) => (token.revision, Some(&token.after)),
        None => (start(call, options)?, None),
    };
    // A webhook must convert objects before anybody can tell whether they are selected.
    let selects_late = conversion::asks(&call.resource) && !options.selection.is_everything();
    // What may come from a cache comes whole.
    let limit = if options.revision == Some(0) { 0 } else { options.limit };
    let range = Range {
        namespace: Some(call.namespace.as_str()).filter(|namespace| !namespace.is_empty()),
        after,
        revision,
        limit: if selects_late { 0 } else { limit },
        // With selectors nobody is told.
        counts_rest: options.selection.is_everything(),
    };
    let selection = &options.selection;
    let listed = call
        .core
        .store
        .list(&call.collection(), &range, |object| selects_late || selection.matches(&call.resource, object));
    let mut page = listed.map_err(|error| match token {
        Some(token) => continue_error(error, token),
        None => revision_error(error),
    })?;
    if revision.is_some() {
        page.objects = conversion::read_today(&call.resource, page.objects);
    }
    page.objects = conversion::seen_all(&call.core, &call.resource, page.objects).await?;
    if selects_late {
        page.objects.retain(|object| selection.matches(&call.resource, object));
        if limit > 0 {
            page.remaining = page.objects.len().saturating_sub(limit);
            page.objects.truncate(limit);
        }
    }
    Ok(items(page, selection.is_everything()))
}

/// The revision of a first page; `None` is the newest.
fn start(call: &Call, options: &ListOptions) -> Result<Option<u64>, ApiError> {
    let Some(revision) = options.revision.filter(|revision| *revision > 0) else { return Ok(None) };
    let exact = options.revision_match == RevisionMatch::Exact
        || (options.revision_match == RevisionMatch::Unset && options.limit > 0);
    if exact {
        return Ok(Some(revision));
    }
    let current = call.core.store.revision();
    if revision > current {
        return Err(revision_error(RevisionError::TooNew { wanted: revision, current }));
    }
    Ok(None)
}

fn token(options: &ListOptions) -> Result<Option<ContinueToken>, ApiError> {
    if options.continue_token.is_empty() {
        return Ok(None);
    }
    let token = ContinueToken::decode(&options.continue_token).map_err(|error| {
        ApiError::bad_request(format!("invalid continue token: continue key is not valid: {error}"))
    })?;
    if options.revision.is_some_and(|revision| revision > 0) {
        return Err(ApiError::bad_request("specifying resource version is not allowed when using continue"));
    }
    Ok(Some(token))
}

/// An expired token comes with one that goes on, on the newest state.
fn continue_error(error: RevisionError, token: ContinueToken) -> ApiError {
    match error {
        RevisionError::TooOld { .. } => ApiError::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list \
             without the continue parameter, or use the continue token in this response to retrieve the remainder of \
             the results. Continuing with the provided token results in an inconsistent list - objects that were \
             created, modified, or deleted between the time the first chunk was returned and now may show up in the \
             list.",
        )
        .with_continue(ContinueToken { revision: None, after: token.after }.encode()),
        RevisionError::TooNew { .. } => revision_error(error),
    }
}

fn items(page: Page, everything: bool) -> Items {
    let Page { revision, objects, remaining } = page;
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), Value::String(revision.to_string()));
    if let Some(last) = objects.last().filter(|_| remaining > 0) {
        let next = ContinueToken { revision: Some(revision), after: last.key.clone() };
        metadata.insert("continue".to_owned(), Value::String(next.encode()));
        // With selectors nobody knows how many of the rest match.
        if everything {
            metadata.insert("remainingItemCount".to_owned(), json!(remaining));
        }
    }
    Items { objects: objects.into_iter().collect::<Vec<Arc<_>>>(), metadata }
}
