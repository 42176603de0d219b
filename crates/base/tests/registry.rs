//! Lists defined by the macros: names map to things and back, unknown names give suggestions, settings have defaults.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use fathom_base::registry::{self, Text, Unset};
use fathom_base::{About, Dur, Kind, keys, names};

const COLOUR: Kind = Kind {
    one: "colour",
    list: "colours",
    summary: "Colours",
    prefix: "",
    option: "",
    text: Text::Prose,
};

names! {
    /// A colour.
    #[derive(Default)]
    enum Colour of COLOUR in COLOURS, fn wavelength -> u32 {
        Red = "red", About::new("long") => 700;
        #[default]
        DarkBlue = "dark-blue", About::new("short") => 450;
    }
}

keys! {
    /// A policy with defaults.
    struct Wait {
        /// How long
        /// it waits.
        for_long: Dur = Dur::ms(5),
        /// How often.
        times: u32 = 3,
    }
}

keys! {
    /// A policy that has to be told something.
    #[serde(rename_all = "kebab-case", deny_unknown_fields)]
    struct Cut {
        /// Where.
        cut_at: u32,
        /// Whether twice.
        #[serde(default)]
        twice: bool,
        /// If at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<u32>,
    }
}

names! {
    /// A policy.
    enum Policy by "policy" of COLOUR in POLICIES, macro each {
        Wait(Wait) = "wait", About::new("waits");
        Cut(Cut) = "cut", About::new("cuts").example("cut,cut-at=1").needs(&[("cut-at", "clustered_page")]);
    }
}

#[test]
fn names_lead_to_things_and_back() {
    assert_eq!(Colour::default(), Colour::DarkBlue);
    for colour in Colour::ALL {
        assert_eq!(colour.name().parse(), Ok(colour));
        assert_eq!(colour.to_string(), colour.named().name);
        let text = toml::Value::try_from(colour).unwrap();
        assert_eq!(text.as_str(), Some(colour.name()));
    }
    assert_eq!(COLOURS.len(), 2);
    assert_eq!(Colour::Red.wavelength(), 700);
    let unknown = "dark-bleu".parse::<Colour>().unwrap_err();
    assert_eq!(unknown.near, ["dark-blue"]);
    assert_eq!(
        unknown.to_string(),
        "there is no colour `dark-bleu`; did you mean dark-blue?"
    );
}

#[test]
fn settings_are_read_beside_the_name() {
    let policy: Policy = "wait, for_long=7ms".parse().unwrap();
    let Policy::Wait(wait) = &policy else {
        panic!("{policy:?}")
    };
    assert_eq!((wait.for_long, wait.times), (Dur::ms(7), 3));
    assert_eq!(policy.name(), "wait");
    assert_eq!(
        each!(&policy, settings => format!("{settings:?}")),
        format!("{wait:?}")
    );
    assert_eq!(
        "cut".parse::<Policy>().unwrap_err().problem.as_deref(),
        Some("missing field `cut-at`")
    );
    let wrong = "wait,tims=1".parse::<Policy>().unwrap_err();
    assert_eq!(wrong.near, ["times"]);
    assert!(
        wrong.to_string().contains("unknown field `tims`"),
        "{wrong}"
    );
    assert!(
        "wait,times"
            .parse::<Policy>()
            .unwrap_err()
            .problem
            .is_some()
    );
}

/// Commas inside a value do not separate settings.
#[test]
fn a_value_may_have_commas_of_its_own() {
    let table = |text: &str| registry::table("policy", text).unwrap();
    let expected: toml::Table =
        "policy = \"wait\"\na = { b = [1, 2], c = \"x,y\" }\nd = 'e,f'\ng = 3"
            .parse()
            .unwrap();
    assert_eq!(table(r#"wait,a={b=[1,2],c="x,y"},d='e,f',g=3"#), expected);
    // What is not closed is text, and every comma separates.
    let open = table("wait,a=it's,b={1,c=[");
    assert_eq!(open.len(), 4, "{open}");
    assert_eq!(open["a"].as_str(), Some("it's"));
}

#[test]
fn keys_have_their_comment_and_their_default() {
    let of = |at: usize| {
        let keys = POLICIES[at].defaults().into_iter();
        keys.map(|(key, default)| (key.name(), key.summary.trim(), default))
            .collect::<Vec<_>>()
    };
    let value = |text: &str| Unset::Value(text.to_owned());
    assert_eq!(
        of(0),
        [
            ("for_long".to_owned(), "How long it waits.", value("5ms")),
            ("times".to_owned(), "How often.", value("3"))
        ]
    );
    assert_eq!(
        of(1),
        [
            (
                "cut-at".to_owned(),
                "Where.",
                Unset::Needed(Some("clustered_page"))
            ),
            ("twice".to_owned(), "Whether twice.", value("false")),
            ("at_most".replace('_', "-"), "If at all.", Unset::Open),
        ]
    );
}
