//! Texts below the options in `--help`.

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a negative result: profiles that differ, a run that was interrupted
  2  usage or input
  3  refused for safety";

pub(super) const TARGETS: &str = "\
Targets:
  model:NAME       a modelled drive; `fathom list drives` shows all
  model:PATH.toml  a modelled drive of your own
  DIRECTORY        a real drive, through a scratch file of its own in the directory
  FILE             an existing file, read only unless --destroy names it
  /dev/...         a real drive; what is mounted, held, partitioned or signed is refused

Sizes and times carry their unit: 512MiB, 2GiB, 90s, 5min.";

pub(super) const RUN: &str = "\
Workloads:
  FILE             a trace, plain or compressed; its format is told from its content
  generate:NAME    a generator; `fathom list workloads` shows all
  program:NAME     a program, whose next access depends on the drive's answers; in the same list
  FILE.fio         jobs in fio's syntax; docs/jobs.md says which options are read. `filename` is not
                   used: the drive is that of --on
  FILE.toml        a workload as a study file has it, such as a generator with steps

Steps shape the accesses in the order given: --step writes-only --step first,accesses=100000.
Addresses past the end of the drive are refused unless a step (shrink, wrap, clip) makes them fit.

Examples:
  fathom run generate:financial1-like --on model:epo --buffer epo --arrival closed:16
  fathom run web.spc.zst --on model:ssd-a --step shrink,capacity=1GiB --out runs/web
  fathom explain file-server.fio > file-server.fio
  fathom run file-server.fio --on /mnt/data --size 4GiB --sched mq-deadline
  fathom run file-server.fio --on /mnt/data --size 4GiB --ab none,mq-deadline --rounds 10";

pub(super) const STUDY: &str = "\
The same command continues a study that was interrupted or killed. Every run of it is a directory
that `fathom compare` and `fathom report` take.

Example:
  fathom explain study.toml > study.toml
  fathom study study.toml --out runs/study";

pub(super) const CONVERT: &str = "\
WORKLOAD is what `fathom run` takes. The file holds the requests that a drive would get, and `fathom
run` plays it: a write buffer can be judged apart from the drive behind it.

Examples:
  fathom convert web.spc.zst web.parquet
  fathom convert program:postmark-type-a postmark.parquet --on model:ssd-a
  fathom convert oltp.spc oltp-epo.trace --step writes-only --reshape epo,capacity=8MiB";

/// The file that a capture is written to if none is named.
pub(super) const CAPTURED: &str = "capture.parquet";

pub(super) const CAPTURE: &str = "\
The requests of all processes on the device are recorded while COMMAND runs, each with the number
of the thread that issued it: the kernel writes much of what a program asked for in threads of its
own. Writes that are still in the page cache when COMMAND ends are not in the trace; --sync writes
them first. COMMAND runs as the user who runs fathom. Ctrl-C ends COMMAND, and what was recorded is
written; after a second Ctrl-C nothing is written.

Needs root, and tracefs: mount -t tracefs nodev /sys/kernel/tracing

Examples:
  fathom capture --on /dev/sdb --sync --out untar.parquet -- tar -xf linux.tar -C /mnt/data
  fathom run untar.parquet --on model:nvme --step shrink,capacity=8GiB --sched cfq";

pub(super) const COMPARE: &str = "\
Runs that played the same workload with the same seed, and kept their accesses (`fathom run
--out`), are compared access by access: that tells smaller differences.

Example:
  fathom run generate:uniform --on model:epo --buffer lru --out runs/lru
  fathom run generate:uniform --on model:epo --buffer epo --out runs/epo
  fathom compare runs/lru runs/epo";

pub(super) const WRITE_COST: &str = "\
The model (greedy-space, III): n sectors in one logical block of L sectors take T_merge + n S / B,
and sets in several blocks add up. The command finds L by the paper's search, fits T_merge and B,
predicts other sets and measures them too, and times every request of sequential and random writes
(Figure 1). A modelled drive says what caused each spike: a merge, a collection, a full buffer.

On a drive that maps by page there is no merge; the verdict says so.

Examples:
  fathom write-cost model:mtron-sata7035 --out runs/cost
  fathom write-cost model:nvme --block 4MiB --total 256MiB
  fathom write-cost /mnt/data --size 4GiB --block 4MiB";

pub(super) const PLATFORM: &str = "\
Random reads, on this machine or on a modelled one: the latency of one read by phase, the clocks of
a read by layer with a processor saturated, for each interface, the cost of copies, and the rate over
threads, processors and drives until something limits it.

On this machine: targets are opened for reading only. Buffered reads drop the target's pages from the
page cache. Layers and phases come from the kernel's tracepoints, in a private instance of tracing
that is removed at the end (root, tracefs); what recording costs is measured and subtracted. Without
them the rest is measured, and what is missing is said. An idle machine gives better figures.

On a modelled one: a platform file has the clocks of each layer, the interrupts, the adapters and the
drives behind them.

Examples:
  fathom platform /dev/nvme0n1 --out runs/here
  fathom platform /mnt/data/file --no-trace
  fathom platform --model x5570-sas --out runs/platform
  fathom platform --model x5570-sas,cores=1,drives=3,interrupts.count=2,interrupts.time=20us
  fathom explain x5570-sas > mine.toml";

pub(super) const PLAN: &str = "\
Searches for the least hardware with which the model reaches the rate: first the fewest drives,
then with these the fewest adapters, then the fewest processors, then the fewest I/Os in flight.
Shows how far each is used, what saturates first, what another interface, coalescing or larger
blocks would change, and how the rate depends on each input. The numbers of drives, adapters and
processors in the platform file are not used. Exit code 1 if the rate is not reached; the reason is
shown.

Examples:
  fathom plan --iops 1M --bs 4K --platform x5570-sas
  fathom plan --iops 250k --latency-max 300us --platform nvme-2022,interface=io-uring";

pub(super) const TUNE: &str = "\
Compares what the drive reports with what was measured, and says what follows: attributes of the
request queue, options of mkfs, zpool, mdadm and cryptsetup, the cost model of cgroups, settings of
Seastar, RocksDB and PostgreSQL. Every line has its reason and the parameter behind it. What is not
identified gives no advice, and a line says why. docs/tune.md has every rule.

Nothing is written to a drive, and without --apply nothing is changed. --apply --verify names each
file before it is changed, runs the jobs with and without the settings in turn, and keeps these only
if the whole interval of the gain is above zero. The old values are back in every other case: after
Ctrl-C, and after SIGKILL at the next `fathom tune`.

Exit code 1 if the settings were not kept.

Examples:
  fathom probe /dev/nvme0n1 --read-only --out runs/nvme
  fathom tune runs/nvme
  fathom tune runs/nvme --format udev > 99-fathom.rules
  fathom tune runs/nvme --on /mnt/data --apply --verify job.fio --size 4GiB";

pub(super) const TWIN: &str = "\
Makes a model of a measured drive from its record: sizes, counts, memories and limits from the
answers, times and noise by a search that measures candidates as the probe measured the drive.
Prints every figure of the record beside that of the twin, and lists what the record does not tell:
such values are usual ones, and marked as assumed in the file. docs/twin.md has the accuracy.

A run is also a drive for `fathom run`: `--on RUN` plays the workload on its twin, which is made once
and kept in the run's directory.

Examples:
  fathom probe /mnt/data --size 4GiB --out runs/data
  fathom twin runs/data --out data.toml
  fathom probe model:./data.toml --out runs/twin && fathom diff runs/data runs/twin
  fathom run trace.csv --on runs/data";

pub(super) const REPRODUCE: &str = "\
Runs the paper's experiments and tests each of its claims on what was measured: it holds, holds in
its direction only, does not hold, or cannot be told. `fathom list studies` shows the papers,
`fathom explain paper:NAME` what was found.

Without --traces only generators run, which are like the paper's traces in published figures and
in nothing else. A result on a part of a trace says so.

Example:
  fathom reproduce epo --traces ~/traces --out runs/epo";

pub(super) const ACCURACY: &str = "\
Every drive is drawn from the family, the seed and its index, and probed through its requests
alone; the answers are compared with what is in it. Exit code 1 where the robust method finds less
than 97 % of what can be identified (95 % with --family modern), or more than 1 % of what it
identifies is wrong; with --family noise, where more than 0.5 % of the answers identify anything.

  wide     drives of everything that the model can build
  narrow   drives as they were drawn before there was a wide family
  noise    no drives: latencies of a busy disk and synthetic noise
  modern   drives of today's classes, and the parameters that the papers do not have

--method all puts the robust method beside the papers' procedures and our reading of the rules of
iotune, SSDcheck, SNIA's PTS, drive tests (cliff-70, knee-95) and flashbench, on the same drives,
each with the parameters that it answers. --thin 16 divides the minutes that these take.

To look into drive 17:
  fathom accuracy --seed 1 --show 17 > drive.toml      its first lines say how to probe it
  fathom accuracy --seed 1 --drive 17                  probes it, with every answer";
