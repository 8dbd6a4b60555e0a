//! Blocks of addresses, such as `10.0.0.0/8` (RFC 4632).

use std::fmt::{self, Display, Formatter};
use std::net::IpAddr;

use controller_runtime_schema::{FieldError, FieldPath};

use super::rules::Errors;

/// A block of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cidr {
    address: IpAddr,
    length: u32,
}

impl Cidr {
    /// Reads a block; what is wrong with it becomes an error.
    pub(super) fn checked(text: &str, path: &FieldPath, errors: &mut Errors) -> Option<Self> {
        let read = Self::read(text);
        let has_zeros =
            |part: &str| part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit());
        let wrong = match read {
            None => Some("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
            Some(_) if text.split(['.', '/']).any(has_zeros) => Some("must not have leading 0s in IP or prefix length"),
            Some(Self { address: IpAddr::V6(address), .. }) if address.to_ipv4_mapped().is_some() => {
                Some("must not have an IPv4-mapped IPv6 address")
            }
            Some(block) if block.bits() & block.host_mask() != 0 => {
                Some("must not have bits set beyond the prefix length")
            }
            Some(_) => None,
        };
        errors.extend(wrong.map(|detail| FieldError::invalid(path, text, detail)));
        read
    }

    fn read(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let plain = |part: &str| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0".to_owned(),
            rest => rest.to_owned(),
        };
        let address: IpAddr = if address.contains(':') {
            address.parse().ok()?
        } else {
            address.split('.').map(plain).collect::<Vec<_>>().join(".").parse().ok()?
        };
        let length: u32 = length.bytes().all(|byte| byte.is_ascii_digit()).then(|| length.parse().ok())??;
        let most = if address.is_ipv4() { 32 } else { 128 };
        (length <= most).then_some(Self { address, length })
    }

    /// Whether its addresses are those of the first family.
    pub(super) fn is_ipv4(self) -> bool {
        self.address.is_ipv4()
    }

    /// Whether another block is a part of this one, and not all of it.
    pub(super) fn exceeds(self, other: Self) -> bool {
        self.address.is_ipv4() == other.address.is_ipv4()
            && self.length < other.length
            && (self.bits() ^ other.bits()) & !self.host_mask() == 0
    }

    fn bits(self) -> u128 {
        match self.address {
            IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
            IpAddr::V6(address) => address.to_bits(),
        }
    }

    /// The bits beyond the prefix.
    fn host_mask(self) -> u128 {
        u128::MAX.checked_shr(self.length).unwrap_or_default()
    }
}

impl Display for Cidr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}
