//! What pages show. HTML is written by maud, which escapes whatever is not written here; what comes from the report is
//! escaped there.

pub mod change;
pub mod compared;
pub mod frame;
pub mod list;
pub mod new;
pub mod run;
pub mod schedule;
mod trials;

/// The style of pages, beside that of the report.
pub const STYLE: &str = include_str!("page.css");
/// What runs in the browser.
pub const SCRIPT: &str = include_str!("page.js");
/// Two bars, of which one is longer.
pub const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><path fill=\"#0067a8\" d=\"M1 2h14v5H1z\"/>\
                        <path fill=\"#c8500a\" d=\"M1 9h8v5H1z\"/></svg>";
