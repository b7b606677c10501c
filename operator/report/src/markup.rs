//! What maud, which escapes everything that is not markup written in its macro, does not do for
//! HTML that is XML too: empty elements, and characters that XML does not allow.

use maud::{Markup, PreEscaped, Render as _};

use crate::table::ascii;

/// `<name attribute="value"/>`. Other elements have a closing tag; this is 6 bytes shorter for a
/// path, and a page has thousands of them.
pub fn empty_element(name: &'static str, attributes: &[(&'static str, &str)]) -> Markup {
    let mut element = format!("<{name}");
    for (attribute, value) in attributes {
        element.extend([" ", attribute, "=\""]);
        value.render_to(&mut element);
        element.push('"');
    }
    PreEscaped(element + "/>")
}

/// The same with characters outside printable ASCII escaped, as in all other text that people see.
pub fn printable(markup: &Markup) -> Markup {
    let lines: Vec<String> = markup.0.split('\n').map(ascii).collect();
    PreEscaped(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn text_from_outside_means_only_itself() {
        let text = "<script>\"a\" & b\u{0}\u{202e}\n\u{e9}";
        let shown = printable(&html! { p { (text) } (empty_element("path", &[("d", text)])) });
        let escaped = "&lt;script&gt;&quot;a&quot; &amp; b\\u{0}\\u{202e}\n\\u{e9}";
        assert_eq!(shown.0, format!("<p>{escaped}</p><path d=\"{escaped}\"/>"));
    }
}
