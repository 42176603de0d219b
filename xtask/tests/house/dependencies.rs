//! The dependencies between crates.

use crate::source::{Source, Which};
use crate::sources::{PURE, shipped};
use crate::{Member, files, members, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The crates of the workspace that each crate may depend on, also in its tests. A new crate needs a line here.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("block", &["base"]),
    ("ssd", &["base", "block"]),
    ("disksim", &["base", "block"]),
    ("hdd", &["base", "block"]),
    ("model", &["base", "block", "ssd", "disksim", "hdd"]),
    ("iosched", &["base", "block"]),
    ("trace", &["base", "block"]),
    ("fs", &["base"]),
    ("platform", &["base", "block", "fs"]),
    ("workload", &["base", "block", "fs", "platform", "trace"]),
    (
        "run",
        &["base", "block", "iosched", "platform", "workload", "stats"],
    ),
    ("hostio", &["base", "block"]),
    ("ext", &["base", "fs", "hostio"]),
    ("stats", &["base"]),
    ("probe", &["base", "block", "stats"]),
    (
        "report",
        &[
            "base", "block", "iosched", "platform", "workload", "run", "probe",
        ],
    ),
    (
        "lab",
        &[
            "base", "block", "ssd", "disksim", "hdd", "model", "iosched", "trace", "fs",
            "platform", "workload", "run", "hostio", "stats", "probe", "report",
        ],
    ),
    (
        "cli",
        &[
            "base", "block", "ssd", "disksim", "hdd", "model", "iosched", "trace", "fs",
            "platform", "workload", "run", "hostio", "probe", "report", "lab", "ext",
        ],
    ),
    ("xtask", &[]),
];

/// The models, which a probe must not know.
const MODELS: [&str; 4] = ["ssd", "disksim", "hdd", "model"];

/// Sources of random numbers that are not controlled by a seed.
const RANDOM: [&str; 5] = ["rand", "fastrand", "getrandom", "oorandom", "rand_pcg"];

#[test]
fn no_crate_knows_what_is_higher() {
    let layers: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    for Member {
        name, dependencies, ..
    } in members()
    {
        let allowed = layers
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{name} has no line in LAYERS"));
        for dependency in dependencies {
            let Some(other) = dependency.name.strip_prefix("fathom-") else {
                continue;
            };
            let dev = if dependency.dev {
                " (in its tests)"
            } else {
                ""
            };
            assert!(
                allowed.contains(&other),
                "{name} depends on {other}{dev}; it may depend on {allowed:?}"
            );
        }
    }
}

/// Stated separately from the table, so that a line in the table cannot give measuring crates access to the models.
#[test]
fn what_measures_or_reports_never_reaches_a_model() {
    let members = members();
    for name in ["probe", "report", "run", "trace", "workload"] {
        let reached = reaches(&members, name);
        for model in MODELS {
            assert!(!reached.contains(model), "{name} reaches {model}");
        }
    }
    assert!(
        reaches(&members, "cli").contains("ssd"),
        "the walk finds nothing"
    );
}

/// Returns all crates of the workspace on which `name` depends, directly or indirectly, including its tests.
fn reaches(members: &[Member], name: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![(name.to_owned(), true)];
    while let Some((name, with_tests)) = next.pop() {
        let Some(member) = members.iter().find(|m| m.name == name) else {
            continue;
        };
        for dependency in member.dependencies.iter().filter(|d| with_tests || !d.dev) {
            if let Some(other) = dependency.name.strip_prefix("fathom-")
                && reached.insert(other.to_owned())
            {
                next.push((other.to_owned(), false));
            }
        }
    }
    reached
}

/// Crates that must run in a browser do not depend on anything that needs files or threads.
#[test]
fn the_pure_crates_compile_for_the_browser() {
    const TARGET: &str = "wasm32-unknown-unknown";
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(sysroot.unwrap().stdout).unwrap();
    if !Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(TARGET)
        .exists()
    {
        eprintln!("skipped: the compiler has no target {TARGET} (rustup target add {TARGET})");
        return;
    }
    let packages = PURE
        .iter()
        .flat_map(|name| ["-p".to_owned(), format!("fathom-{name}")]);
    let status = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--target", TARGET])
        .args(packages)
        .current_dir(root())
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn randomness_comes_from_base_alone() {
    for member in members().iter().filter(|m| m.name != "base") {
        for dependency in &member.dependencies {
            let name = &dependency.name;
            assert!(
                !RANDOM.contains(&name.as_str()),
                "{} depends on {name}; draw from fathom_base::Rng",
                member.name
            );
        }
    }
}

/// The shipped code of a crate uses its dependencies, and its tests use its dev-dependencies.
#[test]
fn every_dependency_is_used() {
    for member in members() {
        let sources = shipped(&member.dir);
        let words = |which| {
            let words = sources
                .iter()
                .map(move |(_, source)| source.identifiers(which));
            words.flatten().collect::<BTreeSet<String>>()
        };
        let (shipped, mut tests) = (words(Which::Shipped), words(Which::Tests));
        let mut others = files(&member.dir, "rs");
        others.retain(|path| sources.iter().all(|(shipped, _)| shipped != path));
        // The programs in `examples` are built with `lab`.
        if member.name == "lab" {
            others.extend(files(&root().join("examples"), "rs"));
        }
        for path in others {
            tests.extend(Source::read(&path).identifiers(Which::All));
        }
        for dependency in &member.dependencies {
            let name = dependency.name.replace('-', "_");
            let (used, place) = match dependency.dev {
                true => (&tests, "its tests"),
                false => (&shipped, "its sources"),
            };
            let unused = format!("{}: {name} is not used in {place}", member.name);
            assert!(used.contains(&name), "{unused}");
        }
    }
}

#[test]
fn every_crate_follows_the_workspace() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let workspace: toml::Table = manifest.parse().unwrap();
    let mut unused: BTreeSet<&String> = workspace["workspace"]["dependencies"]
        .as_table()
        .unwrap()
        .keys()
        .collect();
    for member in members() {
        let path = member.dir.join("Cargo.toml");
        let manifest: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let inherits = |value: Option<&toml::Value>| {
            let inherited = value.and_then(|v| v.get("workspace"));
            inherited == Some(&toml::Value::Boolean(true))
        };
        assert!(
            inherits(manifest.get("lints")),
            "{} has lints of its own",
            path.display()
        );
        for table in ["dependencies", "dev-dependencies"] {
            let listed = manifest.get(table).and_then(toml::Value::as_table);
            for (name, value) in listed.into_iter().flatten() {
                let own = format!(
                    "{}: the version of {name} is not the workspace's",
                    path.display()
                );
                assert!(inherits(Some(value)), "{own}");
                unused.remove(name);
            }
        }
    }
    assert!(unused.is_empty(), "no crate depends on {unused:?}");
}
