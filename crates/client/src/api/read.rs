use controller_runtime_scheme::{Object, ObjectKey};

use crate::api::{Api, answer, conversion};
use crate::class::ignore_not_found;
use crate::error::{ClientError, Verb};
use crate::list::{List, Page};
use crate::options::{ListOptions, WatchOptions};
use crate::pager::Pager;
use crate::request::Request;
use crate::watch::WatchStream;

/// How many objects an answer holds when a list is read in pages.
const PAGE: u32 = 500;

impl<K: Object> Api<K> {
    /// Reads one object from the server.
    pub async fn get(&self, key: impl Into<ObjectKey>) -> Result<K, ClientError> {
        self.object(self.about(Verb::Get, key, None)?).await
    }

    /// Reads one object from the server; none when it does not exist.
    pub async fn get_opt(&self, key: impl Into<ObjectKey>) -> Result<Option<K>, ClientError> {
        ignore_not_found(self.get(key).await)
    }

    /// Reads the objects that `options` select. Without a limit everything is read, in pages; when the server forgets
    /// the list between two pages, it is read again in one.
    pub async fn list(&self, options: &ListOptions) -> Result<List<K>, ClientError> {
        let mut page_options = options.clone();
        page_options.limit = options.limit.or(Some(PAGE));
        let mut list: List<K> = self.list_page(&page_options, List::default()).await?;
        while options.limit.is_none() && list.continue_token.is_some() {
            page_options.continue_token = list.continue_token.take();
            page_options.resource_version = None;
            page_options.resource_version_match = None;
            match self.list_page(&page_options, list).await {
                Ok(longer) => list = longer,
                Err(error) if error.is_expired() => return self.list_page(options, List::default()).await,
                Err(error) => return Err(error),
            }
        }
        Ok(list)
    }

    pub(crate) async fn list_page(&self, options: &ListOptions, mut list: List<K>) -> Result<List<K>, ClientError> {
        let request = self.list_request(options)?;
        let page = self.page_of(&request).await?;
        list.items.reserve(page.items.len());
        for item in &page.items {
            list.items.push(self.decode(item).map_err(|source| conversion(&request, source))?);
        }
        list.resource_version = page.resource_version;
        list.continue_token = page.continue_token;
        list.remaining = page.remaining;
        Ok(list)
    }

    /// Reads the objects that `options` select page by page, for lists that are too long to hold at once. `limit` is the
    /// size of a page, 500 where none is given. Unlike [`Api::list`] it goes on when the server forgets the list between
    /// two pages.
    pub fn pager(&self, options: &ListOptions) -> Pager<K> {
        let limit = options.limit.or(Some(PAGE));
        Pager::new(self.clone(), ListOptions { limit, ..options.clone() })
    }

    /// Reads one page and leaves its objects as JSON text, for callers that bear objects which don't fit the type.
    /// Decode them with [`Api::decode`].
    pub async fn page(&self, options: &ListOptions) -> Result<Page, ClientError> {
        self.page_of(&self.list_request(options)?).await
    }

    async fn page_of(&self, request: &Request) -> Result<Page, ClientError> {
        let body = self.transport.fetch(request).await?;
        Page::parse(&body).map_err(|source| answer(request, source))
    }

    fn list_request(&self, options: &ListOptions) -> Result<Request, ClientError> {
        Ok(self.about_all(Verb::List, options.namespace.clone())?.with_list(options))
    }

    /// Starts a watch. The deadline of requests holds for its start, not for its stream.
    pub async fn watch(&self, options: &WatchOptions) -> Result<WatchStream, ClientError> {
        let request = self.about_all(Verb::Watch, options.namespace.clone())?.with_watch(options);
        let response = self.transport.open(&request).await?;
        Ok(WatchStream::new(response.into_body(), request.info))
    }
}
