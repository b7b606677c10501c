//! The schema that stored documents name. One of another schema is refused, because its numbers may
//! mean something else.

/// Documents have another schema than the one that this version reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema is {found}, and this version reads {read}")]
pub struct OtherSchema {
    /// The schema that they name.
    pub found: String,
    /// The schema that is read.
    pub read: &'static str,
}

/// Returns an error unless `found` is the schema that is `read`.
pub fn check(found: &str, read: &'static str) -> Result<(), OtherSchema> {
    if found == read {
        return Ok(());
    }
    let found = found.to_owned();
    Err(OtherSchema { found, read })
}
