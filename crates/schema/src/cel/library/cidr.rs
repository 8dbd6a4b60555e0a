//! Ranges of addresses.

use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::ip::Ip;
use super::{Outcome, failed, gives};
use crate::cel::value::{CelValue, Opaque};

/// A range of addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl Cidr {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("network address parse error during conversion from string: netip.ParsePrefix({text:?}): no '/'")
        };
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address = address.parse::<IpAddr>().map_err(|_| wrong())?;
        if matches!(address, IpAddr::V6(six) if six.to_ipv4_mapped().is_some()) {
            return Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"));
        }
        let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || (bits.len() > 1 && bits.starts_with('0')) {
            return Err(wrong());
        }
        let bits: u8 = bits.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if bits <= most { Ok(Self { address, bits }) } else { Err(wrong()) }
    }

    fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(four) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from(u32::from(four) & mask))
            }
            IpAddr::V6(six) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from(u128::from(six) & mask))
            }
        };
        Self { address, bits: self.bits }
    }

    fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && Self { address, bits: self.bits }.masked().address == self.masked().address
    }

    pub(crate) fn size(self) -> usize {
        usize::from(self.bits).div_ceil(8)
    }
}

impl Display for Cidr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

pub(super) fn call<'a>(function: &str, arguments: &[CelValue<'a>]) -> Outcome<'a> {
    match (function, arguments) {
        ("cidr", [CelValue::String(text)]) => match Cidr::parse(text) {
            Ok(cidr) => gives(CelValue::Opaque(Opaque::Cidr(cidr))),
            Err(why) => failed(why),
        },
        ("isCIDR", [CelValue::String(text)]) => gives(CelValue::Bool(Cidr::parse(text).is_ok())),
        (_, [CelValue::Opaque(Opaque::Cidr(cidr))]) => gives(match function {
            "ip" => CelValue::Opaque(Opaque::Ip(Ip(cidr.address))),
            "prefixLength" => CelValue::Int(i64::from(cidr.bits)),
            "masked" => CelValue::Opaque(Opaque::Cidr(cidr.masked())),
            _ => return None,
        }),
        ("containsIP", [CelValue::Opaque(Opaque::Cidr(cidr)), of]) => match of {
            CelValue::Opaque(Opaque::Ip(ip)) => gives(CelValue::Bool(cidr.contains(ip.0))),
            CelValue::String(text) => match Ip::parse(text) {
                Ok(ip) => gives(CelValue::Bool(cidr.contains(ip.0))),
                Err(why) => failed(why),
            },
            _ => None,
        },
        ("containsCIDR", [CelValue::Opaque(Opaque::Cidr(cidr)), of]) => {
            let other = match of {
                CelValue::Opaque(Opaque::Cidr(other)) => *other,
                CelValue::String(text) => match Cidr::parse(text) {
                    Ok(other) => other,
                    Err(why) => return failed(why),
                },
                _ => return None,
            };
            gives(CelValue::Bool(cidr.bits <= other.bits && cidr.contains(other.address)))
        }
        _ => None,
    }
}
