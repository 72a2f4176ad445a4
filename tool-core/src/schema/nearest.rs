//! Finds the name that a mistyped one meant.

/// The work that finding a name may take, in steps of about 4 ns. Enough for ten thousand names of thirty characters.
const BUDGET: usize = 3 << 18;

/// Returns the candidate that a mistyped `name` most likely meant. Takes bounded time: of very many
/// candidates, the last ones are ignored.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // A model's key may be a megabyte long, and computing the distance takes quadratic time.
    if name.len() > 128 {
        return None;
    }
    let letters = letters(name);
    let mut budget = BUDGET;
    let mut masks = None;
    let mut compared = 0;
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let steps = 8 + candidate.len().min(8 * name.len()) / 8;
        let Some(left) = budget.checked_sub(steps) else {
            break;
        };
        budget = left;
        // More than twice as many characters, each of at most four bytes.
        if candidate.len() / 8 > name.len() {
            continue;
        }
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
        } else if candidate.len().abs_diff(name.len()) > most {
            continue;
        }
        let fast = (1..=64).contains(&name.len()) && letters.is_some() && candidate.is_ascii();
        let steps = candidate.len() * if fast { 1 } else { name.len() };
        let Some(left) = budget.checked_sub(steps) else {
            break;
        };
        budget = left;
        compared += 1;
        let distance = if fast && compared <= FEW {
            distance(name.len(), candidate.as_bytes(), |byte| {
                mask(name.as_bytes(), byte)
            })
        } else if fast {
            let masks = masks.get_or_insert_with(|| masks_of(name.as_bytes()));
            distance(name.len(), candidate.as_bytes(), |byte| {
                masks[usize::from(byte & 127)]
            })
        } else {
            strsim::osa_distance(&name.to_lowercase(), &candidate.to_lowercase())
        };
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The number of candidates up to which a table of masks does not pay.
const FEW: usize = 8;

/// Returns the positions at which a name of at most 64 bytes has a lower-case character, ignoring
/// case: bit `i` is set for position `i`.
fn mask(name: &[u8], byte: u8) -> u64 {
    name.iter().rfold(0, |mask, here| {
        mask << 1 | u64::from(here.to_ascii_lowercase() == byte)
    })
}

/// Returns the masks of all ASCII characters.
fn masks_of(name: &[u8]) -> [u64; 128] {
    let mut masks = [0; 128];
    for (at, byte) in name.iter().enumerate() {
        masks[usize::from(byte.to_ascii_lowercase() & 127)] |= 1 << at;
    }
    masks
}

/// Returns the edit distance between two ASCII names, ignoring case: the number of characters to
/// insert, delete, replace or swap with the next. The first name has 1 to 64 bytes and is given by
/// its masks.
///
/// Computes one row of the table at a time, with Hyyrö's bit-vector algorithm (2003). Bit `i` of a
/// row is set if the distance grows or shrinks after the first `i` bytes of the name.
fn distance(length: usize, other: &[u8], mask: impl Fn(u8) -> u64) -> usize {
    let last = length - 1;
    let (mut grows, mut shrinks) = (!0_u64, 0);
    let (mut stays, mut equal_before) = (0, 0);
    let mut distance = length;
    for there in other {
        let equal = mask(there.to_ascii_lowercase());
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

/// Returns `true` if the distance of `text` to a string of these letters certainly exceeds `most`,
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
                if !(1..=64).contains(&one.len()) {
                    continue;
                }
                let of_table = strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase());
                let (name, other) = (one.as_bytes(), other.as_bytes());
                let masks = masks_of(name);
                let by_masks = distance(name.len(), other, |byte| masks[usize::from(byte)]);
                let by_text = distance(name.len(), other, |byte| mask(name, byte));
                assert_eq!((by_masks, by_text), (of_table, of_table), "{one} {other:?}");
            }
        }
    }

    #[test]
    fn the_last_of_very_many_candidates_are_ignored() {
        let names: Vec<_> = (0..1_000_000)
            .map(|at| format!("{}{at:07}", "ab".repeat(28)))
            .collect();
        for name in ["ba".repeat(32), "ba".repeat(64), "bä".repeat(40)] {
            let mut seen = 0;
            let candidates = names.iter().map(String::as_str).inspect(|_| seen += 1);
            let _ = nearest(&name, candidates);
            assert!((100..=BUDGET / 8).contains(&seen), "{seen}");
        }
        // Names within the limit are still found.
        let near = "ab".repeat(28) + "0000100";
        assert_eq!(
            nearest(&near, names.iter().map(String::as_str)),
            Some(&*near)
        );
    }

    #[test]
    fn ten_thousand_names_are_compared() {
        let far = "abcdefghijklmnopqrstuvwxyz0123";
        let name: String = far.chars().rev().collect();
        let near = format!("{name}x");
        let names = std::iter::repeat_n(far, 9_999).chain([&*near]);
        assert_eq!(nearest(&name, names), Some(&*near));
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
