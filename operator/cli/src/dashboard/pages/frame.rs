//! The frame that all pages share.

use maud::{DOCTYPE, Markup, html};

use crate::dashboard::state::Dashboard;
use crate::dashboard::stream::Regions;

/// A page; `events` is the path of the stream with its updates.
pub fn page(dashboard: &Dashboard, title: &str, events: Option<&str>, body: &Markup) -> Markup {
    let at = |page: &str| dashboard.access.path(page);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " - wasmbench" }
                link rel="icon" type="image/svg+xml" href=(at("icon.svg"));
                link rel="stylesheet" href=(at("report.css"));
                link rel="stylesheet" href=(at("page.css"));
                script defer src=(at("page.js")) {}
            }
            body data-events=[events.map(at)] {
                a.skip href="#main" { "Skip to the contents" }
                header {
                    nav aria-label="Pages" {
                        a.home href=(at("")) { "Runs" }
                        " "
                        a href=(at("new")) { "New run" }
                    }
                    p { (dashboard.shown) }
                }
                main id="main" {
                    h1 { (title) }
                    (body)
                }
                p #connection role="status" {}
            }
        }
    }
}

/// A page with one message.
pub fn message(dashboard: &Dashboard, message: &str) -> Markup {
    page(
        dashboard,
        "That did not work",
        None,
        &html! { p.error role="alert" { (message) } },
    )
}

/// The parts of a page that are updated live.
pub fn live(regions: &Regions) -> Markup {
    html! {
        @for (id, content) in regions {
            section id=(id) data-live { (content) }
        }
    }
}
