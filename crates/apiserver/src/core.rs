//! What one server's parts share.

use controller_runtime_ambient::Ambient;

use crate::registry::Registry;
use crate::strategy::ServiceAddresses;

/// The state of one server, shared by its doors, verbs and controllers.
#[derive(Debug)]
pub(crate) struct Core {
    /// Clock, randomness, ids and task spawning.
    pub(crate) ambient: Ambient,
    /// What is served.
    pub(crate) registry: Registry,
    /// The cluster IPs and node ports of services.
    pub(crate) service_addresses: ServiceAddresses,
}

impl Core {
    /// The state of a new server.
    pub(crate) fn new(ambient: Ambient) -> Self {
        Self { ambient, registry: Registry::new(), service_addresses: ServiceAddresses::default() }
    }
}
