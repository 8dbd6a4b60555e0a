//! CustomResourceDefinitions and the objects they define, through the server's door.

mod client;
mod definitions;
mod objects;
mod subresources;
