use std::collections::BTreeSet;

use controller_runtime_scheme::{Object, ObjectKey};

use crate::api::Api;
use crate::error::ClientError;
use crate::list::List;
use crate::options::ListOptions;

/// How often a list is begun again without getting any further.
const RESTARTS: u32 = 3;

/// Reads a long list page by page; see [`Api::pager`].
///
/// Each page is as of the list's version, until the server forgets that one (`410 Expired`, after about five minutes).
/// Then the pager goes on: from the token that the server gives for continuing with its newest version, or, without
/// one, from the start. What was handed out is not handed out again; objects that were made or deleted meanwhile may
/// or may not be among the rest.
#[derive(Debug)]
pub struct Pager<K: Object> {
    api: Api<K>,
    /// The next page's request; none after the last page.
    next: Option<ListOptions>,
    /// The first page's request.
    first: ListOptions,
    handed_out: BTreeSet<ObjectKey>,
    restarts: u32,
}

impl<K: Object> Pager<K> {
    pub(crate) fn new(api: Api<K>, first: ListOptions) -> Self {
        Self { api, next: Some(first.clone()), first, handed_out: BTreeSet::new(), restarts: 0 }
    }

    /// The next page; none after the last one. An empty list has one page.
    ///
    /// Cancel safe: a page whose future was dropped comes with the next call. After an error the same page is asked
    /// for again.
    pub async fn next(&mut self) -> Result<Option<List<K>>, ClientError> {
        loop {
            let Some(options) = &self.next else { return Ok(None) };
            match self.api.list_page(options, List::default()).await {
                Ok(mut page) => {
                    self.next = page.continue_token.clone().map(|token| self.from(token));
                    page.items.retain(|object| self.handed_out.insert(ObjectKey::of(object)));
                    if !page.items.is_empty() {
                        self.restarts = 0;
                    } else if self.next.is_some() {
                        continue;
                    }
                    return Ok(Some(page));
                }
                Err(error) if error.is_expired() && options.continue_token.is_some() && self.restarts < RESTARTS => {
                    self.restarts += 1;
                    self.next = Some(match token_in(&error) {
                        Some(token) => self.from(token),
                        None => ListOptions { resource_version: None, ..self.first.clone() },
                    });
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The request that goes on from `token`, which says the version, too.
    fn from(&self, token: String) -> ListOptions {
        ListOptions {
            continue_token: Some(token),
            resource_version: None,
            resource_version_match: None,
            ..self.first.clone()
        }
    }
}

/// The token for going on with the newest version, which the answer "expired" brings along.
fn token_in(error: &ClientError) -> Option<String> {
    let metadata = error.status()?.metadata.as_ref()?;
    metadata.continue_.clone().filter(|token| !token.is_empty())
}
