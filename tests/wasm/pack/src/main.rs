//! Writes the JavaScript of a module that uses wasm-bindgen: `pack MODULE.wasm FOLDER`.
//!
//! The same as the command line of wasm-bindgen with `--target web`.

use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        return Err("usage: pack MODULE.wasm FOLDER".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).web(true)?.typescript(false);
    bindgen.generate(folder)?;
    Ok(())
}
