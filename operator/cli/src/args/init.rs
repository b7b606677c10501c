//! The arguments of `init`: what to measure. Values that the CRD would refuse are refused here,
//! with the option's name.

use clap::{Args, value_parser};
use strum::IntoEnumIterator as _;
use wasmbench_api::run::{EnvVar, Header, Method};

use crate::manifest::image::{names_an_object, wrong};
pub use crate::manifest::name::object_name;

/// The port of a service of which none is known.
pub const USUAL_PORT: u16 = 8080;
/// The status of a right answer if none is named.
pub const USUAL_STATUS: u16 = 200;

/// Arguments of `init`.
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Writes a commented BenchmarkRun to standard output, and creates nothing. Two versions, two settings, container and Wasm, or what \
is there already:\n  \
kubectl wasmbench init registry.example.com/team/server:1.0 --against registry.example.com/team/server:1.1 > run.yaml\n  \
kubectl wasmbench init registry.example.com/team/server:1.0 --against-args '--workers 4' > run.yaml\n  \
kubectl wasmbench init registry.example.com/team/server:1.0 --command 'gunicorn app:app' --against-command 'uvicorn app:app' > run.yaml\n  \
kubectl wasmbench init registry.example.com/team/server:1.0 --wasm registry.example.com/team/server-wasm:1.0 > run.yaml\n  \
kubectl wasmbench init --from deployment/shop --and deployment/shop-v2 > run.yaml\n\n\
Replace every CHANGE-ME, which stands for what was not given. RuntimeClasses and nodes are read from the cluster; without one, the file has a note.")]
pub struct InitArgs {
    /// Image of the service as an ordinary container: the baseline. May be left out with --wasm or --from
    #[arg(value_parser = image, required_unless_present_any = ["wasm", "from"])]
    pub image: Option<String>,
    /// Image of another version, which is compared with the first. Default with --against-args or --against-command:
    /// the same image
    #[arg(long, value_name = "IMAGE", value_parser = image, requires = "image")]
    pub against: Option<String>,
    /// Arguments of the other version, separated by spaces, instead of those in its image
    #[arg(
        long,
        value_name = "ARGS",
        requires = "image",
        allow_hyphen_values = true
    )]
    pub against_args: Option<String>,
    /// Program and arguments of the service, separated by spaces, instead of the entrypoint of its image; also those of
    /// the other version without --against-command
    #[arg(long, value_name = "COMMAND", requires = "image")]
    pub command: Option<String>,
    /// Program and arguments of the other version, separated by spaces
    #[arg(long, value_name = "COMMAND", requires = "image")]
    pub against_command: Option<String>,
    /// An environment variable of every variant, such as WORKERS=4; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, conflicts_with = "from")]
    pub env: Vec<EnvVar>,
    /// A Deployment or StatefulSet of the namespace, such as deployment/shop: writes a copy of it that runs may scale, and
    /// the run. The original and its Service are left alone
    #[arg(long, value_name = "KIND/NAME", value_parser = Source::parse, conflicts_with_all = ["image", "wasm"])]
    pub from: Option<Source>,
    /// Another one to compare it with; may be given several times
    #[arg(long = "and", value_name = "KIND/NAME", value_parser = Source::parse, requires = "from")]
    pub and: Vec<Source>,
    /// Image of the same service as WebAssembly
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    pub wasm: Option<String>,
    /// RuntimeClass of the Wasm image. Default: the first of the cluster that looks like one for Wasm
    #[arg(long, value_name = "NAME", value_parser = object_name, requires = "wasm")]
    pub runtime_class: Option<String>,
    /// Port on which the service listens for HTTP. Default: 8080, and with --from the port of its containers that is called
    /// http, or else the first
    #[arg(long, value_parser = value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Path and query of the request
    #[arg(long, default_value = "/", value_parser = path)]
    pub path: String,
    /// Method of the request. Default: GET, or POST with --body
    #[arg(long, value_name = "METHOD", value_parser = method)]
    pub method: Option<Method>,
    /// A header of the request, such as 'Host: shop.example.com'; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub headers: Vec<Header>,
    /// Body of the request
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,
    /// Status of the right answer. Default: 200
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u16).range(100..=599))]
    pub status: Option<u16>,
    /// Name of the run. Default: that of the image, or of the first copy
    #[arg(long, value_parser = object_name)]
    pub name: Option<String>,
}

/// What to copy, as kubectl names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its kind: `Deployment` or `StatefulSet`.
    pub kind: &'static str,
    /// The same in the plural.
    pub resource: &'static str,
    /// Its name.
    pub name: String,
}

impl Source {
    /// Reads `deployment/shop`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once('/').unwrap_or(("", text));
        let (kind, resource) = match kind {
            "deploy" | "deployment" | "deployments" | "deployments.apps" => {
                ("Deployment", "deployments")
            }
            "sts" | "statefulset" | "statefulsets" | "statefulsets.apps" => {
                ("StatefulSet", "statefulsets")
            }
            _ => {
                return Err(format!(
                    "'{text}' cannot be copied: write it like deployment/shop or statefulset/shop, and copy other kinds by \
                     hand"
                ));
            }
        };
        let name = object_name(name)?;
        Ok(Self {
            kind,
            resource,
            name,
        })
    }
}

/// Returns the image reference, or what is wrong with it.
pub fn image(text: &str) -> Result<String, String> {
    if Source::parse(text).is_ok() {
        return Err(format!(
            "'{text}' is an object of the cluster and no image: to measure it as it is, write --from {text}"
        ));
    }
    let wrong = names_an_object(text).or_else(|| wrong(text));
    wrong.map_or_else(|| Ok(text.to_owned()), Err)
}

/// Returns the path of a request, or what is wrong with it.
pub fn path(text: &str) -> Result<String, String> {
    let printable = text.chars().all(|c| c.is_ascii_graphic());
    if text.starts_with('/') && text.len() <= 1024 && printable {
        return Ok(text.to_owned());
    }
    Err(format!(
        "'{text}' is no path: begin it with / and escape what is not ASCII, like /search?q=a%20b"
    ))
}

/// Returns the method, or what is wrong with it.
pub fn method(text: &str) -> Result<Method, String> {
    let wanted = text.to_ascii_uppercase();
    let found = Method::iter().find(|method| method.to_string() == wanted);
    found.ok_or_else(|| {
        let all: Vec<String> = Method::iter().map(|method| method.to_string()).collect();
        format!("'{text}' is no method: choose one of {}", all.join(", "))
    })
}

/// Returns the header, or what is wrong with it.
pub fn header(text: &str) -> Result<Header, String> {
    let Some((name, value)) = text.split_once(':') else {
        return Err(format!(
            "'{text}' is no header: write it like 'Accept: text/html'"
        ));
    };
    let header = Header {
        name: name.to_owned(),
        value: value.trim().to_owned(),
    };
    let reason = header.wrong();
    reason.map_or(Ok(header), |why| Err(why.to_owned()))
}

/// Returns the environment variable, or what is wrong with it. Which names are allowed is a rule of the run, which `plan` checks.
pub fn variable(text: &str) -> Result<EnvVar, String> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(format!(
            "'{text}' is no variable: write it like WORKERS=4, and WORKERS= for an empty one"
        ));
    };
    Ok(EnvVar {
        name: name.to_owned(),
        value: value.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_the_api_would_refuse_are_refused_with_an_example() {
        assert!(image("localhost:5000/a/b@sha256:12").is_ok());
        for wrong in ["", "https://a/b", "a b", "deploy/shop", "Team/server"] {
            assert!(image(wrong).is_err(), "{wrong}");
        }
        assert!(
            image("deploy/shop")
                .unwrap_err()
                .contains("--from deploy/shop")
        );
        assert!(path("/a?b=c").is_ok());
        for wrong in ["", "a", "/a b", "/\u{e9}"] {
            assert!(path(wrong).unwrap_err().contains("%20"), "{wrong}");
        }
        assert_eq!(method("post"), Ok(Method::Post));
        assert!(method("TRACE").unwrap_err().contains("DELETE"));
        let host = header("Host: shop.example.com:80").unwrap();
        assert_eq!(host.value, "shop.example.com:80");
        for wrong in ["Host", "A B: c", "Transfer-Encoding: chunked"] {
            assert!(header(wrong).is_err(), "{wrong}");
        }
        let options = variable("OPTIONS=a=b c").unwrap();
        assert_eq!((&*options.name, &*options.value), ("OPTIONS", "a=b c"));
        for wrong in ["WORKERS", "=4"] {
            assert!(variable(wrong).is_err(), "{wrong}");
        }
    }
}
