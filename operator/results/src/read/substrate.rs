//! What kind of machine a run was measured on, where that limits what its numbers are good for.

use wasmbench_model::units::truncate;

use crate::read::environment::Environment;

/// The provider that the API names for nodes of kind, which are containers on one machine.
const KIND: &str = "kind";
/// The value of the fact for a physical machine.
const NOT_VIRTUAL: &str = "none";
/// Longest name of a hypervisor, in characters.
const MAX_NAME_CHARS: usize = 40;

/// What the machine is and what follows from that, as a sentence; `None` if nothing about it limits
/// the numbers.
pub fn description(environment: &Environment) -> Option<String> {
    let provider = environment.node_facts.get("provider");
    let hypervisor = environment.facts.get("virtualization");
    let what = text(provider.map(String::as_str), hypervisor.map(String::as_str))?;
    Some(format!(
        "{what}: rates and times are those of this machine. Read the ratios, and expect others elsewhere"
    ))
}

/// `a virtual machine (KVM)`, `a node of kind`.
fn text(provider: Option<&str>, hypervisor: Option<&str>) -> Option<String> {
    let kind = provider
        .filter(|provider| *provider == KIND)
        .map(|_| "a node of kind, which is a container".to_owned());
    let hypervisor = hypervisor.filter(|name| *name != NOT_VIRTUAL);
    let machine =
        hypervisor.map(|name| format!("a virtual machine ({})", truncate(name, MAX_NAME_CHARS)));
    let both: Vec<String> = kind.into_iter().chain(machine).collect();
    (!both.is_empty()).then(|| both.join(", on "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_virtual_machines_are_named_but_bare_metal_is_not() {
        assert_eq!(text(Some("aws"), Some("none")), None);
        assert_eq!(text(None, None), None);
        let machine = "a virtual machine (KVM)";
        assert_eq!(text(Some("gce"), Some("KVM")).as_deref(), Some(machine));
        let both = "a node of kind, which is a container, on a virtual machine (KVM)";
        assert_eq!(text(Some("kind"), Some("KVM")).as_deref(), Some(both));
    }
}
