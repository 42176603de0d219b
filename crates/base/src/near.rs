//! Suggestions for unknown names.

/// Maximum number of names that are suggested.
const SUGGESTIONS_MAX: usize = 3;

/// Returns the names nearest to `name`, best first: those within a small edit distance, and those that start or end with
/// it. Returns only `name` if it is one of the names.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    let near = |other: &&str| {
        let small = distance(other) <= 1 + other.len() / 4;
        !other.is_empty() && small
            || (!name.is_empty() && (other.starts_with(name) || other.ends_with(name)))
    };
    let mut found: Vec<&str> = names.into_iter().filter(near).collect();
    found.sort_by_key(|other| (distance(other), *other));
    found.truncate(if found.first() == Some(&name) {
        1
    } else {
        SUGGESTIONS_MAX
    });
    found
}

/// Returns the probably intended name from a message such as serde's, which states an unknown name and the expected ones.
pub fn meant(message: &str) -> Option<String> {
    let unknown = ["unknown variant `", "unknown field `"];
    let (_, rest) = unknown.iter().find_map(|start| message.split_once(start))?;
    let (name, expected) = rest.split_once("`, expected ")?;
    let names = expected.split('`').skip(1).step_by(2);
    nearest(name, names).first().map(|&name| name.to_owned())
}

/// Formats `did you mean a or b?`; `None` if there are no names.
pub fn did_you_mean<T: std::fmt::Display>(names: &[T]) -> Option<String> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first_and_far_ones_do_not_come() {
        let names = ["uniform", "zipf", "sequential"];
        assert_eq!(nearest("unifrom", names), ["uniform"]);
        assert_eq!(nearest("seq", names), ["sequential"]);
        assert_eq!(nearest("ssd-a", ["ssd-b", "ssd-a"]), ["ssd-a"]);
        assert!(nearest("oltp", names).is_empty());
        assert!(nearest("", names).is_empty());
        // No name is none that was meant.
        assert!(nearest("m", ["", "KiB"]).is_empty());
    }

    #[test]
    fn what_serde_expected_is_searched() {
        let message = "`step`: unknown variant `shrnk`, expected one of `split`, `shrink`, `clip`";
        assert_eq!(meant(message).as_deref(), Some("shrink"));
        let message = "unknown field `capacty`, expected `capacity` or `span`";
        assert_eq!(meant(message).as_deref(), Some("capacity"));
        assert_eq!(meant("missing field `capacity`"), None);
    }
}
