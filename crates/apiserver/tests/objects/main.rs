//! What can be done with objects, through the in-process door.

mod api;
mod applying;
mod deleting;
mod listing;
mod patching;
mod watching;
mod writing;
