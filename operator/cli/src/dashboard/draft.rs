//! A run that is being written: the manifest that its fields produce, what that would do, and the
//! object to send.

use serde::Deserialize;
use serde_json::Value;
use wasmbench_api::BenchmarkRun;
use wasmbench_report::table::ascii;

use crate::args::InitArgs;
use crate::args::init::{image, object_name, path};
use crate::init::manifest::{self, ClusterView};
use crate::manifest::checked;
use crate::plan::Earlier;
use crate::{files, plan};

/// The initial manifest of the form. It uses presets, which need no images of the user's own.
const SAMPLE: &str = include_str!("../../../../manifests/samples/quickstart.yaml");

/// The form, as the browser sends it.
#[derive(Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Form {
    /// Name of the run.
    pub name: String,
    /// Image of the ordinary container.
    pub image: String,
    /// Image of another version.
    pub against: String,
    /// Arguments of the other version.
    pub against_args: String,
    /// Image of the same service as Wasm.
    pub wasm: String,
    /// RuntimeClass of the Wasm image.
    pub class: String,
    /// Port of the service.
    pub port: String,
    /// Path of the request.
    pub path: String,
    /// The manifest, which alone decides what is created.
    pub manifest: String,
    /// `create`; anything else only shows the plan.
    #[serde(rename = "do")]
    pub action: String,
}

impl Form {
    /// An empty form with a sample manifest.
    pub fn sample() -> Self {
        Self {
            manifest: SAMPLE.to_owned(),
            port: "8080".to_owned(),
            path: "/".to_owned(),
            ..Self::default()
        }
    }

    /// A form with the spec of `run`, under another name.
    pub fn like(run: &BenchmarkRun) -> Self {
        let mut spec = serde_json::to_value(&run.spec).unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("suspend");
        }
        let name = next_name(run.metadata.name.as_deref().unwrap_or("run"));
        let object = serde_json::json!({
            "apiVersion": "wasmbench.dev/v1alpha1",
            "kind": "BenchmarkRun",
            "metadata": {"name": name, "namespace": run.metadata.namespace},
            "spec": spec,
        });
        Self {
            manifest: serde_yaml::to_string(&object).unwrap_or_default(),
            ..Self::sample()
        }
    }

    /// The manifest that the fields describe, or what is wrong with them.
    pub fn manifest_of_fields(&self, cluster_view: ClusterView) -> Result<String, String> {
        let given = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let checked = |text: &String, check: fn(&str) -> Result<String, String>| {
            given(text).map(|text| check(&text)).transpose()
        };
        let container = checked(&self.image, image)?;
        let (against, against_args) = (checked(&self.against, image)?, given(&self.against_args));
        if container.is_none() && (against.is_some() || against_args.is_some()) {
            return Err(
                "name the image of the container, with which the other version is compared"
                    .to_owned(),
            );
        }
        let args = InitArgs {
            image: container,
            against,
            against_args,
            wasm: checked(&self.wasm, image)?,
            from: None,
            and: vec![],
            runtime_class: checked(&self.class, object_name)?,
            port: Some(port(&self.port)?),
            path: checked(&self.path, path)?.unwrap_or_else(|| "/".to_owned()),
            name: checked(&self.name, object_name)?,
            ..InitArgs::default()
        };
        let draft = manifest::Draft::new(&args, cluster_view);
        let open = draft.open();
        let open = open.iter().fold(String::new(), |text, one| {
            text + &format!("# To do: {}\n", ascii(one))
        });
        Ok(open + &manifest::manifest(&draft))
    }

    /// The run that the manifest describes, as written: the API server should see unknown fields
    /// too.
    pub fn object(&self) -> Result<Value, String> {
        let objects = files::objects(&self.manifest)?;
        let mut runs = objects.into_iter();
        match (runs.next(), runs.next()) {
            (Some(run), None) if run["kind"] == "BenchmarkRun" => Ok(run),
            (Some(_), None) => Err("kind: a BenchmarkRun is expected".to_owned()),
            (None, _) => Err("there is no BenchmarkRun yet".to_owned()),
            (Some(_), Some(_)) => {
                Err("one BenchmarkRun is expected, and there are several".to_owned())
            }
        }
    }

    /// The run that the manifest describes, if it fits the API.
    pub fn run(&self) -> Result<BenchmarkRun, String> {
        let object = self.object()?;
        checked(&self.manifest).map_err(|problems| problems.to_string())?;
        let run: BenchmarkRun =
            serde_json::from_value(object).map_err(|error| error.to_string())?;
        if run.metadata.name.is_none() {
            return Err("metadata.name: give the run a name".to_owned());
        }
        Ok(run)
    }

    /// What the manifest would do, and what it can find by the scatter of `earlier` runs, or why it
    /// would be refused.
    pub fn plan(&self, earlier: &[Earlier]) -> Result<String, String> {
        plan::describe(&self.run()?, false, earlier).map_err(|error| error.to_string())
    }
}

fn port(text: &str) -> Result<u16, String> {
    let text = text.trim();
    let port = if text.is_empty() {
        Some(8080)
    } else {
        text.parse().ok()
    };
    port.filter(|port| *port > 0)
        .ok_or_else(|| format!("'{text}' is no port: give a number from 1 to 65535"))
}

/// `fast-2` after `fast`, `fast-3` after `fast-2`.
fn next_name(name: &str) -> String {
    if let Some((stem, number)) = name.rsplit_once('-')
        && let Ok(number) = number.parse::<u32>()
        && !stem.is_empty()
    {
        return format!("{stem}-{}", number.saturating_add(1));
    }
    format!("{name}-2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_has_a_plan() {
        let plan = Form::sample().plan(&[]).unwrap();
        assert!(plan.contains("= 40 trials"), "{plan}");
    }

    #[test]
    fn fields_make_a_manifest_with_a_plan() {
        let mut form = Form {
            image: "registry.example.com/team/server:1.0".into(),
            wasm: "registry.example.com/team/server-wasm:1.0".into(),
            ..Form::sample()
        };
        form.manifest = form
            .manifest_of_fields(ClusterView::unavailable("no cluster"))
            .unwrap();
        assert!(
            form.manifest.contains("name: \"server\""),
            "{}",
            form.manifest
        );
        assert!(form.plan(&[]).unwrap().contains("server"));
        form.port = "70000".into();
        let error = form
            .manifest_of_fields(ClusterView::unavailable(""))
            .unwrap_err();
        assert!(error.contains("65535"), "{error}");
    }

    #[test]
    fn a_second_version_is_compared_and_a_single_one_is_noted() {
        let manifest = |form: &Form| form.manifest_of_fields(ClusterView::unavailable(""));
        let mut form = Form {
            image: "registry.example.com/team/server:1.0".into(),
            ..Form::sample()
        };
        let single = manifest(&form).unwrap();
        assert!(
            single.starts_with("# To do: one variant alone is compared with nothing"),
            "{single}"
        );
        form.against_args = "--workers 4".into();
        let settings = manifest(&form).unwrap();
        assert!(!settings.contains("To do"), "{settings}");
        assert!(
            settings.contains("args: [\"--workers\", \"4\"]"),
            "{settings}"
        );
        form.against = "registry.example.com/team/server:1.1".into();
        form.manifest = manifest(&form).unwrap();
        assert!(form.manifest.contains("server:1.1"), "{}", form.manifest);
        assert!(form.plan(&[]).unwrap().contains("other"));
        form.image.clear();
        let error = manifest(&form).unwrap_err();
        assert!(error.contains("the image of the container"), "{error}");
    }

    #[test]
    fn a_broken_manifest_is_refused_with_what_is_wrong() {
        let refusal = |manifest: &str| {
            let manifest = manifest.to_owned();
            let form = Form {
                manifest,
                ..Form::default()
            };
            form.plan(&[]).unwrap_err()
        };
        assert!(refusal("").contains("no BenchmarkRun yet"));
        assert!(refusal("kind: Pod").contains("BenchmarkRun is expected"));
        assert!(
            refusal("kind: [").contains("at line "),
            "{}",
            refusal("kind: [")
        );
        let two = format!("{SAMPLE}\n---\n{SAMPLE}");
        assert!(refusal(&two).contains("several"));
        let nameless = SAMPLE.replace("  name: quickstart", "  labels: {}");
        assert!(refusal(&nameless).contains("metadata.name"));
        let misnamed = SAMPLE.replace("name: quickstart", "name: Quick_start");
        assert!(
            refusal(&misnamed).contains("lower-case"),
            "{}",
            refusal(&misnamed)
        );
        let elsewhere = SAMPLE.replace(
            "  name: quickstart",
            "  name: quickstart\n  namespace: a/../b",
        );
        assert!(
            refusal(&elsewhere).contains("metadata.namespace"),
            "{}",
            refusal(&elsewhere)
        );
        let refused = SAMPLE.replace("baseline: native", "baseline: other");
        assert!(
            refusal(&refused).contains("spec.baseline: baseline must be"),
            "{}",
            refusal(&refused)
        );
    }

    #[test]
    fn a_run_like_another_has_the_next_name_and_its_spec() {
        let run: BenchmarkRun = serde_yaml::from_str(SAMPLE).unwrap();
        let form = Form::like(&run);
        let again: BenchmarkRun = serde_yaml::from_str(&form.manifest).unwrap();
        assert_eq!(again.spec, run.spec);
        assert_eq!(again.metadata.name.as_deref(), Some("quickstart-2"));
        assert_eq!(next_name("fast-9"), "fast-10");
        assert_eq!(next_name("-2"), "-2-2");
    }
}
