use controller_runtime_ambient::{Ambient, Task, TaskError};
use parking_lot::Mutex;

/// The tasks that a run has started.
#[derive(Debug)]
pub(crate) struct RunTasks {
    /// None when the run has ended.
    tasks: Mutex<Option<Vec<Task<()>>>>,
}

impl RunTasks {
    pub(crate) fn new() -> Self {
        Self { tasks: Mutex::new(Some(Vec::new())) }
    }

    pub(crate) fn spawn(&self, ambient: &Ambient, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock();
        let Some(tasks) = &mut *tasks else {
            tracing::warn!(name, "the reconcile has ended: its task is not started");
            return;
        };
        tasks.retain(|task| !task.is_finished());
        tasks.push(ambient.spawn(name, task));
    }

    /// No task starts any more, and those that run are aborted.
    pub(crate) fn close(&self) -> Vec<Task<()>> {
        let tasks = self.tasks.lock().take().unwrap_or_default();
        tasks.iter().for_each(Task::abort);
        tasks
    }

    /// Closes, and waits until all tasks have ended.
    pub(crate) async fn end(&self) {
        for task in self.close() {
            if let Err(error @ TaskError::Panicked { .. }) = task.await {
                tracing::error!(%error, "a task of the reconcile panicked");
            }
        }
    }
}
