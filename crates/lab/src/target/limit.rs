//! A limit in front of a real drive, as text: `operations_per_second=2000,operations_burst=20000`.

use crate::parse::{in_words, problems};
use fathom_base::registry;
use fathom_block::layers::Limit;

/// Parses a limit: `KEY=VALUE,...`, with the keys of a drive file's `[limit]`.
///
/// # Errors
/// What is wrong with it, in words: each key at fault, or values that contradict each other.
pub fn limit(text: &str) -> Result<Limit, String> {
    let mut table = registry::table("", &format!(",{text}"))?;
    table.remove("");
    let wrong = problems::<Limit>(&table);
    if !wrong.is_empty() {
        let words = wrong.iter().map(|one| in_words(one, None));
        return Err(words.collect::<Vec<_>>().join("; "));
    }
    let limit: Limit = table.try_into().map_err(|e| format!("{e}"))?;
    limit.check().map_err(|e| e.to_string())?;
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn a_fault_is_told_with_its_key() {
        assert_eq!(
            limit("operations_per_second=2000").map(|limit| limit.operations_per_second),
            Ok(Some(2000))
        );
        let told = limit("operations_per_second=many").unwrap_err();
        assert!(told.contains("`operations_per_second`"), "{told}");
        assert!(
            told.contains("takes a whole number") && !told.contains("u64"),
            "{told}"
        );
        assert!(
            limit("operations=5")
                .unwrap_err()
                .contains("there is no key `operations`")
        );
    }
}
