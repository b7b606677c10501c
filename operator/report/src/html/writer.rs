//! Sections in HTML. maud escapes everything that is not markup written here.

use maud::{Markup, Render, html};

use crate::section::{Block, Section, Span, Text};

/// A section below its title.
pub fn section(section: &Section) -> Markup {
    html! {
        h2 { (section.title) } "\n"
        (blocks(section))
    }
}

/// A section that a reader can fold, and that is folded at first unless `is_open`.
pub fn foldable(section: &Section, is_open: bool) -> Markup {
    html! {
        details open=[is_open.then_some("open")] {
            summary { (section.title) } "\n"
            (blocks(section))
        } "\n"
    }
}

fn blocks(section: &Section) -> Markup {
    html! { @for one in &section.blocks { (block(one)) } }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Verdict(verdict) => html! { p.verdict { (verdict) } "\n" },
        Block::Sentence(text) => html! { p { (text) } "\n" },
        Block::List(items) => html! {
            ul { "\n" @for item in items { li { (item) } "\n" } } "\n"
        },
        Block::Table { caption, table } => table.html(*caption),
        Block::Heading(name) => html! { h3 { (name) } "\n" },
        Block::Guide(_) => html! {},
        Block::Yaml(yaml) => html! { pre { (yaml) } "\n" },
    }
}

impl Render for Text {
    fn render(&self) -> Markup {
        html! {
            @for span in &self.spans {
                @match span {
                    Span::Plain(text) => (text),
                    Span::Strong(text) => b { (text) },
                }
            }
        }
    }
}
