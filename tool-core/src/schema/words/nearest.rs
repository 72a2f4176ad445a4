//! The name that a mistyped one meant.

use std::cell::OnceCell;

/// The candidate that a mistyped `name` most likely meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // A model's key may be a megabyte long, and the distance is quadratic.
    if name.len() > 128 {
        return None;
    }
    let letters = letters(name);
    let folded = OnceCell::new();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let mut most = candidate.len().max(name.len()) / 2;
        if let Some((distance, _)) = best {
            // The first of several is taken.
            most = most.min(distance.saturating_sub(1));
        }
        if is_farther(letters, candidate, most) {
            continue;
        }
        let folded = folded.get_or_init(|| name.to_lowercase());
        let distance = strsim::osa_distance(folded, &candidate.to_lowercase());
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Which letters and digits a text holds, a bit for each, if they are all of ASCII.
fn letters(text: &str) -> Option<u64> {
    let bits = text.bytes().fold(0, |bits, byte| bits | bit(byte));
    text.is_ascii().then_some(bits)
}

/// The bit of a letter or digit. Some share one: the two cases of a letter always do.
fn bit(byte: u8) -> u64 {
    1 << ((byte | 0x20) & 63)
}

/// Whether a text is surely farther than `most` from one that holds these letters: each letter that
/// is none of them takes a change of its own.
fn is_farther(letters: Option<u64>, text: &str, most: usize) -> bool {
    let Some(letters) = letters else {
        return false;
    };
    let mut changes = most;
    for byte in text.bytes() {
        if !byte.is_ascii() {
            return false;
        }
        if letters & bit(byte) != 0 {
            continue;
        }
        match changes.checked_sub(1) {
            Some(fewer) => changes = fewer,
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by a table of distances.
    fn nearest_of_all<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        let folded = name.to_lowercase();
        candidates
            .iter()
            .map(|candidate| {
                let distance = strsim::osa_distance(&folded, &candidate.to_lowercase());
                (distance, *candidate)
            })
            .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()) / 2)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate)
    }

    #[test]
    fn the_nearest_of_several_names_is_found() {
        let names = [
            "city",
            "days",
            "unit",
            "latitude",
            "limit",
            "hourly",
            "wind",
            "contry",
            "Country",
            "aab",
            "aba",
            "ab",
            "a",
            "",
            "0",
            "p0",
            "größe",
            "GRÖSSE",
            "naïve",
            "dayz",
            "yads",
            "LIMITS",
            "latitude_deg",
            "_",
            "__",
            "İ",
        ];
        for name in names {
            for end in 0..=names.len() {
                let candidates = &names[..end];
                assert_eq!(
                    nearest(name, candidates.iter().copied()),
                    nearest_of_all(name, candidates),
                    "{name} among {candidates:?}"
                );
            }
        }
    }
}
