//! The name that a mistyped one meant.

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
        let distance = distance(name, candidate);
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

/// How many characters must be put in, left out, replaced or swapped with the next one to make one
/// name the other, whatever their case.
fn distance(one: &str, other: &str) -> usize {
    if one.is_ascii() && other.is_ascii() && (1..=64).contains(&one.len()) {
        return distance_in_bits(one.as_bytes(), other.as_bytes());
    }
    strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase())
}

/// The same of ASCII, where one name has as many characters as there are bits, or less, and not
/// none.
///
/// A character of the other name is a column in the table of the distances between the beginnings
/// of both. From row to row it rises by one, falls by one or stays, which makes two bits a row, and
/// all of the next column can be computed at once (Hyyrö's algorithm).
fn distance_in_bits(one: &[u8], other: &[u8]) -> usize {
    let places = |of: u8| {
        let is_there = |byte: &u8| u64::from(byte.to_ascii_lowercase() == of);
        let bytes = one.iter().rev();
        bytes.fold(0, |places, byte| places << 1 | is_there(byte))
    };
    let last = 1 << (one.len() - 1);
    let mut distance = one.len();
    let (mut rises, mut falls) = (u64::MAX, 0_u64);
    let (mut same_before, mut free) = (0_u64, 0_u64);
    for byte in other {
        let same = places(byte.to_ascii_lowercase());
        let swapped = ((!free & same) << 1) & same_before;
        // Where a step along both names costs nothing.
        free = ((same & rises).wrapping_add(rises) ^ rises) | same | falls | swapped;
        // Where a row is more than it was in the column before, and where it is less.
        let (more, less) = (falls | !(free | rises), free & rises);
        distance += usize::from(more & last != 0);
        distance -= usize::from(less & last != 0);
        let (more, less) = (more << 1 | 1, less << 1);
        rises = less | !(free | more);
        falls = more & free;
        same_before = same;
    }
    distance
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
    fn a_distance_in_bits_is_that_of_a_table() {
        let mut names = vec![String::new()];
        for at in 0..340 {
            let longer = "abcA"
                .chars()
                .map(|letter| format!("{}{letter}", names[at]));
            let longer: Vec<_> = longer.collect();
            names.extend(longer);
        }
        let long = "abcd".repeat(16);
        names.extend([long.clone(), long.replace("cd", "dc"), long + "d"]);
        for one in names.iter().filter(|one| (1..=64).contains(&one.len())) {
            for other in names.iter().step_by(7).chain(&names[names.len() - 3..]) {
                let table = strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase());
                let bits = distance_in_bits(one.as_bytes(), other.as_bytes());
                assert_eq!(bits, table, "{one} and {other}");
            }
        }
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
