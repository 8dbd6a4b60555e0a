//! The lock around a queue's state. The crate's own tests use shuttle's, which makes it try out interleavings.

#[cfg(not(test))]
pub(crate) use parking_lot::Mutex;

#[cfg(test)]
#[derive(Debug)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

#[cfg(test)]
impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> shuttle::sync::MutexGuard<'_, T> {
        self.0.lock().expect("nothing panics under the lock")
    }
}
