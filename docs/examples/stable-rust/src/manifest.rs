// The manifest and the documents as data of the .so, in the form of backplane/stable/manifest.h.

#[repr(C)]
pub struct Note<const N: usize> {
    sizes: [u32; 3], // of the owner, of what follows it, and the type of the note
    owner: [u8; 12],
    magic: [u8; 8],
    head: [u32; 6], // size of the head, abi, size of the JSON
    json: [u8; N],
}

impl<const N: usize> Note<N> {
    pub const fn new(json: &[u8; N]) -> Self {
        let head = 32;
        Note { sizes: [10, head + N as u32, 2], owner: *b"Backplane\0\0\0", magic: *b"BPSTABLE", head: [head, 1, N as u32, 0, 0, 0], json: *json }
    }
}
