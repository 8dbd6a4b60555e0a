use std::cmp::Ordering;
use std::rc::Rc;

use crate::cel::library::{Authorizer, Cidr, Ip, Quantity, Semver, Url};

/// A value of one of Kubernetes' libraries.
#[derive(Clone, Debug)]
pub enum Opaque {
    /// A quantity.
    Quantity(Quantity),
    /// A URL.
    Url(Rc<Url>),
    /// A semantic version.
    Semver(Rc<Semver>),
    /// An address of the internet protocol.
    Ip(Ip),
    /// A range of addresses.
    Cidr(Cidr),
    /// A format with a name.
    Format(&'static str),
    /// Somebody who can be asked, and questions that are being put together.
    Authorizer(Rc<Authorizer>),
}

impl Opaque {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Url(_) => "kubernetes.URL",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Authorizer(authorizer) => authorizer.type_name(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Url(url) => url.text().len(),
            Self::Ip(ip) => ip.size(),
            Self::Cidr(cidr) => cidr.size(),
            _ => 1,
        }
    }
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Quantity(left), Self::Quantity(right)) => left.cmp(right) == Ordering::Equal,
            (Self::Url(left), Self::Url(right)) => left.text() == right.text(),
            (Self::Semver(left), Self::Semver(right)) => left.cmp(right) == Ordering::Equal,
            (Self::Ip(left), Self::Ip(right)) => left == right,
            (Self::Cidr(left), Self::Cidr(right)) => left == right,
            (Self::Format(left), Self::Format(right)) => left == right,
            (Self::Authorizer(left), Self::Authorizer(right)) => Rc::ptr_eq(left, right),
            _ => false,
        }
    }
}
