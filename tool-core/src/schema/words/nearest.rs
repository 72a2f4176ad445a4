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
        if is_farther(letters, self::letters(candidate), most) {
            continue;
        }
        let distance = distance(name, candidate);
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Which letters and digits a text holds, a bit for each, if they are all of ASCII. Some share a
/// bit.
fn letters(text: &str) -> Option<u64> {
    let mut set = 0;
    for byte in text.bytes() {
        if !byte.is_ascii() {
            return None;
        }
        // The two cases of a letter differ in this bit, and what else does may share one.
        set |= 1 << ((byte | 0x20) & 63);
    }
    Some(set)
}

/// Whether the distance of two texts is surely greater than `most`: every letter that only one of
/// them holds takes a change, and one change removes at most one letter and brings one.
fn is_farther(left: Option<u64>, right: Option<u64>, most: usize) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return false;
    };
    let alone = (left & !right)
        .count_ones()
        .max((right & !left).count_ones());
    alone as usize > most
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
    let places = |of: &u8| {
        let bits = one.iter().rev().map(|byte| byte.eq_ignore_ascii_case(of));
        bits.fold(0, |places, is_here| places << 1 | u64::from(is_here))
    };
    let last = 1 << (one.len() - 1);
    let mut distance = one.len();
    let (mut rises, mut falls) = (u64::MAX, 0_u64);
    let (mut same_before, mut free) = (0_u64, 0_u64);
    for byte in other {
        let same = places(byte);
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
