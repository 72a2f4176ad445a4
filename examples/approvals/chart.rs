//! A bar chart as a PNG picture.

const WIDTH: usize = 640;
const HEIGHT: usize = 320;
/// Pixels per pixel of a digit.
const SCALE: usize = 4;
/// The colours, with one byte per pixel in the picture.
const PALETTE: [[u8; 3]; 4] = [
    [255, 255, 255],
    [223, 227, 232],
    [48, 101, 172],
    [45, 52, 61],
];
const LINE: u8 = 1;
const BAR: u8 = 2;
const INK: u8 = 3;
/// Digits of 3 by 5 pixels: one octal digit a row.
const DIGITS: [[u8; 5]; 10] = [
    [7, 5, 5, 5, 7],
    [2, 6, 2, 2, 7],
    [7, 1, 7, 4, 7],
    [7, 1, 7, 1, 7],
    [5, 5, 7, 1, 1],
    [7, 4, 7, 1, 7],
    [7, 4, 7, 5, 7],
    [7, 1, 1, 1, 1],
    [7, 5, 7, 5, 7],
    [7, 5, 7, 1, 7],
];

/// Draws a bar with its number for each value.
pub(crate) fn png(values: &[u32]) -> Vec<u8> {
    let mut pixels = vec![0; WIDTH * HEIGHT];
    let mut fill = |left: usize, top: usize, width: usize, height: usize, colour: u8| {
        for row in pixels.chunks_mut(WIDTH).skip(top).take(height) {
            row[left.min(WIDTH)..(left + width).min(WIDTH)].fill(colour);
        }
    };
    let (top, bottom) = (40, HEIGHT - 16);
    for line in 0..=4 {
        fill(16, bottom - line * (bottom - top) / 4, WIDTH - 32, 2, LINE);
    }
    let most = values.iter().copied().max().unwrap_or(0).max(1) as usize;
    let slot = (WIDTH - 32) / values.len().max(1);
    for (index, &value) in values.iter().enumerate() {
        let height = value as usize * (bottom - top) / most;
        let left = 16 + index * slot;
        fill(left + slot / 6, bottom - height, slot * 2 / 3, height, BAR);
        let digits = value.to_string();
        let mut x = left + (slot - (digits.len() * 4 - 1) * SCALE) / 2;
        for digit in digits.bytes() {
            for (row, bits) in DIGITS[usize::from(digit - b'0')].iter().enumerate() {
                for column in (0..3).filter(|column| bits & (4 >> column) != 0) {
                    let y = bottom - height - 7 * SCALE + row * SCALE;
                    fill(x + column * SCALE, y, SCALE, SCALE, INK);
                }
            }
            x += 4 * SCALE;
        }
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, 640, 320);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_palette(PALETTE.concat());
    let written = encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels));
    written.expect("a picture of this size in memory");
    out
}
