//! Addresses of the internet protocol.

use std::fmt::{self, Display, Formatter};
use std::net::IpAddr;

use super::{Outcome, failed, gives};
use crate::cel::value::{CelValue, Opaque};

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip(pub(super) IpAddr);

impl Ip {
    /// Reads an address; why it is none that is allowed.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.contains('%') {
            return Err(format!("IP address {text:?} with zone value is not allowed"));
        }
        let address: IpAddr =
            text.parse().map_err(|_| format!("IP Address {text:?} parse error during conversion from string"))?;
        match address {
            IpAddr::V6(six) if six.to_ipv4_mapped().is_some() => {
                Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
            }
            address => Ok(Self(address)),
        }
    }

    pub(crate) fn size(self) -> usize {
        if self.0.is_ipv4() { 4 } else { 16 }
    }
}

impl Display for Ip {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    match (function, arguments) {
        ("ip", [CelValue::String(text)]) => match Ip::parse(text) {
            Ok(ip) => gives(CelValue::Opaque(Opaque::Ip(ip))),
            Err(why) => failed(why),
        },
        ("isIP", [CelValue::String(text)]) => gives(CelValue::Bool(Ip::parse(text).is_ok())),
        ("ip.isCanonical", [CelValue::String(text)]) => match Ip::parse(text) {
            Ok(ip) => gives(CelValue::Bool(ip.to_string() == *text)),
            Err(why) => failed(why),
        },
        (_, [CelValue::Opaque(Opaque::Ip(Ip(address)))]) => gives(match function {
            "family" => CelValue::Int(if address.is_ipv4() { 4 } else { 6 }),
            "isUnspecified" => CelValue::Bool(address.is_unspecified()),
            "isLoopback" => CelValue::Bool(address.is_loopback()),
            "isLinkLocalMulticast" => CelValue::Bool(match address {
                IpAddr::V4(four) => four.octets().starts_with(&[224, 0, 0]),
                IpAddr::V6(six) => six.segments().first().is_some_and(|first| first & 0xff0f == 0xff02),
            }),
            "isLinkLocalUnicast" => CelValue::Bool(is_link_local(*address)),
            "isGlobalUnicast" => CelValue::Bool(
                !(address.is_unspecified()
                    || address.is_loopback()
                    || address.is_multicast()
                    || is_link_local(*address)
                    || matches!(address, IpAddr::V4(four) if four.is_broadcast())),
            ),
            _ => return None,
        }),
        _ => None,
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}
