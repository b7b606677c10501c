//! What pages show. HTML is written with maud, which escapes everything that is not markup written
//! here.

pub mod change;
pub mod compared;
pub mod cost;
pub mod frame;
pub mod list;
pub mod new;
pub mod run;
pub mod schedule;
mod trials;

/// The style sheet of pages, in addition to that of the report.
pub const STYLE: &str = include_str!("page.css");
/// The script that runs in the browser.
pub const SCRIPT: &str = include_str!("page.js");
/// The icon: two bars, one longer than the other.
pub const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><path fill=\"#0067a8\" d=\"M1 2h14v5H1z\"/>\
                        <path fill=\"#c8500a\" d=\"M1 9h8v5H1z\"/></svg>";
