//! The kernels, and how often each repeats its work in one call, unless a call asks for another
//! number: the same for all variants.

/// `NAME REPEATS` on each line.
const TABLE: &str = include_str!("../../kernels.txt");

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    /// Repeats in one call.
    pub repeats: u32,
}

/// All kernels, in the order of the table.
pub fn all() -> impl Iterator<Item = Kernel> {
    TABLE.lines().filter_map(kernel)
}

/// The kernel of that name.
pub fn find(name: &str) -> Option<Kernel> {
    all().find(|kernel| kernel.name == name)
}

/// The kernel of a line; `None` for an empty line and a comment.
fn kernel(line: &'static str) -> Option<Kernel> {
    let (name, repeats) = line.split_once(' ')?;
    let repeats = repeats.trim().parse().ok()?;
    Some(Kernel { name, repeats })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_a_kernel_and_no_name_is_there_twice() {
        let lines = TABLE
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(all().count(), lines.count());
        let mut names: Vec<&str> = all().map(|kernel| kernel.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|kernel| kernel.repeats >= 1));
    }

    #[test]
    fn the_empty_kernel_runs_once() {
        assert_eq!(find("empty").map(|kernel| kernel.repeats), Some(1));
        assert_eq!(find("no-kernel"), None);
    }
}
