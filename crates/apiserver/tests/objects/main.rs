//! What can be done with objects, through the in-process door.

mod api;
mod deleting;
mod listing;
mod watching;
mod writing;
