#!/usr/bin/env python3
"""killed.py ASSAY IO_FAULTS: networks and bundles are the old ones or the new ones, whenever their writer dies, the disk is full or breaks."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from bundle_case import ASSAY, assay, chain, files_below, raw_input, read, write  # noqa: E402
from tap import Tap  # noqa: E402

FAULTS = os.path.realpath(sys.argv[2])
TAP = Tap()
check = TAP.check
SEED = int(os.environ.get("ASSAY_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
RANDOM = random.Random(SEED)


def faulty(n, what, *args, reading=False):
    env = dict(os.environ, LD_PRELOAD=FAULTS, ASSAY_FAULT=f"{n}:{what}",
               ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0")
    if reading:
        env["ASSAY_FAULT_READ"] = "1"
    return assay(*args, env=env)


def output_of(network):
    status, out = assay("run", network, "-s", "tflite", "-i", "in.bin")
    return out if status == 0 else f"does not run: {out}"


def everywhere(what, fresh, act, good, name):
    """Lets call 1, 2, ... of `act` fail in the way `what`, from the state that `fresh` makes, until
    it fails no more; good(status, out) says what may be found afterwards."""
    n, bad = 0, []
    while n < 400:
        n += 1
        fresh()
        status, out = faulty(n, what, *act)
        if status == 0:
            break
        why = good(status, out)
        if why:
            bad.append((n, status, out, why))
    check(not bad and 3 < n < 400, f"{name}, at each of {n - 1} points", bad[:3])


def networks():
    """PATH and PATH.d: the old network or the new one, whenever the writer dies."""
    chain("new.assay", 5)
    def fresh():
        for f in os.listdir("."):
            if f.startswith("net.assay"):
                shutil.rmtree(f) if os.path.isdir(f) else os.unlink(f)
        assay("convert", "odd.assay", "-o", "net.assay")
    fresh()
    old = output_of("net.assay")
    assay("convert", "new.assay", "-o", "net.assay")
    new = output_of("net.assay")
    check(old != new and old == output_of("odd.assay"), "two networks that differ", (old, new))
    def whole(status, _):
        if status not in (2, -signal.SIGKILL):
            return "status"
        found = output_of("net.assay")
        if found not in (old, new):
            return found
        status, out = assay("convert", "new.assay", "-o", "net.assay")
        left = [f for f in os.listdir(".") + os.listdir("net.assay.d") if "partial" in f]
        if status or output_of("net.assay") != new or left or len(os.listdir("net.assay.d")) != 1:
            return out, left, os.listdir("net.assay.d")
        return None
    act = ("convert", "new.assay", "-o", "net.assay")
    everywhere("kill", fresh, act, whole, "a network is whole, and the next save cleans up, when its writer is killed")
    everywhere("28", fresh, act, whole, "the same on a full disk")
    everywhere("5", fresh, act, whole, "the same with a broken disk")
    def clear():
        for f in os.listdir("."):
            if f.startswith("net.assay"):
                shutil.rmtree(f) if os.path.isdir(f) else os.unlink(f)
    def state():
        tops = [f for f in os.listdir(".") if f.startswith("net.assay")]
        return {f: files_below(f) if os.path.isdir(f) else read(f) for f in tops}
    for what, disk in (("28", "full"), ("5", "broken")):
        for start, name in ((fresh, "takes back what it made"), (clear, "and leaves nothing where nothing stood")):
            start()
            stood = state()
            everywhere(what, start, act, lambda *_, stood=stood: None if state() == stood or (
                output_of("net.assay") == new) else state(), f"a save that fails on a {disk} disk {name}")
    fresh()
    assay(*act)
    shutil.copytree("net.assay.d", "mixed.assay.d")
    for f in os.listdir("net.assay.d"):
        data = bytearray(read("net.assay.d/" + f))
        data[-1] ^= 1
        write("net.assay.d/" + f, bytes(data))
    status, out = assay("run", "net.assay", "-s", "tflite", "-i", "in.bin")
    check(status == 2 and "other constants" in out and out.count("\n") == 1,
          "constants of another network are refused", out)
    text = re.sub(rb' xxh3 "[0-9a-f]*"', b"", read("net.assay"))
    write("net.assay", text)
    check(assay("run", "net.assay", "-s", "tflite", "-i", "in.bin")[0] == 0, "a file without digests still loads")
    fresh()
    os.mkdir("net.assay.d.partial")  # what older versions left
    write("net.assay.d.partial/c0000_w.npy", b"half")
    check(assay(*act)[0] == 0 and not os.path.exists("net.assay.d.partial"), "and what an older version left goes")
    os.mkdir("net.assay.d.partial")
    write("net.assay.d.partial/thesis.tex", b"mine")
    check(assay(*act)[0] == 0 and read("net.assay.d.partial/thesis.tex") == b"mine", "but for another's files")
    os.mkdir("links")
    os.symlink("../net.assay", "links/link.assay")
    check(output_of("links/link.assay") == new, "a link to a network finds its constants")
    check(assay("convert", "odd.assay", "-o", "links/link.assay")[0] == 0 and os.listdir("links") == ["link.assay"] and
          output_of("net.assay") == old, "and is written where they are")
    os.symlink("net.assay.d", "other.assay.d")
    before = files_below("net.assay.d")
    status, out = assay("convert", "new.assay", "-o", "other.assay")
    check(status == 2 and "not a link" in out and files_below("net.assay.d") == before,
          "a folder of constants that is a link to another network's is not cleaned", out)
    os.unlink("other.assay.d")
    os.mkdir("home.assay.d")
    write("home.assay.d/thesis.tex", b"mine")
    check(assay("convert", "odd.assay", "-o", "home.assay")[0] == 0 and read("home.assay.d/thesis.tex") == b"mine",
          "another's file in the folder of constants stays")


def bundles():
    """A bundle is the old one or the new one, whenever its writer dies."""
    act = ("golden", "new.assay", "-s", "tflite", "-i", "in.bin", "-f", "-o", "target")
    def clear():
        for f in os.listdir("."):
            if f.startswith("target"):
                shutil.rmtree(f)
    def fresh():
        clear()
        shutil.copytree("old", "target")
    assay("golden", "odd.assay", "-s", "tflite", "-i", "in.bin", "-o", "old")
    def whole(status, _):
        if status not in (2, -signal.SIGKILL):
            return "status"
        if os.path.exists("target"):
            found, out = assay("verify", "target")
            if found:
                return out
        elif os.path.exists("old-was-there"):
            return "gone"
        status, out = assay(*act)
        left = [f for f in os.listdir(".") if "target." in f]
        return (out, left) if status or left or assay("verify", "target")[0] else None
    write("old-was-there", b"")
    everywhere("kill", fresh, act, whole, "a bundle is whole, and the next run cleans up, when its writer is killed")
    everywhere("5", fresh, act, whole, "the same with a broken disk")
    os.unlink("old-was-there")
    everywhere("28", clear, act, whole, "whole or absent on a full disk")
    fresh()
    runs = [faulty(n, "5", "verify", "old", reading=True) for n in range(1, 100)]
    check(all(status in (0, 2) for status, _ in runs) and sum(status == 2 for status, _ in runs) > 10,
          "what cannot be read is trouble, not a difference", [r for r in runs if r[0] == 1])
    both = [subprocess.Popen([ASSAY, *act], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
    outs = [(p.communicate(), p.returncode) for p in both]
    check(all(s == 0 for _, s in outs) and assay("verify", "target")[0] == 0 and
          not [f for f in os.listdir(".") if "target." in f], "six writers at once: the last wins, whole", outs)
    save = [ASSAY, "convert", "odd.assay", "-o", "net.assay"]
    both = [subprocess.Popen(save, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
    outs = [(p.communicate(), p.returncode) for p in both]
    check(all(s == 0 for _, s in outs) and output_of("net.assay") == output_of("odd.assay"),
          "six writers of a network at once", outs)
    killed, bad = 0, []
    for _ in range(20):  # at any moment
        fresh()
        p = subprocess.Popen([ASSAY, *act], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(RANDOM.random() * 0.04)
        p.kill()
        p.communicate()
        killed += p.returncode != 0
        why = whole(-signal.SIGKILL, "")
        if why:
            bad.append(why)
    check(not bad, f"killed {killed} of 20 times at random (seed {SEED})", bad)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        chain("odd.assay")
        raw_input("in.bin")
        networks()
        bundles()
    finally:
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)
    TAP.end()


main()
