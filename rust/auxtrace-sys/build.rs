// SPDX-License-Identifier: LGPL-2.1-or-later
//! Finds both libraries by pkg-config, and generates the bindings from their installed headers.

use std::env;
use std::path::PathBuf;

fn main() {
    let mut bindings = bindgen::Builder::default()
        .header_contents(
            "auxtrace-sys.h",
            "#include <auxtrace.h>\n#include <auxtrace-decode.h>\n",
        )
        .allowlist_function("auxtrace_.*")
        .allowlist_type("auxtrace_.*")
        .allowlist_var("AUXTRACE_.*")
        .prepend_enum_name(false);

    for library in ["auxtrace", "auxtrace-decode"] {
        let found = pkg_config::Config::new()
            .atleast_version(env!("CARGO_PKG_VERSION"))
            .probe(library)
            .unwrap_or_else(|error| panic!("{}", error));
        for path in found.include_paths {
            bindings = bindings.clang_arg(format!("-I{}", path.display()));
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("bindings.rs");
    bindings
        .generate()
        .expect("bindgen reads the headers")
        .write_to_file(&out)
        .unwrap_or_else(|error| panic!("{}: {}", out.display(), error));
}
