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
        Block::Paragraph(text) => html! { p { (text) } "\n" },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_means_only_itself() {
        let hostile = Section::new("<h1>")
            .verdict("<i>")
            .paragraph(Text::from("a < ").strong("<b>"))
            .list(["</li>"])
            .heading("</h3>")
            .guide("*ours*")
            .yaml("</pre>".to_owned());
        assert_eq!(
            section(&hostile).0,
            "<h2>&lt;h1&gt;</h2>\n<p class=\"verdict\">&lt;i&gt;</p>\n<p>a &lt; <b>&lt;b&gt;</b></p>\n\
             <ul>\n<li>&lt;/li&gt;</li>\n</ul>\n<h3>&lt;/h3&gt;</h3>\n<pre>&lt;/pre&gt;</pre>\n"
        );
        assert!(
            foldable(&hostile, false)
                .0
                .starts_with("<details><summary>&lt;h1&gt;</summary>\n<p")
        );
    }
}
