//! Lists what tenants may create as much of as they like, a page at a time: memory holds one page of it.

use std::fmt::Debug;

use kube::Api;
use kube::api::ListParams;
use serde::de::DeserializeOwned;

/// Objects per page: etcd takes 1.5 MB of each.
const PAGE: u32 = 16;

/// Selects pods that have not ended.
pub const NOT_ENDED: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// A list, of which the rest was not read yet.
pub struct Pages<K> {
    api: Api<K>,
    /// Parameters of the next page; `None` after the last one.
    next: Option<ListParams>,
}

impl<K: Clone + DeserializeOwned + Debug> Pages<K> {
    /// What these parameters select.
    pub fn new(api: Api<K>, params: ListParams) -> Self {
        Self {
            api,
            next: Some(params.limit(PAGE)),
        }
    }

    /// Reads the next page; `None` after the last one.
    pub async fn page(&mut self) -> kube::Result<Option<Vec<K>>> {
        let Some(params) = self.next.take() else {
            return Ok(None);
        };
        let page = self.api.list(&params).await?;
        let more = page.metadata.continue_.filter(|token| !token.is_empty());
        self.next = more.map(|token| params.continue_token(&token));
        Ok(Some(page.items))
    }
}
