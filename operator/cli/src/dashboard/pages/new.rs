//! A run that is being written, with its plan.

use maud::{Markup, html};

use crate::dashboard::draft::Form;
use crate::dashboard::pages::frame;
use crate::dashboard::state::Dashboard;

/// The fields: name in the form, label, and example shown as the placeholder.
const FIELDS: [(&str, &str, &str); 8] = [
    ("name", "Name", "my-service"),
    (
        "image",
        "Image of the container",
        "registry.example.com/team/server:1.0",
    ),
    (
        "against",
        "Image of another version",
        "registry.example.com/team/server:1.1",
    ),
    (
        "against_args",
        "Arguments of the other version, of the same image if none is named",
        "--workers 4",
    ),
    (
        "wasm",
        "Image of the same service as WebAssembly",
        "registry.example.com/team/server-wasm:1.0",
    ),
    ("class", "RuntimeClass of the Wasm image", "wasmtime"),
    ("port", "Port", "8080"),
    ("path", "Path of the request", "/"),
];

/// The page; `error` is the reason why the run was not created.
pub async fn page(dashboard: &Dashboard, form: &Form, error: Option<&str>) -> Markup {
    let plan = plan(dashboard, form).await;
    let at = |page: &str| dashboard.access.path(page);
    let given = [
        &form.name,
        &form.image,
        &form.against,
        &form.against_args,
        &form.wasm,
        &form.class,
        &form.port,
        &form.path,
    ];
    let body = html! {
        @if let Some(error) = error {
            p.error role="alert" { "The run was not created: " (error) }
        }
        form #start method="post" action=(at("new")) data-plan=(at("new/plan")) data-manifest=(at("new/manifest")) autocomplete="off" {
            fieldset {
                legend { "A service of your own" }
                p.hint { "What you write here writes the manifest below. Leave it empty to begin with the sample. One variant alone is compared with nothing: name \
                    another version, other arguments, or the service as WebAssembly." }
                @for ((name, label, example), given) in FIELDS.iter().zip(given) {
                    p {
                        label for=(name) { (label) }
                        input id=(name) name=(name) value=(given) placeholder=(example) spellcheck="false";
                    }
                }
                p #fields-error .error role="status" {}
            }
            p {
                label for="manifest" { "Manifest" }
                textarea #manifest name="manifest" rows="24" spellcheck="false" { (form.manifest) }
            }
            p {
                // Enter in a field presses the first button, so it must not start a run.
                button name="do" value="plan" { "Show the plan" } " "
                button #create name="do" value="create" { "Create the run" }
                span.hint { " It goes to namespace " (dashboard.cluster.namespace()) " unless the manifest names another." }
            }
        }
        h2 { "Plan" }
        section #plan aria-live="polite" { (plan) }
    };
    frame::page(dashboard, "New run", None, &body)
}

/// What the manifest would do, and what stands in its way in the cluster.
pub async fn plan(dashboard: &Dashboard, form: &Form) -> Markup {
    let planned = form.plan(&dashboard.earlier());
    match planned.and_then(|plan| Ok((plan, form.run()?))) {
        Ok((plan, run)) => {
            let obstacles = Box::pin(dashboard.obstacles(&run)).await;
            html! { pre tabindex="0" { (plan) (obstacles) } }
        }
        Err(error) => html! { p.error { (error) } },
    }
}
