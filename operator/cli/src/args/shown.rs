//! Output formats.

use clap::ValueEnum;

use crate::document::Format;

/// An output format.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Aligned tables, for people
    Table,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

impl Shown {
    /// The format for programs; `None` for people.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Table => None,
            Self::Json => Some(Format::Json),
            Self::Yaml => Some(Format::Yaml),
        }
    }
}
