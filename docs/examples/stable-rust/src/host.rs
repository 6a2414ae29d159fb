// A small binding of the tables: what a plugin calls, in Rust's types.
use crate::tables::*;
use std::os::raw::c_char;

pub fn text(words: &str) -> bp_str {
    bp_str { data: words.as_ptr() as *const c_char, size: words.len() }
}

/// The bytes of a text that is valid during the callback.
pub unsafe fn view<'a>(text: bp_str) -> &'a str {
    if text.size == 0 {
        return "";
    }
    std::str::from_utf8(std::slice::from_raw_parts(text.data as *const u8, text.size)).unwrap_or("")
}

pub type Result<T> = std::result::Result<T, String>;

/// Runs a callback: its error, and a panic, go to the other side as a bp_error.
pub unsafe fn barrier(error: *mut bp_error, work: impl FnOnce() -> Result<()>) -> i32 {
    let message = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(Ok(())) => return 0,
        Ok(Err(message)) => message,
        Err(_) => "a panic".to_string(),
    };
    let to = &mut (*error).message;
    for (at, byte) in message.bytes().take(to.len() - 1).enumerate() {
        to[at] = byte as c_char;
    }
    -1
}

fn no_error() -> bp_error {
    bp_error { code: 0, reason: [0; 32], message: [0; 988] }
}
fn message_of(error: &bp_error) -> String {
    error.message.iter().take_while(|c| **c != 0).map(|c| *c as u8 as char).collect()
}

/// The tables of the server.
#[derive(Clone, Copy)]
pub struct Host {
    pub host: &'static bp_host,
    pub json: &'static bp_json_table,
    pub groups: &'static bp_groups_table,
    pub admission: &'static bp_admission_table,
    pub controllers: &'static bp_controllers_table,
    pub client: &'static bp_client_table,
}

impl Host {
    pub unsafe fn find(host: *const bp_host) -> Result<Host> {
        let host = &*host;
        Ok(Host {
            host,
            json: Self::table(host, BP_JSON_TABLE)?,
            groups: Self::table(host, BP_GROUPS_TABLE)?,
            admission: Self::table(host, BP_ADMISSION_TABLE)?,
            controllers: Self::table(host, BP_CONTROLLERS_TABLE)?,
            client: Self::table(host, BP_CLIENT_TABLE)?,
        })
    }
    unsafe fn table<T>(host: &'static bp_host, name: &str) -> Result<&'static T> {
        let found = host.table.unwrap()(host.context, text(name), 1) as *const T;
        found.as_ref().ok_or_else(|| format!("the server lacks the table {name}"))
    }

    /// Calls a function that can fail.
    pub fn checked(call: impl FnOnce(*mut bp_error) -> i32) -> Result<()> {
        let mut error = no_error();
        if call(&mut error) == 0 { Ok(()) } else { Err(message_of(&error)) }
    }
    /// Calls a function that gives a handle, or fails.
    pub fn given<T>(call: impl FnOnce(*mut bp_error) -> *mut T) -> Result<*mut T> {
        let mut error = no_error();
        let found = call(&mut error);
        if found.is_null() { Err(message_of(&error)) } else { Ok(found) }
    }
    pub unsafe fn take(&self, given: *mut bp_text) -> String {
        let bytes = view(self.host.view.unwrap()(given)).to_string();
        self.host.release.unwrap()(given);
        bytes
    }
    pub unsafe fn parse(&self, bytes: bp_str) -> Result<Json> {
        let json = Self::given(|error| unsafe { self.json.parse.unwrap()(bytes, error) })?;
        Ok(Json { host: *self, json })
    }
}

/// A document.
pub struct Json {
    host: Host,
    json: *mut bp_json,
}

impl Json {
    pub fn string(&self, path: &str) -> String {
        unsafe { view(self.host.json.get_string.unwrap()(self.json, text(path))).to_string() }
    }
    pub fn integer(&self, path: &str) -> i64 {
        unsafe { self.host.json.get_int.unwrap()(self.json, text(path), 0) }
    }
    pub fn set(&mut self, path: &str, value: &str) -> Result<()> {
        Host::checked(|error| unsafe { self.host.json.set_string.unwrap()(self.json, text(path), text(value), error) })
    }
    pub fn text(&self) -> String {
        unsafe { self.host.take(self.host.json.get.unwrap()(self.json, text(""))) }
    }
}

impl Drop for Json {
    fn drop(&mut self) {
        unsafe { self.host.json.release.unwrap()(self.json) }
    }
}
