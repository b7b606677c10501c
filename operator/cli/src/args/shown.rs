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

/// An output format of `get`, as for kubectl.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetOutput {
    /// Aligned tables, for people
    Table,
    /// The same, of a list with node, baseline, blocks and what each run does
    Wide,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

impl GetOutput {
    /// The format for programs; `None` for people.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::Table | Self::Wide => None,
            Self::Json => Some(Format::Json),
            Self::Yaml => Some(Format::Yaml),
        }
    }
}
