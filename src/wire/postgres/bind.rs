//! The parameters of a Bind, as text wherever they can be read.
//!
//! Binary forms: the `*send` functions of PostgreSQL's `src/backend/utils/adt`; OIDs are those of
//! `src/include/catalog/pg_type.dat`.

use std::borrow::Cow;

use crate::wire::Part;

use super::fields::Fields;

const BOOL: u32 = 16;
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const UUID: u32 = 2950;

/// A Bind message.
#[derive(Clone, Copy, Debug)]
pub struct Bind<'a> {
    pub portal: &'a [u8],
    pub statement: &'a [u8],
    /// Two bytes for each format: none at all (all text), one for all, or one for each.
    formats: &'a [u8],
    /// How many parameters there are, and their lengths and values.
    count: u16,
    values: Fields<'a>,
}

/// One parameter of a Bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// In binary form, which only its type explains.
    pub is_binary: bool,
    /// None is NULL.
    pub value: Option<Part<'a>>,
}

impl<'a> Bind<'a> {
    pub(super) fn of(mut fields: Fields<'a>) -> Option<Self> {
        let (portal, statement) = (fields.name()?, fields.name()?);
        let formats = usize::from(fields.short()?);
        let formats = fields.take(formats * 2)?;
        let count = fields.short()?;
        Some(Self { portal, statement, formats, count, values: fields })
    }

    /// How many parameters it has, kept or not.
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// The parameters as far as they are kept; the last one may be cut.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + use<'a> {
        let (mut values, formats) = (self.values, self.formats);
        (0..usize::from(self.count)).map_while(move |place| {
            let format = match formats.len() {
                2 => formats.get(..2),
                _ => formats.get(place * 2..place * 2 + 2),
            };
            let is_binary = format.is_some_and(|format| format != [0, 0]);
            let value = match values.word()? {
                u32::MAX => None,
                length => Some(values.value(usize::try_from(length).ok()?)?),
            };
            Some(Parameter { is_binary, value })
        })
    }
}

impl<'a> Parameter<'a> {
    /// The value as PostgreSQL would write it as text, for a type by its OID: integers, booleans
    /// and uuids; for all others and an unknown type (0) what it is when that is UTF-8. None is a
    /// NULL, a value that is cut, or one that can't be read.
    pub fn text(&self, oid: u32) -> Option<Cow<'a, str>> {
        let value = self.value.filter(|value| value.is_whole)?;
        if !self.is_binary {
            return value.text().map(Cow::Borrowed);
        }
        let bytes = value.bytes;
        Some(Cow::Owned(match oid {
            BOOL => match bytes {
                [0] => "f".to_owned(),
                [_] => "t".to_owned(),
                _ => return None,
            },
            INT2 => i16::from_be_bytes(bytes.try_into().ok()?).to_string(),
            INT4 => i32::from_be_bytes(bytes.try_into().ok()?).to_string(),
            INT8 => i64::from_be_bytes(bytes.try_into().ok()?).to_string(),
            UUID => uuid(bytes.try_into().ok()?),
            _ => return value.text().map(Cow::Borrowed),
        }))
    }
}

fn uuid(bytes: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|group| &digits[group]).join("-")
}
