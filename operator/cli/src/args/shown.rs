//! How something is printed.

use clap::ValueEnum;

use crate::document::Format;

/// How something is printed.
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
    /// How programs read it; `None` for people.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Table => None,
            Self::Json => Some(Format::Json),
            Self::Yaml => Some(Format::Yaml),
        }
    }
}
