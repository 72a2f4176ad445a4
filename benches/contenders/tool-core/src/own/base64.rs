//! Base64 of 10 MB, beside the crate `base64` and a copy of the bytes.

use std::hint::black_box;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use harness::Work;
use tool_core::content::Image;

const BYTES: usize = 10 << 20;

fn bytes() -> Vec<u8> {
    (0..BYTES).map(|at| (at * 31 % 251) as u8).collect()
}

/// Returns a case: `encode` or `decode`, by tool-core, by the crate `base64`, or as a copy of what is read.
pub fn work(case: &str) -> Work {
    let bytes = bytes();
    let image = Image::png(bytes.clone());
    let url = image.to_data_url();
    let text = STANDARD.encode(&bytes);
    assert!(url.ends_with(&text));
    match case {
        "base64 encode" => repeated(image, |image| image.to_data_url()),
        "base64 encode, base64" => repeated(bytes, |bytes| STANDARD.encode(bytes)),
        "base64 encode, copy" => repeated(bytes, |bytes| bytes.clone()),
        "base64 decode" => repeated(url, |url| Image::url(url)),
        "base64 decode, base64" => repeated(text, |text| STANDARD.decode(text).expect("base64")),
        "base64 decode, copy" => repeated(text, |text| text.clone()),
        _ => panic!("no case {case}"),
    }
}

fn repeated<I: 'static, T: 'static>(input: I, convert: fn(&I) -> T) -> Work {
    Work::new(1, move || {
        black_box(convert(black_box(&input)));
    })
}
