//! The functions of a process, by name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::executor::Executor;

/// More would not fit into any pod.
const MOST: usize = 1024;

/// Why a request about a function is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The function exists already.
    Twice,
    /// The function does not exist.
    Unknown,
    /// The function's code is still being prepared.
    Loading,
    /// The process has as many functions as it takes.
    Full,
    /// The code is unusable, for this reason.
    Code(String),
}

enum Place<C> {
    /// The code is being prepared.
    Loading,
    Ready(Arc<C>),
}

/// All functions.
pub struct Functions<E: Executor> {
    executor: E,
    places: Mutex<BTreeMap<String, Place<E::Code>>>,
}

impl<E: Executor> Functions<E> {
    /// Starts with no functions.
    pub fn new(executor: E) -> Self {
        Self {
            executor,
            places: Mutex::default(),
        }
    }

    /// Returns what executes the functions.
    pub fn executor(&self) -> &E {
        &self.executor
    }

    /// Adds a function. Its name is taken while its code is being prepared.
    pub fn init(&self, name: &str, code: &[u8]) -> Result<(), Refused> {
        {
            let mut places = self.places();
            if places.contains_key(name) {
                return Err(Refused::Twice);
            }
            if places.len() >= MOST {
                return Err(Refused::Full);
            }
            places.insert(name.to_owned(), Place::Loading);
        }
        let loaded = self.executor.load(code);
        let mut places = self.places();
        match loaded {
            Ok(code) => {
                places.insert(name.to_owned(), Place::Ready(Arc::new(code)));
                Ok(())
            }
            Err(why) => {
                places.remove(name);
                Err(Refused::Code(why))
            }
        }
    }

    /// Finds a function that has been initialised.
    pub fn find(&self, name: &str) -> Result<Arc<E::Code>, Refused> {
        match self.places().get(name) {
            Some(Place::Ready(code)) => Ok(Arc::clone(code)),
            Some(Place::Loading) | None => Err(Refused::Unknown),
        }
    }

    /// Forgets a function; calls that are already running finish by themselves. A function whose
    /// code is still being prepared stays, because it would come back when that is done.
    pub fn destroy(&self, name: &str) -> Result<(), Refused> {
        let mut places = self.places();
        match places.get(name) {
            Some(Place::Ready(_)) => {
                places.remove(name);
                Ok(())
            }
            Some(Place::Loading) => Err(Refused::Loading),
            None => Err(Refused::Unknown),
        }
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<String, Place<E::Code>>> {
        // No foreign code runs while the lock is held.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::executor::{Ended, Limits};

    struct Fake;

    impl Executor for Fake {
        type Code = Vec<u8>;
        const PRESET: &'static str = "fake";
        const IS_SHARED: bool = true;

        fn facts(&self) -> Vec<(&'static str, String)> {
            vec![]
        }

        fn load(&self, code: &[u8]) -> Result<Self::Code, String> {
            if code.is_empty() {
                return Err("empty".into());
            }
            Ok(code.to_vec())
        }

        fn call(&self, _: &Self::Code, _: Vec<u8>, _: Limits) -> Ended {
            Ended::default()
        }

        fn chain(&self) -> Option<Duration> {
            None
        }
    }

    #[test]
    fn a_function_is_initialised_once_until_it_is_destroyed() {
        let functions = Functions::new(Fake);
        assert_eq!(functions.find("a"), Err(Refused::Unknown));
        assert_eq!(functions.init("a", b"1"), Ok(()));
        assert_eq!(functions.init("a", b"2"), Err(Refused::Twice));
        assert_eq!(*functions.find("a").unwrap(), b"1");
        assert_eq!(functions.destroy("a"), Ok(()));
        assert_eq!(functions.destroy("a"), Err(Refused::Unknown));
        assert_eq!(functions.init("a", b"2"), Ok(()));
    }

    #[test]
    fn a_function_that_is_still_loading_is_not_forgotten_and_does_not_come_back() {
        let functions = Functions::new(Fake);
        functions.places().insert("a".into(), Place::Loading);
        assert_eq!(functions.destroy("a"), Err(Refused::Loading));
        assert_eq!(functions.init("a", b"1"), Err(Refused::Twice));
    }

    #[test]
    fn refused_code_takes_no_place() {
        let functions = Functions::new(Fake);
        assert_eq!(functions.init("a", b""), Err(Refused::Code("empty".into())));
        assert_eq!(functions.init("a", b"1"), Ok(()));
    }

    #[test]
    fn the_number_of_functions_is_limited() {
        let functions = Functions::new(Fake);
        for number in 0..MOST {
            assert_eq!(functions.init(&number.to_string(), b"1"), Ok(()));
        }
        assert_eq!(functions.init("more", b"1"), Err(Refused::Full));
    }
}
