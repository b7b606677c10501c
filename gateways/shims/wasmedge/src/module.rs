//! What an image holds, judging by its bytes: whether this shim can run it, and how.

use anyhow::{Result, bail};
use containerd_shim_wasm::sandbox::context::WasmBinaryType;

/// The length of a module's magic number and version.
const HEADER: usize = 8;
const CUSTOM_SECTION: u8 = 0;
/// The section into which WasmEdge's compiler puts its code.
const COMPILED: &[u8] = b"wasmedge";

/// How a module is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// With the code that was compiled into it.
    Aot,
    /// Instruction by instruction.
    Interpreter,
}

impl Mode {
    /// The only mode that makes sense for this module.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match WasmBinaryType::from_bytes(bytes) {
            Some(WasmBinaryType::Module) if is_compiled(bytes) => Ok(Self::Aot),
            Some(WasmBinaryType::Module) => Ok(Self::Interpreter),
            Some(WasmBinaryType::Component) => bail!(
                "the image holds a Wasm component, and this shim runs modules: build the program for \
                 wasm32-wasip1"
            ),
            None => bail!("the image holds no Wasm module: build the program for wasm32-wasip1"),
        }
    }

    /// The word that guests repeat.
    pub fn word(self) -> &'static str {
        match self {
            Self::Aot => "Aot",
            Self::Interpreter => "Interpreter",
        }
    }
}

fn is_compiled(module: &[u8]) -> bool {
    let mut rest = module.get(HEADER..).unwrap_or_default();
    while let Some((id, content, after)) = section(rest) {
        let name = number(content).and_then(|(length, text)| text.get(..length));
        if id == CUSTOM_SECTION && name == Some(COMPILED) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns the number and content of the first section, and what follows it.
fn section(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (id, rest) = bytes.split_first()?;
    let (length, rest) = number(rest)?;
    let (content, after) = rest.split_at_checked(length)?;
    Some((*id, content, after))
}

/// Reads an unsigned LEB128 number of at most 32 bits. Returns it and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value: u64 = 0;
    for (index, byte) in bytes.iter().take(5).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(value).ok()?, &bytes[index + 1..]));
        }
    }
    None
}
