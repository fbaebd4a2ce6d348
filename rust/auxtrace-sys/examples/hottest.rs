// SPDX-License-Identifier: GPL-2.0-only
//! What examples/hottest.c does: which functions executed how many instructions by themselves, and in how many calls.
//!
//!     hottest DIR [SYMFS]

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CStr, CString};
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_void};
use std::process::exit;
use std::ptr::{null, null_mut};

use auxtrace_sys::*;

#[derive(Default)]
struct Function {
    calls: u64,
    instructions: u64,
}

type Functions = BTreeMap<(String, String), Function>;

/// The text at `s`, which lives at least as long as the decoder; "?" if there is none.
unsafe fn text(s: *const c_char) -> String {
    if s.is_null() {
        "?".to_string()
    } else {
        CStr::from_ptr(s).to_string_lossy().into_owned()
    }
}

/// A call has ended: adds it to those of its function.
unsafe extern "C" fn count(context: *mut c_void, call: *mut auxtrace_call) -> c_int {
    let functions = &mut *(context as *mut Functions);
    let call = &*call;
    let function = functions.entry((text(call.function), text(call.object))).or_default();

    function.calls += u64::from(call.flags & AUXTRACE_CALL_BEGUN != 0);
    function.instructions += call.instructions - call.callee_instructions;
    0
}

unsafe extern "C" fn message(_context: *mut c_void, said: *const c_char) {
    eprintln!("hottest: {}", text(said));
}

fn decode(dir: &CStr, symfs: Option<&CStr>) -> Result<Functions, String> {
    let mut functions = Functions::new();

    // SAFETY: all zeros are valid for both structs; they, the strings and the map outlive the decoder.
    unsafe {
        let mut options: auxtrace_decoder_options = std::mem::zeroed();
        options.size = size_of::<auxtrace_decoder_options>() as u32;
        options.cpu = -1;
        options.symfs = symfs.map_or(null(), CStr::as_ptr);
        options.message = Some(message);

        let mut handler: auxtrace_call_handler = std::mem::zeroed();
        handler.size = size_of::<auxtrace_call_handler>() as u32;
        handler.end = Some(count);

        let decoder = auxtrace_decoder_open(dir.as_ptr(), &options);
        if decoder == null_mut()
            || auxtrace_decode_calls(decoder, &handler, &mut functions as *mut _ as *mut c_void) != 0
        {
            let error = text(auxtrace_decoder_error());
            auxtrace_decoder_close(decoder);
            return Err(error);
        }
        auxtrace_decoder_close(decoder);
    }
    Ok(functions)
}

fn main() {
    let arguments: Vec<CString> = env::args_os()
        .skip(1)
        .map(|a| {
            use std::os::unix::ffi::OsStringExt;
            CString::new(a.into_vec()).expect("an argument has no NUL byte")
        })
        .collect();

    if arguments.is_empty() || arguments.len() > 2 {
        eprintln!("usage: hottest DIR [SYMFS]");
        exit(2);
    }
    match decode(&arguments[0], arguments.get(1).map(CString::as_c_str)) {
        Ok(functions) => {
            for ((name, object), f) in functions {
                println!("{:12} {:8}  {} ({})", f.instructions, f.calls, name, object);
            }
        }
        Err(error) => {
            eprintln!("hottest: {}", error);
            exit(1);
        }
    }
}
