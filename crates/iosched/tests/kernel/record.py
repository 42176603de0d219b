#!/usr/bin/env python3
"""Records in which order the kernel's schedulers dispatch: the .csv files beside this script.

    python3 record.py [--image FILE] [--out DIR] [--only SCHEDULER-JOB]

Needs root, fio, a kernel with tracefs and a loop device whose schedulers can be switched. Makes an image file of 256 MiB,
attaches a loop device to it and plays the fio jobs (JOBS below) under each scheduler while an instance of tracefs of
its own records the block tracepoints; both are gone afterwards. fio runs on one processor, so that there is one
software queue (blk_mq_ctx). The drive has DEPTH requests at a time: `nr_requests` written under `none` bounds the tags
of the hardware queue, and they stay when the scheduler changes.

A file has lines `# KEY VALUE`, then one line for each event: microseconds since the first one, the code of blkparse (Q
queued, under `none` only; U so many requests leave a plug, which are inserted before the next dispatch; M back-merged, F front-merged, R two requests merged (the second is named), I handed to the
scheduler, D dispatched, C completed), first sector; and, but for D and C, sectors, rwbs, and the thread, numbered in
order of appearance. Of flushes, which pass the scheduler by, there is only d and c.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

DEPTH = 8
# What is selected, and what is set in `iosched` then.
SCHEDULERS = {
    "none": ("none", {}),
    "mq-deadline": ("mq-deadline", {}),
    "kyber": ("kyber", {}),
    "bfq": ("bfq", {}),
    "bfq-plain": ("bfq", {"low_latency": "0"}),
}
TRACEFS = "/sys/kernel/tracing"
CODES = {
    "block_bio_queue": "Q",
    "block_bio_backmerge": "M",
    "block_bio_frontmerge": "F",
    "block_rq_merge": "R",
    "block_unplug": "U",
    "block_rq_insert": "I",
    "block_rq_issue": "D",
    "block_rq_complete": "C",
}
COMMON = "--direct=1 --ioengine=libaio --thread --cpus_allowed=0 --norandommap --randrepeat=1"
JOBS = {
    # Two writers that each go on sequentially.
    "writers": "--bs=16k --iodepth=24 --iodepth_batch_submit=4 --rw=write --number_ios=170 --size=64m "
    "--name=one --name=two --offset=128m",
    # Reads and writes at random, several sizes.
    "mixed": "--iodepth=48 --rw=randrw --rwmixread=50 --bsrange=4k-64k --size=256m --number_ios=250 --name=mixed",
    # A reader that waits for each of its reads, beside a flood of writes that has gone on for 0.3 s.
    "reader": "--name=flood --rw=randwrite --bs=1m --iodepth=32 --size=256m --io_size=400m "
    "--name=reader --startdelay=300ms --ioengine=psync --iodepth=1 --rw=randread --bs=4k --size=256m --number_ios=80",
    # The same, small writes, and both begin together.
    "together": "--name=flood --rw=randwrite --bs=32k --iodepth=64 --size=256m --number_ios=200 "
    "--name=reader --startdelay=2ms --ioengine=psync --iodepth=1 --rw=randread --bs=4k --size=256m --number_ios=50",
    # Random reads, deep.
    "deep": "--iodepth=64 --iodepth_batch_submit=8 --rw=randread --bs=4k --size=256m --number_ios=250 --name=deep",
    # Writes that are made durable: fsync after every eighth, and O_DSYNC.
    "fsync": "--bs=8k --size=64m --number_ios=120 --name=fsync --rw=randwrite --iodepth=16 --fsync=8 "
    "--name=dsync --offset=128m --rw=write --ioengine=psync --iodepth=1 --sync=dsync",
    # What the page cache writes back, beside a reader.
    "writeback": "--size=64m --name=cached --direct=0 --ioengine=psync --rw=randwrite --bs=16k --number_ios=160 --end_fsync=0 "
    "--sync_file_range=write:8 "
    "--name=reader --startdelay=1ms --ioengine=psync --direct=1 --rw=randread --bs=4k --offset=128m --number_ios=150",
}
LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[\d+\]\s+\S+\s+(\d+)\.(\d+): (\w+): (.*)$")
EVENT = re.compile(
    r"^\d+,\d+ (?P<rwbs>\S+) (?:\d+ )?(?:\(\S*\) )?(?P<sector>\d+) \+ (?P<sectors>\d+)"
)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


class Recorder:
    """A loop device of its own and an instance of tracefs of its own."""

    def __init__(self, image):
        self.image = image
        subprocess.run(["fallocate", "-l", "256M", image], check=True)
        subprocess.run(["dd", "if=/dev/zero", f"of={image}", "bs=1M", "count=256", "conv=notrunc,fsync", "status=none"], check=True)
        command = ["losetup", "--find", "--show", "--direct-io=on", image]
        self.device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        self.queue = f"/sys/block/{os.path.basename(self.device)}/queue"
        if not os.path.exists(f"{TRACEFS}/instances"):
            subprocess.run(["mount", "-t", "tracefs", "nodev", TRACEFS], check=True)
        self.trace = tempfile.mkdtemp(prefix="fathom-", dir=f"{TRACEFS}/instances")
        write(f"{self.trace}/trace_clock", "mono")
        write(f"{self.trace}/buffer_size_kb", "16384")
        number = os.stat(self.device).st_rdev
        for event in CODES:
            if event != "block_unplug":
                device = os.major(number) << 20 | os.minor(number)
                write(f"{self.trace}/events/block/{event}/filter", f"dev == {device}")
            write(f"{self.trace}/events/block/{event}/enable", "1")

    def close(self):
        os.rmdir(self.trace)
        subprocess.run(["losetup", "--detach", self.device], check=True)
        os.remove(self.image)

    def select(self, scheduler):
        write(f"{self.queue}/scheduler", "none")
        write(f"{self.queue}/nr_requests", str(DEPTH))
        name, settings = SCHEDULERS[scheduler]
        write(f"{self.queue}/rotational", "0")
        write(f"{self.queue}/scheduler", name)
        write(f"{self.queue}/wbt_lat_usec", "0")
        for key, value in settings.items():
            write(f"{self.queue}/iosched/{key}", value)

    def play(self, job):
        write(f"{self.trace}/trace", "")
        arguments = f"{COMMON} --filename={self.device} {JOBS[job]}".split()
        subprocess.run(["fio", *global_first(arguments)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["blockdev", "--flushbufs", self.device], check=True)
        return read(f"{self.trace}/trace").splitlines()

    def head(self, scheduler, job):
        keys = {
            "kernel": os.uname().release,
            "scheduler": SCHEDULERS[scheduler][0],
            "job": JOBS[job],
            "depth": DEPTH,
            "nr_requests": read(f"{self.queue}/nr_requests").strip(),
            "rotational": read(f"{self.queue}/rotational").strip(),
            "max_sectors_kb": read(f"{self.queue}/max_sectors_kb").strip(),
        }
        folder = f"{self.queue}/iosched"
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            keys[name] = read(f"{folder}/{name}").strip()
        return [f"# {key} {value}" for key, value in keys.items()]


def global_first(arguments):
    """fio's command line has no global section but what comes before the first job, if that says --name=global."""
    return ["--name=global", *arguments]


def events(lines, left_out):
    """One line of the file for each event. Plugs may be those of other devices, and of one request say nothing."""
    threads, plugs, start, rows = {}, {}, None, []
    for line in lines:
        found = LINE.match(line)
        code = CODES.get(found[5]) if found else None
        if code is None or code in left_out:
            continue
        now = int(found[3]) * 1_000_000 + int(found[4])
        if code == "U":
            requests = int(found[6].split()[-1])
            if requests > 1:
                plugs[found[2]] = (now, requests)
            continue
        event = EVENT.match(found[6])
        if not event:
            sys.exit(f"not understood: {line}")
        if event["rwbs"] == "FF" and start is not None:
            rows.append(f"{now - start},{code.lower()}")
        if event["sectors"] == "0" or event["rwbs"] == "FF":
            continue
        start = now if start is None else start
        plug = plugs.pop(found[2], None)
        if plug and code in "IR":
            rows.append(f"{max(plug[0] - start, 0)},U,{plug[1]}")
        row = [str(now - start), code, event["sector"]]
        if code not in "DC":
            row += [event["sectors"], event["rwbs"], str(threads.setdefault(found[2], len(threads)))]
        rows.append(",".join(row))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--image", default="/var/tmp/fathom-record.img")
    parser.add_argument("--out", default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--only")
    arguments = parser.parse_args()
    recorder = Recorder(arguments.image)
    try:
        for scheduler in SCHEDULERS:
            for job in JOBS:
                name = f"{scheduler}-{job}"
                # Without a scheduler it is not recorded how long requests are split.
                if arguments.only not in (None, name, scheduler) or name == "none-reader":
                    continue
                recorder.select(scheduler)
                rows = recorder.head(scheduler, job) + events(recorder.play(job), "" if scheduler == "none" else "Q")
                write(f"{arguments.out}/{name}.csv", "\n".join(rows) + "\n")
                print(name, len(rows))
    finally:
        recorder.close()


if __name__ == "__main__":
    main()
