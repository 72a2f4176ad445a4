//! Finds the name that a mistyped one meant.

/// Returns the candidate that a mistyped `name` most likely meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // A model's key may be a megabyte long, and computing the distance takes quadratic time.
    if name.len() > 128 {
        return None;
    }
    let letters = letters(name);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let mut most = candidate.len().max(name.len()) / 2;
        if let Some((distance, _)) = best {
            // The first of several equally close candidates wins.
            most = most.min(distance.saturating_sub(1));
        }
        if is_farther(letters, candidate, most) {
            continue;
        }
        if letters.is_none() || !candidate.is_ascii() {
            // A character of several bytes counts once.
            most = most.min(candidate.chars().count().max(name.chars().count()) / 2);
        }
        let distance = distance(name, candidate);
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the edit distance between two names, ignoring case: the number of characters to insert,
/// delete, replace or swap with the next.
fn distance(one: &str, other: &str) -> usize {
    if (1..=64).contains(&one.len()) && one.is_ascii() && other.is_ascii() {
        return distance_of_bytes(one.as_bytes(), other.as_bytes());
    }
    strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase())
}

/// Computes the distance one row of the table at a time, with Hyyrö's bit-vector algorithm (2003).
/// Bit `i` of a row is set if the distance grows or shrinks after the first `i` bytes of `one`.
fn distance_of_bytes(one: &[u8], other: &[u8]) -> usize {
    let last = one.len() - 1;
    let (mut grows, mut shrinks) = (!0_u64, 0);
    let (mut stays, mut equal_before) = (0, 0);
    let mut distance = one.len();
    for there in other {
        let there = there.to_ascii_lowercase();
        let equal = one.iter().rfold(0, |equal, here| {
            equal << 1 | u64::from(here.to_ascii_lowercase() == there)
        });
        let swapped = (!stays & equal) << 1 & equal_before;
        stays = ((equal & grows).wrapping_add(grows) ^ grows) | equal | shrinks | swapped;
        let (more, less) = (shrinks | !(stays | grows), stays & grows);
        distance = distance + (more >> last & 1) as usize - (less >> last & 1) as usize;
        let more = more << 1 | 1;
        (grows, shrinks) = (less << 1 | !(stays | more), stays & more);
        equal_before = equal;
    }
    distance
}

/// Returns the letters and digits of an ASCII text as a bit set.
fn letters(text: &str) -> Option<u64> {
    let bits = text.bytes().fold(0, |bits, byte| bits | bit(byte));
    text.is_ascii().then_some(bits)
}

/// Returns the bit of a letter or digit. Some share a bit, as the two cases of a letter do.
fn bit(byte: u8) -> u64 {
    1 << ((byte | 0x20) & 63)
}

/// Returns `true` if the distance of `text` to a text of these letters certainly exceeds `most`,
/// since each letter that is not one of them costs an edit.
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

    /// Finds the nearest candidate with a table of distances.
    fn nearest_of_all<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        let folded = name.to_lowercase();
        candidates
            .iter()
            .map(|candidate| {
                let distance = strsim::osa_distance(&folded, &candidate.to_lowercase());
                (distance, *candidate)
            })
            .filter(|(distance, candidate)| {
                *distance <= candidate.chars().count().max(name.chars().count()) / 2
            })
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate)
    }

    #[test]
    fn the_distance_equals_that_of_the_table() {
        let mut texts = vec![String::new()];
        for length in 0..5 {
            let of_one_less = texts.iter().filter(|text| text.len() == length);
            let longer = of_one_less.flat_map(|text| ["a", "b", "C"].map(|end| text.clone() + end));
            texts.extend(longer.collect::<Vec<_>>());
        }
        texts.extend(["x".repeat(63) + "y", "x".repeat(64) + "y", "y".repeat(130)]);
        for one in &texts {
            for other in &texts {
                let (one, other) = (one.to_uppercase(), other.as_str());
                let of_table = strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase());
                assert_eq!(distance(&one, other), of_table, "{one} {other}");
            }
        }
    }

    #[test]
    fn a_single_character_of_another_alphabet_is_close_to_nothing() {
        let names = ["c", "t", "days"];
        for name in ["é", "日", "日本語", "\u{1f980}"] {
            assert_eq!(nearest(name, names.into_iter()), None, "{name}");
        }
        let names = ["größe", "naïve"];
        assert_eq!(nearest("grosse", names.into_iter()), Some("größe"));
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
            "é",
            "日本語",
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
