//! Label and field selectors: one line each.

use crate::document::text;
use crate::server::{MAPS, ask, query};

pub(super) fn run(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (labels, fields) = text.split_once('\n').unwrap_or((text, ""));
    let path = format!("{MAPS}?{}", query(&[("labelSelector", labels), ("fieldSelector", fields)]));
    ask("GET", &path, &[], b"");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seeds = [
        "a=one,b!=y\nmetadata.name=one",
        "a in (one, two),!c,b\nmetadata.namespace!=default,metadata.name==two",
        "a notin (three),b==x,n>1,n<5\nmetadata.name=a\\,b\\=c\\\\",
        "example.com/a-b.c_d in (),=\n,",
    ];
    seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect()
}
