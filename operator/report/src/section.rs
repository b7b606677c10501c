//! A report before it is written: sections of paragraphs, lists and tables. External text is in them
//! as it is; each writer ([`crate::markdown`], [`crate::html`]) escapes it in one place.

use crate::table::Table;

/// What stands under a title.
#[derive(Clone, Debug)]
pub struct Section {
    /// The title.
    pub title: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// What the run found, in one sentence that stands out.
    Verdict(String),
    /// Text of a sentence or a few.
    Paragraph(Text),
    /// A list.
    List(Vec<Text>),
    /// A table; only a page shows its caption.
    Table {
        /// The caption.
        caption: Option<&'static str>,
        /// The table.
        table: Table,
    },
    /// The name of what the next blocks are about.
    Heading(String),
    /// How to read the next blocks, in Markdown: our own text, nothing external. A page says at its
    /// end how to read it.
    Guide(&'static str),
    /// A manifest to copy.
    Yaml(String),
}

/// Text with words that stand out.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The pieces, in order.
    pub spans: Vec<Span>,
}

/// A piece of text.
#[derive(Clone, Debug)]
pub enum Span {
    /// Nothing special.
    Plain(String),
    /// Stands out.
    Strong(String),
}

impl Section {
    /// An empty section.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            blocks: vec![],
        }
    }

    /// Adds what the run found.
    pub fn verdict(self, verdict: &str) -> Self {
        self.with(Block::Verdict(verdict.to_owned()))
    }

    /// Adds a paragraph.
    pub fn paragraph(self, text: impl Into<Text>) -> Self {
        self.with(Block::Paragraph(text.into()))
    }

    /// Adds a paragraph for each of `texts`.
    pub fn paragraphs(self, texts: impl IntoIterator<Item = String>) -> Self {
        texts.into_iter().fold(self, Self::paragraph)
    }

    /// Adds a list; nothing without items.
    pub fn list<T: Into<Text>>(self, items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<Text> = items.into_iter().map(Into::into).collect();
        if items.is_empty() {
            return self;
        }
        self.with(Block::List(items))
    }

    /// Adds a table, also one without rows.
    pub fn table(self, table: Table) -> Self {
        let caption = None;
        self.with(Block::Table { caption, table })
    }

    /// Adds a table with a caption.
    pub fn captioned(self, caption: &'static str, table: Table) -> Self {
        self.with(Block::Table {
            caption: Some(caption),
            table,
        })
    }

    /// Adds the name of what the next blocks are about.
    pub fn heading(self, name: &str) -> Self {
        self.with(Block::Heading(name.to_owned()))
    }

    /// Adds how to read the next blocks.
    pub fn guide(self, markdown: &'static str) -> Self {
        self.with(Block::Guide(markdown))
    }

    /// Adds a manifest.
    pub fn yaml(self, text: String) -> Self {
        self.with(Block::Yaml(text))
    }

    /// Adds all blocks of another section.
    pub fn append(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// The section, unless it is empty.
    pub fn if_any(self) -> Option<Self> {
        (!self.blocks.is_empty()).then_some(self)
    }

    fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

impl Text {
    /// Adds text.
    pub fn plain(mut self, text: impl Into<String>) -> Self {
        self.spans.push(Span::Plain(text.into()));
        self
    }

    /// Adds text that stands out.
    pub fn strong(mut self, text: impl Into<String>) -> Self {
        self.spans.push(Span::Strong(text.into()));
        self
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::default().plain(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::default().plain(text)
    }
}
