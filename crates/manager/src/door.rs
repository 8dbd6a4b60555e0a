use crate::endpoint::Endpoint;
use crate::security::Tls;

/// What is served at one address.
#[derive(Debug)]
pub(crate) struct Door {
    /// What it is called in logs and errors.
    pub(crate) what: String,
    pub(crate) address: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) tls: Option<Tls>,
}

impl Door {
    /// The doors for what is wanted at addresses as users write them. What is wanted at the same address is served there
    /// together.
    pub(crate) fn of(wanted: impl IntoIterator<Item = (&'static str, String, Endpoint, Option<Tls>)>) -> Vec<Self> {
        let mut doors: Vec<Self> = Vec::new();
        for (what, text, endpoint, tls) in wanted {
            let Some(address) = address(&text) else { continue };
            // Port 0 is another free one each time.
            match doors.iter_mut().find(|door| door.address == address && !address.ends_with(":0")) {
                Some(door) => {
                    door.what = format!("{} and {what}", door.what);
                    door.endpoint.join(endpoint);
                    door.tls = door.tls.take().or(tls);
                }
                None => doors.push(Self { what: what.to_owned(), address, endpoint, tls }),
            }
        }
        doors
    }
}

/// What the operating system understands; none where nothing is to be served.
fn address(text: &str) -> Option<String> {
    match text {
        "" | "0" => None,
        text if text.starts_with(':') => Some(format!("0.0.0.0{text}")),
        text => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Door;
    use crate::endpoint::{Debug, Endpoint, Health};

    #[test]
    fn one_address_is_one_door() {
        let check = |health: &str, debug: &str, doors: &[&str]| {
            let healthy = Endpoint { health: Some(Health::default()), ..Endpoint::default() };
            let debugged = Endpoint { debug: Some(Debug::default()), ..Endpoint::default() };
            let wanted = [("health", health, healthy), ("debug", debug, debugged)];
            let found = Door::of(wanted.map(|(what, address, endpoint)| (what, address.to_owned(), endpoint, None)));
            let found: Vec<String> = found.iter().map(|door| format!("{} at {}", door.what, door.address)).collect();
            assert_eq!(found, doors);
        };
        check("", "0", &[]);
        check(":80", "", &["health at 0.0.0.0:80"]);
        check(":80", "0.0.0.0:80", &["health and debug at 0.0.0.0:80"]);
        check("[::1]:80", ":80", &["health at [::1]:80", "debug at 0.0.0.0:80"]);
        check("127.0.0.1:0", "127.0.0.1:0", &["health at 127.0.0.1:0", "debug at 127.0.0.1:0"]);
    }
}
