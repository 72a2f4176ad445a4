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
    let places = Places::of(name);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let most = candidate.len().max(name.len()) / 2;
        let distance = match &places {
            Some(places) if candidate.is_ascii() => {
                if places.strangers(candidate) > most {
                    continue;
                }
                places.distance(candidate)
            }
            _ => strsim::osa_distance(&name.to_lowercase(), &candidate.to_lowercase()),
        };
        // The first of several is taken.
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Where each character stands in a name of ASCII, in either case: a bit for every place.
struct Places {
    of: [u64; 128],
    length: usize,
}

impl Places {
    /// `None` for what is not of ASCII, or has too many characters for the bits.
    fn of(name: &str) -> Option<Places> {
        if !name.is_ascii() || !(1..=64).contains(&name.len()) {
            return None;
        }
        let mut of = [0; 128];
        for (place, byte) in name.bytes().enumerate() {
            of[usize::from(byte.to_ascii_lowercase())] |= 1 << place;
            of[usize::from(byte.to_ascii_uppercase())] |= 1 << place;
        }
        let length = name.len();
        Some(Places { of, length })
    }

    /// How many characters of another name of ASCII are not in this one. The distance is no less.
    fn strangers(&self, other: &str) -> usize {
        let others = other.bytes();
        others
            .filter(|&byte| self.of[usize::from(byte)] == 0)
            .count()
    }

    /// How many characters must be put in, left out, replaced or swapped with the next to come from
    /// the name to another of ASCII.
    ///
    /// Each character of the other makes a column in the table of distances between the beginnings
    /// of both. Neighbours in it differ by at most one, so that a column is kept as the bits of
    /// where it rises and of where it falls, and the next is computed at once (Hyyrö's algorithm).
    fn distance(&self, other: &str) -> usize {
        let last = 1 << (self.length - 1);
        let mut distance = self.length;
        let (mut rises, mut falls) = (u64::MAX, 0_u64);
        let (mut same_before, mut free) = (0_u64, 0_u64);
        for byte in other.bytes() {
            let same = self.of[usize::from(byte)];
            let swapped = ((!free & same) << 1) & same_before;
            // Where a step along both names costs nothing.
            free = ((same & rises).wrapping_add(rises) ^ rises) | same | falls | swapped;
            // Where a row rises to this column, and where it falls.
            let up = falls | !(free | rises);
            let down = free & rises;
            distance += usize::from(up & last != 0);
            distance -= usize::from(down & last != 0);
            let (up, down) = (up << 1 | 1, down << 1);
            rises = down | !(free | up);
            falls = up & free;
            same_before = same;
        }
        distance
    }
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
