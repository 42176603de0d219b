//! Charts as JSON: compact, without non-finite numbers, and safe inside a script element.

use serde::{Serialize, Serializer};

/// A number in its shortest form: integers without a fraction, others with nine digits.
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Integers are exact in a browser up to this value.
        const WHOLE_MAX: f64 = (1u64 << 53) as f64;
        let Short(value) = *self;
        if !value.is_finite() {
            return serializer.serialize_none();
        }
        if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
            return serializer.serialize_i64(value as i64);
        }
        let short: f64 = format!("{value:.8e}").parse().unwrap_or(value);
        serializer.serialize_f64(short)
    }
}

pub(super) fn numbers<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| Short(value)))
}

pub(super) fn maybe<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    value.map(Short).serialize(serializer)
}

pub(super) fn maybes<S: Serializer>(
    values: &[Option<f64>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| value.map(Short)))
}

/// Returns the charts as JSON for a script element. Only `<` could end the element; in JSON it occurs in strings only, where
/// it is escaped.
pub(crate) fn json(charts: &[impl Serialize]) -> String {
    // Serialising numbers, names and lists cannot fail.
    let json = serde_json::to_string(charts).unwrap_or_default();
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::super::{Chart, Series};
    use super::*;

    fn chart(name: &str, y: Vec<Option<f64>>) -> Chart {
        Chart {
            id: "one".into(),
            series: vec![Series {
                name: name.into(),
                x: vec![0.0; y.len()],
                y,
                ..Series::default()
            }],
            ..Chart::default()
        }
    }

    /// RFC 8259, section 6: infinity and NaN are not permitted.
    #[test]
    fn what_is_not_finite_is_null_and_numbers_are_short() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 4096.0, -1.0];
        let mut y: Vec<Option<f64>> = odd.into_iter().map(Some).collect();
        y.extend([None, Some(0.1 + 0.2), Some(1e300), Some(2.0 / 3.0e9)]);
        let text = json(&[&chart("a", y)]);
        let expected = "\"y\":[null,null,null,4096,-1,null,0.3,1e+300,6.66666667e-10]";
        assert!(text.contains(expected), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(read[0]["series"][0]["x"][8], 0);
    }

    /// HTML, "Restrictions for contents of script elements": they must not contain `</script` and `<!--`.
    #[test]
    fn no_name_ends_the_script_element() {
        let nasty = "</script><script>alert(1)</script><!--\u{2028}\"\\";
        let text = json(&[&chart(nasty, Vec::new())]);
        assert!(!text.contains('<'), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(read[0]["series"][0]["name"], nasty);
    }
}
