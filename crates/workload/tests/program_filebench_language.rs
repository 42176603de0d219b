//! Tests of filebench's language: what is read, what is refused and where, and what the operations do.

use crate::program::{DRIVE, Played, bytes, play, value};
use fathom_base::{Dur, Time};
use fathom_block::Op;
use fathom_platform::Benchmark;
use fathom_workload::program::Config;
use fathom_workload::program::filebench::language::{
    Amount, Distribution, Kind, Model, ModelError, Problem, Quit, Shape, Value, Workload,
};
use fathom_workload::program::filebench::{ModelSettings, example};

const CAPACITY: u64 = 4 << 30;

fn read(text: &str) -> Result<Workload, ModelError> {
    Model::parse(text.as_bytes())?.workload()
}

/// A text with one thread of these flowops over ten files of 64 KiB in the set `s`.
fn with(flowops: &str) -> String {
    format!(
        "define fileset name=s,path=/d,entries=10,dirwidth=5,size=64k,prealloc\n\
         define process name=p {{ thread name=t {{\n{flowops}\n}} }}\nrun 1\n"
    )
}

fn error(text: &str) -> (usize, String) {
    let error = read(text).unwrap_err();
    (error.line, error.problem.to_string())
}

#[test]
fn a_text_becomes_plain_data() {
    let text = "
        # A comment.
        set $n=7
        set $size=cvar(type=cvar-gamma,parameters=mean:16384;gamma:1.5,min=1k,max=1m,round=512)
        set mode quit alldone
        debug 1
        define fileset name=a,path=/x,entries=$n,dirwidth=3,size=$size,prealloc=80,readonly
        define file name=b,path=\"/x y\",filesize=2m
        eventgen rate = 100
        define process name=p,instances=2
        {
          thread name=t,memsize=1m,instances=$n
          {
            flowop aiowrite name=w,filename=b,
                iosize=4k,random,dsync=true,iters=3
            flowop sempost name=post,value=2,target=block,blocking
          }
          thread name=u { flowop semblock name=block,value=10,highwater=5 }
        }
        echo \"$n ready\"
        create files
        run 30";
    let workload = read(text).unwrap();
    assert_eq!(workload.duration, Dur::ms(30_000));
    assert_eq!((workload.event_rate, workload.quit), (100, Quit::AllDone));
    let [a, b] = &workload.file_sets[..] else {
        panic!("{workload:?}");
    };
    let size = Distribution {
        shape: Shape::Gamma {
            mean: 16_384.0,
            gamma: 1.5,
        },
        min: 1024,
        max: 1 << 20,
        round: 512,
    };
    assert_eq!(
        (a.entries, a.directory_width, a.preallocated_percent),
        (7, 3, 80.0)
    );
    assert_eq!(a.size, Amount::Random(size));
    assert_eq!(
        (b.entries, b.size, b.preallocated_percent),
        (1, Amount::Fixed(2 << 20), 0.0)
    );
    let [t, u] = &workload.threads[..] else {
        panic!("{workload:?}");
    };
    assert_eq!((t.instances, u.instances), (14, 2));
    let write = &t.flowops[0];
    assert_eq!(
        (write.kind, write.set, write.line),
        (Kind::AioWrite, Some(1), 14)
    );
    assert!(write.random && write.synchronous && !write.rotates);
    assert_eq!(write.iterations, Amount::Fixed(3));
    assert!(t.flowops[1].blocking && t.flowops[1].target.as_deref() == Some("block"));
    assert_eq!(u.flowops[0].high_water, 5);
}

#[test]
fn a_variable_has_its_last_value_and_must_be_set_before() {
    let text = |set: &str| {
        format!(
            "set $n=5\n{set}\ndefine fileset name=s,path=/d,entries=$n,dirwidth=5\n\
            define process name=p {{ thread name=t {{ flowop statfile name=x,filesetname=s }} }}\nset $n=9\nrun 1"
        )
    };
    assert_eq!(read(&text("")).unwrap().file_sets[0].entries, 9);
    let mut model = Model::parse(text("").as_bytes()).unwrap();
    model.set("n", Value::Number(3)).unwrap();
    assert_eq!(model.workload().unwrap().file_sets[0].entries, 3);
    let unknown = model.set("m", Value::Number(3)).unwrap_err().problem;
    assert!(
        matches!(unknown, Problem::Unknown { name, known, .. } if name == "$m" && known == "$n")
    );
    assert_eq!(
        error("set $a=1\ndefine fileset name=s,path=/d,entries=$b,dirwidth=5\nset $b=1\nrun"),
        (2, "there is no variable `$b`; known: $a".into())
    );
    // Variables cannot be set to each other, so there is no cycle.
    let (line, what) = error("set $a=1\nset $b=$a\nset $a=$b");
    assert_eq!(line, 2);
    assert!(what.contains("not set to variables"), "{what}");
}

#[test]
fn what_is_unknown_is_refused_with_what_is_known() {
    let (line, what) = error("set $a=1\nstart 60");
    assert_eq!(line, 2);
    assert!(
        what.starts_with("there is no statement `start`; known: set, define, eventgen, run"),
        "{what}"
    );
    let (line, what) = error(&with("flowop readfile name=r,filesetname=s"));
    assert_eq!(line, 3);
    assert!(
        what.contains("no flowop `readfile`") && what.contains("readwholefile"),
        "{what}"
    );
    let (line, what) = error(&with("flowop statfile name=r,\n filesetname=s,color=1"));
    assert_eq!(line, 4);
    assert!(
        what.contains("`color`") && what.contains("iosize"),
        "{what}"
    );
    let (_, what) = error(&with("flowop statfile name=r,filesetname=other"));
    assert_eq!(what, "there is no fileset `other`; known: s");
    let (_, what) = error("set $a=cvar(type=cvar-zipf)");
    assert!(what.contains("cvar-gamma, cvar-uniform"), "{what}");
    let (_, what) = error("set $a=cvar(type=cvar-gamma,parameters=median:1)");
    assert_eq!(
        what,
        "there is no parameter of this cvar `median`; known: mean, gamma"
    );
    for (text, name) in [
        ("system \"rm\"", "system"),
        ("set $a=randvar(type=uniform)", "randvar"),
        ("define flowop name=f { }", "define flowop"),
        (&with("flowop listdir name=l,filesetname=s"), "listdir"),
        (
            &with("flowop read name=r,filesetname=s,iosize=4k,directio"),
            "directio",
        ),
    ] {
        let (_, what) = error(text);
        assert!(
            what.starts_with(&format!("filebench's `{name}` is not supported: ")),
            "{what}"
        );
    }
    assert!(
        read(&with(
            "flowop read name=r,filesetname=s,iosize=4k,directio=0"
        ))
        .is_ok()
    );
}

#[test]
fn bad_values_are_refused_where_they_stand() {
    let file_set = |attributes: &str| {
        format!(
            "\ndefine fileset name=s,path=/d,{attributes}\n\
            define process name=p {{ thread name=t {{ flowop statfile name=x,filesetname=s }} }}\nrun"
        )
    };
    for (attributes, says) in [
        ("dirwidth=1", "the fileset has no `entries`"),
        ("entries=1", "the fileset has no `dirwidth`"),
        ("entries=0,dirwidth=1", "`entries` is 0"),
        ("entries=many,dirwidth=1", "`entries` is \"many\""),
        ("entries=16777217,dirwidth=1", "`entries` is 16777217"),
        ("entries=1,entries=2,dirwidth=1", "`entries` stands twice"),
        ("entries=1,dirwidth=1,prealloc=101", "`prealloc` is 101"),
        (
            "entries=1,dirwidth=1,size=8388608m",
            "`size` is 8796093022208",
        ),
        ("entries=", "found the end"),
        ("entries=1,", "no attribute of a fileset `define`"),
    ] {
        let text = file_set(attributes);
        let text = if attributes.ends_with('=') {
            format!("\ndefine fileset {attributes}")
        } else {
            text
        };
        let (line, what) = error(&text);
        assert!(what.contains(says), "{attributes}: {line}: {what}");
        assert!((2..=3).contains(&line), "{attributes}: {line}");
    }
}

/// As a number is.
#[test]
fn what_is_drawn_is_at_most_2_to_the_42nd() {
    let text = |cvar: &str| {
        let flowops = with("flowop appendfile name=a,filesetname=s,iosize=$v");
        format!("set $v=cvar(type=cvar-uniform,{cvar})\n{flowops}")
    };
    let workload = read(&text("parameters=upper:9000")).unwrap();
    let Amount::Random(of) = workload.threads[0].flowops[0].io_size else {
        panic!("{workload:?}");
    };
    assert_eq!((of.min, of.max), (0, 1 << 42));
    assert!(read(&text("min=4398046511104")).is_ok());
    let (line, said) = error(&text("min=4398046511105"));
    assert_eq!(line, 4);
    assert!(
        said.contains("`iosize` is a cvar") && said.contains("4398046511104"),
        "{said}"
    );
}

#[test]
fn operations_and_whole_texts_need_their_parts() {
    for flowop in [
        "read name=r,filesetname=s",
        "read name=r,filesetname=s,iosize=0",
        "read filesetname=s,iosize=1k",
        "read name=r,filesetname=s,iosize=1k,fd=128",
        "semblock name=b,value=32768",
        "sempost name=b,value=1",
        "aiowrite name=a,filesetname=s,iosize=1k",
        "openfile name=o,filesetname=s,opennext",
    ] {
        assert_eq!(error(&with(&format!("flowop {flowop}"))).0, 3, "{flowop}");
    }
    let many = "define process name=p,instances=65535 { thread name=t,instances=65535 { flowop aiowait name=a } } run 1";
    assert!(
        error(many)
            .1
            .contains("`instances` is 4294836225 threads in all")
    );
    for (text, says) in [
        ("run 60", "no `define process`"),
        (
            &with("flowop aiowait name=a").replace("run 1", ""),
            "no `run SECONDS`",
        ),
        (
            &format!("{}run 1", with("flowop aiowait name=a")),
            "nothing may follow `run`",
        ),
        (
            &with("flowop aiowait name=a").replace("run 1", "run 99999999"),
            "`run` is 99999999",
        ),
        (
            &with("flowop aiowait name=a")
                .replace("define process", "set mode quit alldone define process")
                .replace("run 1", "run"),
            "needs a time",
        ),
    ] {
        assert!(error(text).1.contains(says), "{text}: {}", error(text).1);
    }
}

#[test]
fn hard_texts_are_errors_and_no_panics() {
    for bytes in [
        &b"\xff\xfe"[..],
        b"set $a=\"x",
        b"set $",
        b"{{{{",
        b"run 18446744073709551616",
        b"run -1",
        b"\0",
    ] {
        let parsed = Model::parse(bytes).and_then(|model| model.workload());
        assert!(parsed.is_err(), "{bytes:?}");
    }
    // Every prefix of a text, and every text with a byte missing, is read or refused.
    let text = include_bytes!("../src/program/filebench/personalities/oltp.f");
    for at in 0..text.len() {
        let _cut = Model::parse(&text[..at]).and_then(|model| model.workload());
        let without = [&text[..at], &text[at + 1..]].concat();
        let _without = Model::parse(&without).and_then(|model| model.workload());
    }
}

#[test]
fn descriptors_are_followed_before_the_run() {
    for (flowops, line, says) in [
        (
            "flowop closefile name=c,fd=1",
            3,
            "needs fd 1, which is not open",
        ),
        (
            "flowop openfile name=o,filesetname=s,fd=1",
            3,
            "opens fd 1, which is open",
        ),
        ("flowop fsync name=f,fd=2", 3, "needs fd 2"),
        (
            "flowop openfile name=o,filesetname=s,fd=1\nflowop closefile name=c,fd=1,iters=2",
            4,
            "needs fd 1",
        ),
        ("flowop readwholefile name=r,fd=1", 3, "or a `filesetname`"),
        ("flowop deletefile name=d", 3, "has no `filesetname`"),
        (
            "flowop openfile name=o,filesetname=s,fd=1\nflowop deletefile name=d,fd=1\nflowop closefile name=c,fd=1",
            4,
            "close it before",
        ),
        (
            "flowop read name=r,filesetname=s,iosize=65k,random",
            3,
            "moves 66560 bytes",
        ),
        (
            "flowop sempost name=x,value=1,target=nowhere",
            3,
            "no semblock",
        ),
        ("flowop opslimit name=x,target=nowhere", 3, "no such flowop"),
    ] {
        let (at, what) = error(&with(flowops));
        assert!(at == line && what.contains(says), "{flowops}: {at}: {what}");
    }
    // A descriptor may stay open from one round to the next where it is not opened again.
    assert!(
        read(&with(
            "flowop appendfile name=a,filesetname=s,fd=3,iosize=1k"
        ))
        .is_ok()
    );
}

fn machine(text: &str, operations: Option<u64>) -> (Vec<Played>, Vec<fathom_platform::Counter>) {
    let settings = ModelSettings {
        model: text.into(),
        operations,
        ..example()
    };
    let mut machine = settings.build(CAPACITY, 1).unwrap();
    let played = play(&mut machine, DRIVE);
    (played, machine.counters())
}

#[test]
fn writes_with_dsync_are_on_the_drive_one_after_another() {
    let (played, counters) = machine(
        &with("flowop write name=w,filesetname=s,fd=1,iosize=8k,dsync,random"),
        Some(50),
    );
    let own: Vec<&Played> = played
        .iter()
        .filter(|p| p.actor == 0 && p.access.op == Op::Write)
        .collect();
    assert_eq!(own.len(), 50);
    assert!(own.iter().all(|p| p.access.len == 8192 && p.tag.sync));
    assert!(own.windows(2).all(|two| two[0].done <= two[1].asked));
    assert_eq!(value(&counters, "bytes-written"), 50.0 * 8192.0);
    // Seven of the eight places in the one file that stays open: the last is never drawn.
    let mut places: Vec<u64> = own.iter().map(|p| p.access.offset).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 7);
}

#[test]
fn an_operation_after_a_write_with_dsync_waits_for_it() {
    let flowops = "flowop write name=w,filesetname=s,fd=1,iosize=8k,dsync,random\n\
                   flowop readwholefile name=r,filesetname=s,fd=2,iosize=64k\n\
                   flowop closefile name=c,fd=2";
    let (played, _) = machine(&with(flowops), Some(24));
    let own = |op| {
        played
            .iter()
            .filter(move |p| p.actor == 0 && p.access.op == op)
    };
    let writes: Vec<&Played> = own(Op::Write).collect();
    let reads: Vec<&Played> = own(Op::Read).filter(|p| p.access.len > 4096).collect();
    assert!(
        writes.len() == 8 && reads.len() >= 7,
        "{} {}",
        writes.len(),
        reads.len()
    );
    for read in reads {
        let in_flight = |write: &&&Played| write.asked <= read.asked && read.asked < write.done;
        assert_eq!(writes.iter().filter(in_flight).count(), 0, "{read:?}");
    }
}

#[test]
fn a_sequence_of_reads_starts_over_at_the_end() {
    let text = with("flowop read name=r,filesetname=s,fd=1,iosize=16k");
    let (_, counters) = machine(&text, Some(10));
    // Files have four calls, and the fifth finds the end.
    assert_eq!(value(&counters, "bytes-read"), 8.0 * 16_384.0);
    assert_eq!(value(&counters, "reads"), 10.0);
}

#[test]
fn the_next_file_is_another_one() {
    let text = with("flowop readwholefile name=r,filesetname=s,fd=1\nflowop closefile name=c,fd=1");
    let (played, _) = machine(&text, Some(40));
    // Ten files of 64 KiB are read twice, and the second time they are in memory.
    let data = played
        .iter()
        .filter(|p| p.access.op == Op::Read && p.access.len > 4096);
    assert_eq!(bytes(data, Op::Read), 10 * 65_536);
    let text = with("flowop read name=r,filesetname=s,iosize=64k,opennext");
    let (played, _) = machine(&text, Some(10));
    let data = played
        .iter()
        .filter(|p| p.access.op == Op::Read && p.access.len > 4096);
    assert_eq!(bytes(data, Op::Read), 10 * 65_536);
}

#[test]
fn events_set_the_pace() {
    let of = |flowop: &str| {
        let flowops = format!("flowop statfile name=stat,filesetname=s\nflowop {flowop}");
        let text = with(&flowops).replace("run 1", "eventgen rate=100\nrun 2");
        let (_, counters) = machine(&text, None);
        value(&counters, "operations")
    };
    // 200 events in two seconds; each round is a stat and the limit itself.
    assert!((of("eventlimit name=limit") - 400.0).abs() <= 4.0);
    assert!((of("opslimit name=limit,target=stat") - 400.0).abs() <= 8.0);
    // The stat reads nothing, so nothing limits it but its time of 10 us.
    assert!(of("iopslimit name=limit,target=stat") > 100_000.0);
    let read = "flowop read name=get,filesetname=s,fd=1,iosize=64k,workingset=64k\nflowop bwlimit name=limit";
    let text = with(read).replace("run 1", "eventgen rate=10\nrun 2");
    let (_, counters) = machine(&text, None);
    // 20 MiB in two seconds, and the bytes of the first call before.
    let mib = value(&counters, "bytes-read") / 1_048_576.0;
    assert!((mib - 20.0).abs() < 1.5, "{mib}");
}

#[test]
fn threads_end_as_the_mode_says() {
    let text = |mode: &str| {
        format!(
            "set mode quit {mode}
            define fileset name=s,path=/d,entries=10,dirwidth=5,size=64k
            define process name=p {{
              thread name=few {{
                flowop createfile name=c,filesetname=s,fd=1
                flowop closefile name=x,fd=1
                flowop finishoncount name=f,value=4,target=c
              }}
              thread name=all {{
                flowop createfile name=c,filesetname=s,fd=1
                flowop closefile name=x,fd=1
                flowop delay name=d,value=1
              }}
            }}
            run 60"
        )
    };
    let of = |mode: &str| {
        let (_, counters) = machine(&text(mode), None);
        (value(&counters, "ran"), value(&counters, "stopped-early"))
    };
    // The first thread creates four files at once; the second one a second, until ten are there.
    let (ran, early) = of("alldone");
    assert!((ran - 6.0).abs() < 0.1 && early == 0.0, "{ran}");
    let (ran, early) = of("firstdone");
    assert!(ran < 0.1 && early == 0.0, "{ran}");
    let (ran, _) = of("timeout");
    assert!(ran < 0.1, "{ran}");
}

#[test]
fn a_text_that_does_nothing_ends() {
    for flowop in [
        "eventlimit name=e",
        "aiowait name=a",
        "statfile name=s,filesetname=s,iters=0",
        "aiowait name=a,iters=1000000",
        "semblock name=b,value=1",
    ] {
        let text = with(&format!("flowop {flowop}"));
        let settings = ModelSettings {
            model: text,
            duration: Some(Dur::ms(20)),
            ..example()
        };
        let mut machine = settings.build(CAPACITY, 1).unwrap();
        play(&mut machine, DRIVE);
        assert_eq!(value(&machine.counters(), "ran"), 0.02, "{flowop}");
    }
}

#[test]
fn a_study_has_a_text_and_an_error_in_it_has_its_line() {
    let config = |model: &str| {
        let text = format!("program = \"filebench\"\nduration = \"10ms\"\nmodel = '''\n{model}'''");
        toml::from_str::<Config>(&text).unwrap()
    };
    let mut built = config(&with("flowop statfile name=x,filesetname=s"))
        .build(CAPACITY, 1)
        .unwrap();
    let played = play(&mut *built, DRIVE);
    assert!(played.iter().all(|p| p.started <= Time(30_000_000_000)));
    assert!(value(&built.counters(), "operations") > 900.0);
    let error = config("define").build(CAPACITY, 1).err().unwrap();
    assert_eq!(error.key, "model");
    assert!(error.to_string().contains("line 1: "), "{error}");
    let mut short = config(&with("flowop statfile name=x,filesetname=s"));
    short.shorten(10);
    let mut built = short.build(CAPACITY, 1).unwrap();
    play(&mut *built, DRIVE);
    assert_eq!(value(&built.counters(), "ran"), 0.001);
}
