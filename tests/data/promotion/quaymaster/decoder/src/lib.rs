//! Decodes AIS sentences. The trait FromStr is not used, because a sentence may need a second one.

use std::fmt;

pub const MAX_FRAME: usize = 82;

/* struct BytesMut would save a copy; enum TryReserveError is not handled. */

/// A decoded frame.
pub struct AisFrame {
    pub ship: u32,
    pub draught_decimetres: u16,
}

#[derive(Debug)]
pub enum NmeaError {
    Checksum,
    Truncated,
}

impl fmt::Display for NmeaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "type checked_add overflowed: {self:?}")
    }
}

pub fn decode_sentence(text: &str) -> Result<AisFrame, NmeaError> {
    if text.len() > MAX_FRAME {
        return Err(NmeaError::Truncated);
    }
    Ok(AisFrame { ship: 0, draught_decimetres: 0 })
}
