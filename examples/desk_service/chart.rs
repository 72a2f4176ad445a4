//! A bar chart as an SVG picture.

/// Draws a bar with its number for each week, and the axes with their labels.
pub(crate) fn svg(values: &[(u32, u32)]) -> String {
    let most = values.iter().map(|(_, units)| *units).max().unwrap_or(0);
    let step = most.div_ceil(4).next_multiple_of(5).max(5);
    let top = |units: u32| 260 - units * 220 / (4 * step);
    let mut svg = String::from(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" width="640" height="320" font-family="system-ui, sans-serif" font-size="16" text-anchor="middle" fill="#1c2430"><rect width="640" height="320" fill="#fff"/><text x="345" y="310">Week</text><text transform="translate(18 150) rotate(-90)">Units sold</text>"##,
    );
    for units in (0..=4).map(|line| line * step) {
        let y = top(units);
        svg += &format!(
            r##"<path d="M60 {y}h570" stroke="#c3cbd5"/><text x="36" y="{y}" dy="5">{units}</text>"##
        );
    }
    let slot = 560 / u32::try_from(values.len()).unwrap_or(1).max(1);
    for ((week, units), x) in values.iter().zip((65..).step_by(slot as usize)) {
        let (y, left, width, middle) = (top(*units), x + slot / 6, slot * 2 / 3, x + slot / 2);
        svg += &format!(
            r##"<rect x="{left}" y="{y}" width="{width}" height="{}" fill="#3065ac"/><text x="{middle}" y="{y}" dy="-6" stroke="#fff" stroke-width="4" paint-order="stroke">{units}</text><text x="{middle}" y="282">{week}</text>"##,
            260 - y
        );
    }
    svg + "</svg>"
}
