use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Objects as of one version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct List<K> {
    /// The objects, in the server's order: by namespace, then name.
    pub items: Vec<K>,
    /// The version that the list shows; a watch can start from it.
    pub resource_version: String,
    /// Where the next page starts, when the list was limited and there is more.
    pub continue_token: Option<String>,
    /// About how many objects the next pages hold, when the server says.
    pub remaining: Option<u64>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self { items: Vec::new(), resource_version: String::new(), continue_token: None, remaining: None }
    }
}

impl<K> IntoIterator for List<K> {
    type Item = K;
    type IntoIter = std::vec::IntoIter<K>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

/// One page of a list with its objects still as JSON text, so that one that can't be decoded doesn't spoil the rest.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Page {
    /// The text of each object. They share the page's memory.
    pub items: Vec<Bytes>,
    /// The version that the list shows.
    pub resource_version: String,
    /// Where the next page starts, if there is one.
    pub continue_token: Option<String>,
    /// About how many objects the next pages hold, when the server says.
    pub remaining: Option<u64>,
}

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(default)]
    metadata: RawMeta,
    /// Null counts as empty; an answer without it isn't a list, and must not be taken for one of nothing.
    #[serde(borrow, deserialize_with = "Deserialize::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawMeta {
    resource_version: String,
    r#continue: String,
    remaining_item_count: Option<u64>,
}

impl Page {
    pub(crate) fn parse(body: &Bytes) -> Result<Self, serde_json::Error> {
        let raw: RawPage<'_> = serde_json::from_slice(body)?;
        Ok(Self {
            items: raw.items.into_iter().flatten().map(|item| body.slice_ref(item.get().as_bytes())).collect(),
            resource_version: raw.metadata.resource_version,
            continue_token: Some(raw.metadata.r#continue).filter(|token| !token.is_empty()),
            remaining: raw.metadata.remaining_item_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::Page;

    #[test]
    fn a_page_keeps_the_text_of_its_objects() {
        let body = Bytes::from_static(
            br#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"9","continue":"c","remainingItemCount":3},
                "items":[{"metadata":{"name":"a"}}, {"metadata":{"name":7}}]}"#,
        );
        let page = Page::parse(&body).unwrap();
        assert_eq!(page.items, [&br#"{"metadata":{"name":"a"}}"#[..], &br#"{"metadata":{"name":7}}"#[..]]);
        assert_eq!((page.resource_version.as_str(), page.continue_token.as_deref()), ("9", Some("c")));
        assert_eq!(page.remaining, Some(3));

        let empty = Page::parse(&Bytes::from_static(br#"{"metadata":{"resourceVersion":"1"},"items":null}"#)).unwrap();
        assert!(empty.items.is_empty() && empty.continue_token.is_none());
    }

    #[test]
    fn what_is_no_list_is_not_an_empty_one() {
        for body in [&b"{}"[..], br#"{"kind":"Status","metadata":{},"status":"Success"}"#] {
            assert!(Page::parse(&Bytes::from_static(body)).is_err());
        }
    }
}
