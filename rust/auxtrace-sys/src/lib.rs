// SPDX-License-Identifier: LGPL-2.1-or-later
//! libauxtrace and libauxtrace-decode as C has them. Names, units, ownership and errors are those of `auxtrace.h`,
//! `auxtrace-decode.h` and `linux/auxtrace.h`, and the calls that block are named there.
//!
//! bindgen generates all of this when the crate is built, from the headers that are installed. It cannot evaluate
//! the numbers of the ioctls (`AUXTRACE_IOC_*`): the libraries' functions make these calls.
#![allow(non_camel_case_types, non_upper_case_globals)]
// bindgen 0.60 writes &(*ptr).member where ptr is null, in its tests of the structs' layout.
#![cfg_attr(test, allow(deref_nullptr))]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
