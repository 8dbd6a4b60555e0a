use yasna::models::TaggedDerValue;
use yasna::{ASN1Result, BERReader, PCBit, construct_der, parse_der, tags};

/// Object identifiers of a name's parts (RFC 5280, appendix A), and the one that Kubernetes uses for uids.
pub(super) const COMMON_NAME: &[u64] = &[2, 5, 4, 3];
pub(super) const ORGANIZATION: &[u64] = &[2, 5, 4, 10];
pub(super) const UID: &[u64] = &[1, 3, 6, 1, 4, 1, 57683, 2];

/// UTF8String, PrintableString, TeletexString and IA5String: the strings that names are made of.
const STRINGS: [u64; 4] = [12, 19, 20, 22];

/// What a certificate's subject says of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// The last common name, as Go has it.
    pub(super) common_name: String,
    /// All organizations, in order.
    pub(super) organizations: Vec<String>,
    /// All uids, in order.
    pub(super) uids: Vec<String>,
}

impl Subject {
    /// Reads a name, DER without the outermost sequence; `None` when it is none.
    pub(super) fn read(name: &[u8]) -> Option<Self> {
        let mut subject = Self::default();
        let whole = construct_der(|writer| writer.write_tagged_der(&sequence(name.to_vec())));
        let read = parse_der(&whole, |reader| {
            reader.read_sequence_of(|reader| reader.read_set_of(|reader| subject.add(reader)))
        });
        read.ok().map(|()| subject)
    }

    fn add(&mut self, reader: BERReader<'_, '_>) -> ASN1Result<()> {
        let (kind, value) = reader.read_sequence(|reader| {
            let kind = reader.next().read_oid()?;
            Ok((kind, reader.next().read_tagged_der()?))
        })?;
        if !STRINGS.contains(&value.tag().tag_number) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(value.value()).into_owned();
        match kind.components().as_slice() {
            COMMON_NAME => self.common_name = text,
            ORGANIZATION => self.organizations.push(text),
            UID => self.uids.push(text),
            _ => {}
        }
        Ok(())
    }
}

/// What stands in a sequence, with the sequence around it.
pub(super) fn sequence(bytes: Vec<u8>) -> TaggedDerValue {
    TaggedDerValue::from_tag_pc_and_bytes(tags::TAG_SEQUENCE, PCBit::Constructed, bytes)
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn what_is_no_name_says_nothing() {
        for bytes in [&[1, 2, 3][..], &[0x31, 0x80], &[0x31, 0x05, 0x30], &[0xff; 40]] {
            assert_eq!(Subject::read(bytes), None, "{bytes:?}");
        }
        assert_eq!(Subject::read(&[]), Some(Subject::default()));
    }
}
