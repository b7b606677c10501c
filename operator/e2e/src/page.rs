//! A page of the documentation whose steps a test carries out.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::kubectl::{Output, kubectl, run};

/// The root of the checkout.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A page, and a folder in which its commands run, with a namespace of their own.
#[derive(Debug)]
pub struct Page {
    text: String,
    folder: TempDir,
    kubeconfig: PathBuf,
}

impl Page {
    /// The page at this path in the checkout. Its commands find the charts, and use `namespace`
    /// where they name none.
    pub async fn open(path: &str, namespace: &str) -> Self {
        let text = std::fs::read_to_string(Path::new(ROOT).join(path)).expect("the page is there");
        let folder = TempDir::new().expect("a folder");
        let charts = Path::new(ROOT).join("charts");
        std::os::unix::fs::symlink(charts, folder.path().join("charts")).expect("a link");
        let view = ["config", "view", "--raw", "--minify", "--flatten"];
        let kubeconfig = folder.path().join("kubeconfig");
        std::fs::write(&kubeconfig, kubectl(&view).await.stdout).expect("a kubeconfig");
        let file = format!("--kubeconfig={}", kubeconfig.display());
        let here = format!("--namespace={namespace}");
        let set = kubectl(&["config", "set-context", "--current", &file, &here]).await;
        assert!(set.ok, "{set:?}");
        Self {
            text,
            folder,
            kubeconfig,
        }
    }

    /// The code blocks in a language below a heading. There must be at least one.
    pub fn blocks(&self, heading: &str, language: &str) -> Vec<String> {
        let (_, section) = self
            .text
            .split_once(&format!("\n## {heading}\n"))
            .unwrap_or_else(|| panic!("no heading '{heading}'"));
        let section = section.split("\n## ").next().expect("a first part");
        let begin = format!("```{language}\n");
        let blocks: Vec<String> = section
            .split(&begin)
            .skip(1)
            .map(|rest| rest.split("\n```").next().expect("an end").to_owned())
            .collect();
        assert!(!blocks.is_empty(), "'{heading}' has no {language}");
        blocks
    }

    /// Writes a file to the folder of the commands.
    pub fn save(&self, name: &str, content: &str) {
        std::fs::write(self.folder.path().join(name), content).expect("the file is written");
    }

    /// The content of a file that commands left in the folder.
    pub fn saved(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("the file is there")
    }

    /// Runs a block of commands, up to the first that fails.
    pub async fn carry_out(&self, block: &str) -> Output {
        let folder = self.folder.path().display();
        let script = format!(
            "export KUBECONFIG='{}'; cd '{folder}'\n{block}",
            self.kubeconfig.display()
        );
        run("bash", &["-euo", "pipefail", "-c", &script]).await
    }
}

/// `text` with each of these replacements made; panics if the text to replace is missing.
pub fn with(text: &str, changes: &[(&str, &str)]) -> String {
    let put_in = |text: String, (from, to): &(&str, &str)| {
        assert!(text.contains(from), "no '{from}' in:\n{text}");
        text.replace(from, to)
    };
    changes.iter().fold(text.to_owned(), put_in)
}
