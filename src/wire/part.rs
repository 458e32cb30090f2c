//! A piece of a frame's content, which may be only its beginning.

/// Bytes out of a frame. They may be cut, since only a bounded part of a frame is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub bytes: &'a [u8],
    /// Whether this is all of it.
    pub is_whole: bool,
}

impl<'a> Part<'a> {
    pub const fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, is_whole: true }
    }

    pub const fn cut(bytes: &'a [u8]) -> Self {
        Self { bytes, is_whole: false }
    }

    /// As text, when it is UTF-8. A cut may go through a character; what is left of that one is
    /// not part of the text.
    pub fn text(self) -> Option<&'a str> {
        match std::str::from_utf8(self.bytes) {
            Ok(text) => Some(text),
            Err(error) if !self.is_whole && error.error_len().is_none() => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        }
    }

    /// As text, when all of it is there.
    pub fn whole_text(self) -> Option<&'a str> {
        self.is_whole.then(|| self.text()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::Part;

    #[test]
    fn a_cut_through_a_character_leaves_the_text_before_it() {
        let euro = "1 €".as_bytes();
        assert_eq!(Part::whole(euro).text(), Some("1 €"));
        assert_eq!(Part::cut(&euro[..3]).text(), Some("1 "));
        assert_eq!(Part::whole(&euro[..3]).text(), None);
        assert_eq!(Part::cut(b"\xff1").text(), None);
        assert_eq!(Part::cut(b"1").whole_text(), None);
    }
}
