//! The arguments with which the front starts an executor:
//! `--threads N --bounds-checks X [--allocator Y] FOLDER`. Pure.

use std::ffi::OsString;
use std::path::PathBuf;

/// Most calls at once.
pub const MAX_THREADS: usize = 4;

/// How an access outside of the linear memory is prevented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundsChecks {
    /// Address space without access around the memory: the processor raises a signal.
    Guard,
    /// A compare before each access, and a trap.
    Explicit,
    /// The address of each access is clamped to the end of the memory. Unsafe: a wrong access
    /// reads and writes something else of the guest's.
    Clamp,
    /// It is not prevented: all addresses that a guest can form are mapped. Unsafe.
    None,
}

/// Where an instance gets its memory from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// Mapped for each instance.
    OnDemand,
    /// Mapped for each instance, and the module's initial data copied, whose pages are else shared until they are written to.
    OnDemandCopied,
    /// From a pool that is mapped once.
    Pooling,
    /// From a pool, and the initial data copied.
    PoolingCopied,
    /// From a pool that gives back the pages of several dropped instances at once.
    PoolingBatched,
}

/// An executor's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Calls at once, each on a thread of its own: from 1 to [`MAX_THREADS`].
    pub threads: usize,
    /// `None`: as the executor does it by default.
    pub bounds_checks: Option<BoundsChecks>,
    /// `None`: as the executor does it by default.
    pub allocator: Option<Allocator>,
    /// The folder of the kernels' modules.
    pub folder: PathBuf,
}

impl BoundsChecks {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Guard, Self::Explicit, Self::Clamp, Self::None];

    /// The name in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guard => "Guard",
            Self::Explicit => "Explicit",
            Self::Clamp => "Clamp",
            Self::None => "None",
        }
    }

    /// The reverse of [`BoundsChecks::name`]. The error says what there is.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|checks| checks.name() == name).ok_or_else(|| {
            format!("'{name}' is no kind of bounds checks: use Guard, Explicit, Clamp or None")
        })
    }
}

impl Allocator {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OnDemand,
        Self::OnDemandCopied,
        Self::Pooling,
        Self::PoolingCopied,
        Self::PoolingBatched,
    ];

    /// The name in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "OnDemand",
            Self::OnDemandCopied => "OnDemandCopied",
            Self::Pooling => "Pooling",
            Self::PoolingCopied => "PoolingCopied",
            Self::PoolingBatched => "PoolingBatched",
        }
    }

    /// The reverse of [`Allocator::name`]. The error says what there is.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|allocator| allocator.name() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("'{name}' is no allocator: use one of {names}")
            })
    }
}

/// Reads a number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=MAX_THREADS).contains(number))
        .ok_or_else(|| format!("'{text}' is no number of threads from 1 to {MAX_THREADS}"))
}

impl Options {
    /// Reads arguments, without the program's name.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            threads: 1,
            bounds_checks: None,
            allocator: None,
            folder: PathBuf::new(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value"))
            };
            match argument.as_str() {
                "--threads" => options.threads = threads(&value()?)?,
                "--bounds-checks" => {
                    options.bounds_checks = Some(BoundsChecks::from_name(&value()?)?);
                }
                "--allocator" => options.allocator = Some(Allocator::from_name(&value()?)?),
                option if option.starts_with("--") => {
                    return Err(format!("{option} is no option of an executor"));
                }
                folder => options.folder = folder.into(),
            }
        }
        if options.folder.as_os_str().is_empty() {
            return Err("the folder of the kernels is missing".into());
        }
        Ok(options)
    }

    /// Refuses each allocator but `OnDemand`, for an engine that has no other.
    pub fn only_on_demand(&self, engine: &str) -> Result<(), String> {
        match self.allocator {
            None | Some(Allocator::OnDemand) => Ok(()),
            Some(_) => Err(format!(
                "{engine} maps memory for each instance: use the allocator OnDemand"
            )),
        }
    }

    /// Writes arguments, the reverse of [`Options::parse`].
    pub fn arguments(&self) -> Vec<OsString> {
        let threads = self.threads.to_string();
        let checks = self.bounds_checks.map(BoundsChecks::name);
        let allocator = self.allocator.map(Allocator::name);
        let options = [
            ("--threads", Some(threads.as_str())),
            ("--bounds-checks", checks),
            ("--allocator", allocator),
        ];
        let mut arguments: Vec<OsString> = vec![];
        for (option, value) in options {
            if let Some(value) = value {
                arguments.push(option.into());
                arguments.push(value.into());
            }
        }
        arguments.push(self.folder.clone().into());
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_as_they_were_written() {
        for bounds_checks in BoundsChecks::ALL {
            let allocators = Allocator::ALL.into_iter().map(Some);
            for allocator in allocators.chain([None]) {
                let options = Options {
                    threads: 4,
                    bounds_checks: Some(bounds_checks),
                    allocator,
                    folder: "/kernels".into(),
                };
                let written = options.arguments().into_iter();
                let written = written.map(|argument| argument.into_string().unwrap());
                assert_eq!(Options::parse(written), Ok(options));
            }
        }
        let least = parse("/kernels").unwrap();
        assert_eq!((least.threads, least.bounds_checks), (1, None));
    }

    #[test]
    fn a_wrong_argument_is_named_together_with_what_is_right() {
        for (text, message) in [
            ("--threads 0 /k", "'0' is no number of threads from 1 to 4"),
            ("--threads 5 /k", "'5' is no number of threads from 1 to 4"),
            (
                "--bounds-checks guard /k",
                "use Guard, Explicit, Clamp or None",
            ),
            ("--allocator Heap /k", "use one of OnDemand, "),
            ("--fast /k", "--fast is no option"),
            ("/k --threads", "--threads needs a value"),
            ("--threads 1", "the folder of the kernels is missing"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
