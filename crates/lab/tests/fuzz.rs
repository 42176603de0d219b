//! Runs the fuzz targets on random bytes and on randomly changed samples. Every test run does a little of what
//! `cargo xtask fuzz` does for minutes.

#[path = "../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a crate of its own elsewhere")]
mod targets;

use fathom_base::Rng;
use fathom_workload::program::filebench::language::Model;
use std::panic::{AssertUnwindSafe, catch_unwind};

const INPUTS: u64 = 2_000;
const LEN_MAX: u64 = 600;
const STUDIES: [&str; 2] = [
    include_str!("../../../examples/study.toml"),
    include_str!("../../../examples/schedulers.toml"),
];
const JOBS: [&str; 5] = [
    "[global]\nioengine=libaio\niodepth=4\nexitall\nsize=1m\n[a]\nrw=randrw:3\nrw_sequencer=identical\nbsrange=512-8k,4k:16k\n\
     percentage_random=50,80\nnumber_ios=90\nrate_iops=900,\nrate_process=poisson\n[b]\nnew_group\nrw=write:12k\nfsync=3\n\
     fdatasync=2\nend_fsync=1\nsync=dsync\nramp_time=1ms\nruntime=9ms\ntime_based\nprioclass=2\n",
    "[a]\nbs=${BS}\nrw=randread:8\neta=1\ninclude a.fio\nexit_what=all\n[b]\nverify=crc32c\nrw=randwrite\nbsrange=1k-4k\n\
     end_fsync=1\nloops=2\nsize=64k\n",
    "[global]\nzonemode=zbd\nbs=64k\nioengine=libaio\niodepth=3\n[a]\nrw=randwrite\nsize=6z\nmax_open_zones=2\n[b]\nrw=randrw\n\
     offset=4z\nbsrange=16k-48k\n[c]\nrw=randtrim\nbs=1m\n[d]\nrw=write\nzone_append=1\njob_max_open_zones=1\n",
    include_str!("../../../examples/five-readers.fio"),
    include_str!("../../../examples/file-server.fio"),
];
const TRACES: [&str; 3] = [
    "0,20941264,8192,W,0.551706\n0,20939840,8192,W,0.554041\n",
    "128166372003061629,hm,1,Read,383496192,32768,413\n",
    "0.000 0 100 8 1\n1.500000 1 108 8 0\n",
];

/// Small enough to be played; together they have every kind of operation.
const FILEBENCH: [&str; 3] = [
    "set $size=cvar(type=cvar-gamma,parameters=mean:9000;gamma:1.5,max=90k)\nset $n=20\n\
     define fileset name=s,path=/d,entries=$n,dirwidth=3,size=$size,prealloc=30\n\
     define process name=p,instances=2\n{\n thread name=t,instances=3\n {\n  flowop createfile name=a,filesetname=s,fd=1\n  \
     flowop writewholefile name=b,fd=1,srcfd=1,iosize=4k\n  flowop fsync name=c,fd=1\n  flowop closefile name=d,fd=1\n  \
     flowop openfile name=e,filesetname=s,fd=2\n  flowop appendfilerand name=f,iosize=16k,fd=2\n  \
     flowop readwholefile name=g,fd=2\n  flowop closefile name=h,fd=2\n  flowop deletefile name=i,filesetname=s\n  \
     flowop statfile name=j,filesetname=s\n }\n}\nrun 3\n",
    "eventgen rate=900\ndefine file name=f,path=/d,size=1m,prealloc\ndefine process name=p\n{\n thread name=t,instances=4\n {\n  \
     flowop read name=r,filename=f,iosize=2k,random\n  flowop hog name=h,value=9000\n  flowop sempost name=q,value=1,target=b,blocking\n  \
     flowop iopslimit name=l,target=r\n  flowop finishoncount name=n,value=90\n }\n thread name=u\n {\n  \
     flowop aiowrite name=w,filename=f,iosize=2k,random,dsync,iters=9,opennext\n  flowop semblock name=b,value=5,highwater=7\n  \
     flowop aiowait name=i\n }\n}\nrun 3\n",
    "set $v=cvar(type=cvar-uniform,parameters=lower:1;upper:9000)\nset mode quit alldone\n\
     define fileset name=s,path=/d,entries=4,dirwidth=9,size=$v,prealloc\ndefine process name=p\n{\n thread name=t\n {\n  \
     flowop write name=w,filesetname=s,iosize=$v,random,opennext\n  flowop appendfile name=a,filesetname=s,iosize=$v,fd=3,workingset=7k\n  \
     flowop delay name=d,value=1\n  flowop opslimit name=o\n  flowop bwlimit name=b\n  flowop eventlimit name=e\n  \
     flowop finishonbytes name=f,value=1m\n }\n}\nrun 9\n",
];

#[test]
fn drive_file() {
    let drive = include_str!("../../../examples/drive.toml");
    feed(1, &[drive], text(targets::drive_file::try_one));
}

#[test]
fn study_file() {
    feed(2, &STUDIES, text(targets::study_file::try_one));
}

#[test]
fn job_file() {
    feed(3, &JOBS, text(targets::job_file::try_one));
}

#[test]
fn filebench_file() {
    for sample in FILEBENCH {
        let model = Model::parse(sample.as_bytes());
        assert!(model.and_then(|model| model.workload()).is_ok(), "{sample}");
    }
    feed(7, &FILEBENCH, text(targets::filebench_file::try_one));
}

#[test]
fn trace_detect() {
    feed(4, &TRACES, targets::trace_detect::try_one);
}

#[test]
fn trace_format() {
    feed(5, &TRACES, targets::trace_format::try_one);
}

#[test]
fn trace_parquet() {
    feed(6, &[], targets::trace_parquet::try_one);
}

/// Adapts a target that takes text to bytes.
fn text(try_one: fn(&str)) -> impl Fn(&[u8]) {
    move |bytes| try_one(&String::from_utf8_lossy(bytes))
}

fn feed(stream: u64, samples: &[&str], try_one: impl Fn(&[u8])) {
    let mut rng = Rng::new(0, stream);
    for number in 0..INPUTS {
        let input = match samples {
            [] => random(&mut rng),
            _ if number % 4 == 0 => random(&mut rng),
            _ => {
                let sample = samples[rng.below(samples.len() as u64) as usize];
                changed(sample.as_bytes(), &mut rng)
            }
        };
        let tried = catch_unwind(AssertUnwindSafe(|| try_one(&input)));
        assert!(tried.is_ok(), "input {number}: {}", input.escape_ascii());
    }
}

fn random(rng: &mut Rng) -> Vec<u8> {
    let len = rng.below(LEN_MAX);
    (0..len).map(|_| rng.next_u64() as u8).collect()
}

/// Changes a few bytes, and removes, duplicates or moves a few ranges.
fn changed(sample: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=rng.below(4) {
        let len = bytes.len() as u64;
        let (from, to) = (rng.below(len + 1), rng.below(len + 1));
        let (from, to) = (from.min(to) as usize, from.max(to) as usize);
        match rng.below(5) {
            0 => drop(bytes.drain(from..to.min(from + 40))),
            1 => {
                let stretch = bytes[from..to.min(from + 40)].to_vec();
                let at = rng.below(len + 1) as usize;
                drop(bytes.splice(at..at, stretch));
            }
            2 => bytes.truncate(to),
            _ => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte = b"0123456789.,-=[]\"\n \xff"[rng.below(20) as usize];
                }
            }
        }
    }
    bytes
}
