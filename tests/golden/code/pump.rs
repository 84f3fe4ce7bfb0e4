//! 水泵 crate.
use std::fmt;

/// A valve.
#[derive(Debug)]
pub struct Valve<T> {
    name: T,
}

impl<T: fmt::Display> Valve<T> {
    /// 慢慢打开
    pub fn open(&self) {
        println!("{}", self.name);
    }
}

impl<T> fmt::Display for Valve<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "valve")
    }
}

trait Closes {
    fn close(&self);
}

macro_rules! twice {
    ($x:expr) => { $x; $x };
}

#[cfg(test)]
mod tests {
    #[test]
    fn opens() {
        assert!(true);
    }
}
