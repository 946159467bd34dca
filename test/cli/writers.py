#!/usr/bin/env python3
"""writers.py ASSAY IO_FAULTS: every file that a command writes is the old one or the new one, whole.

Each command that writes is killed, or finds the disk full or broken, at each of its calls that change
files; its target is a link, a link to nothing, a pipe, a folder, a long name; two write at once.
Bundles and the constants of large networks are test/interp/killed.py's.
"""
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading

from support import TAP, check, npy, read, write

ASSAY = os.path.realpath(sys.argv[1])
FAULTS = os.path.realpath(sys.argv[2])


def assay(*args, env=None):
    run = subprocess.run([ASSAY, *args], capture_output=True, timeout=120, check=False, env=env)
    return run.returncode, (run.stdout + run.stderr).decode(errors="replace")


def faulty(n, what, *args):
    return assay(*args, env=dict(
        os.environ, LD_PRELOAD=FAULTS, ASSAY_FAULT=f"{n}:{what}",
        ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"))


def prepare():
    write("f.assay", b"graph f {\n input x: f32[1,4]\n"
          b" const w: f32[3,4] = [0.5,-0.25,1,2,0.125,0.75,-1,1,0.5,0.5,0.25,-2]\n const b: f32[3] = [0.5,-0.5,0.25]\n"
          b" y: f32[1,3] = fc(x, w, b)\n z: f32[1,3] = relu(y)\n output z\n}\n")
    npy("d.npy", "<f4", (8, 4), [(i * 7 % 13 - 6) / 3 for i in range(32)])
    npy("one.npy", "<f4", (1, 4), [0.5, -1, 2, 0.25])
    npy("acc.npy", "<i4", (9,), [i * 1000 - 4000 for i in range(9)])
    npy("a.npy", "|u1", (2, 32), [i % 100 for i in range(64)])
    for k in range(2):
        assay("profile", "f.assay", "-d", "d.npy", "-q", "--shard", f"{k + 1}/2", "-o", f"p{k}.yaml")
    assay("profile", "f.assay", "-d", "d.npy", "-q", "-o", "p.yaml")
    assay("quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "-o", "q.assay")
    assay("golden", "q.assay", "-s", "tflite", "-d", "d.npy", "-n", "1", "-o", "bundle")
    assay("run", "q.assay", "-s", "tflite", "-i", "one.npy", "-o", "outs")


MEASURED = ("f.assay", "-p", "p.yaml", "-s", "tflite", "-d", "d.npy", "-q")
# What writes: a name, and the command for a file to write.
WRITERS = [
    ("profile", lambda f: ("profile", "f.assay", "-d", "d.npy", "-q", "-o", f)),
    ("profile merge", lambda f: ("profile", "merge", "p0.yaml", "p1.yaml", "-o", f)),
    ("profile show --html", lambda f: ("profile", "show", "p.yaml", "--html", f)),
    ("profile show --svg", lambda f: ("profile", "show", "p.yaml", "--svg", f)),
    ("quantize", lambda f: ("quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "-o", f)),
    ("sensitivity --json", lambda f: ("sensitivity", *MEASURED, "--json", f)),
    ("eval --json", lambda f: ("eval", *MEASURED, "--json", f)),
    ("tune", lambda f: ("tune", *MEASURED, "--target-sqnr", "10", "-o", f)),
    ("optimize", lambda f: ("optimize", "q.assay", "-s", "tflite", "-o", f)),
    ("optimize --prove-to", lambda f: ("optimize", "q.assay", "-s", "tflite", "--prove-to", f)),
    ("convert to text", lambda f: ("convert", "q.assay", "-o", f)),
    ("diff --json", lambda f: ("diff", "bundle", "bundle", "--json", f)),
    ("diff --junit", lambda f: ("diff", "bundle", "bundle", "--junit", f)),
    ("report", lambda f: ("report", "bundle", "p.yaml", "-o", f)),
    ("explain --json", lambda f: ("explain", "bundle", "y[0,1]", "--json", f)),
    ("scheme apply", lambda f: ("scheme", "apply", "tflite", "--acc", "acc.npy", "--scale", "0.01", "-o", f)),
    ("scheme apply --errors", lambda f: ("scheme", "apply", "tflite", "--acc", "acc.npy", "--scale", "0.01", "-o",
                                         "codes.npy", "--errors", f)),
    ("scheme dot", lambda f: ("scheme", "dot", "nv-hopper-e4m3-f32", "--a", "a.npy", "--b", "a.npy", "-o", f)),
]
NETWORKS = ("quantize", "tune", "optimize", "convert to text")  # whose form goes by the ending
FORMATS = [  # the form goes by the name
    ("convert to ONNX", "out.onnx", lambda f: ("convert", "q.assay", "-o", f)),
    ("convert to TFLite", "out.tflite", lambda f: ("convert", "q.assay", "-o", f)),
    ("run", "outs/0000_output_z_f32.npy", lambda f: ("run", "q.assay", "-s", "tflite", "-i", "one.npy", "-o", "outs")),
]


def left(folder="."):
    return [f for f in os.listdir(folder or ".") if ".partial" in f or ".old" in f]


def dying(name, target, command):
    """Whatever happens at whichever call: the old bytes or the new ones, and no litter after the next run."""
    folder = os.path.dirname(target)
    def clear():
        for f in [target] + [os.path.join(folder, f) for f in left(folder)]:
            if os.path.lexists(f):
                os.unlink(f)
    clear()
    status, out = assay(*command)
    if status != 0 or not os.path.isfile(target):
        check(False, f"{name} writes", out)
        return None
    new = read(target)
    for what in ("kill", "28", "5"):
        bad, n, passed = [], 0, 0
        while n < 60 and passed < 3:  # to make a folder that is there may fail
            n += 1
            clear()
            write(target, b"old")
            status, out = faulty(n, what, *command)
            passed = passed + 1 if status == 0 else 0
            if status == 0 and read(target) == new:
                continue
            wanted = -signal.SIGKILL if what == "kill" else 2
            if status != wanted or read(target) not in (b"old", new) or (what != "kill" and left(folder)) or (
                    what != "kill" and out.count("\n") < 1):
                bad.append((n, status, out, left(folder)))
            status, out = assay(*command)
            if status or read(target) != new or left(folder):
                bad.append((n, "the next run", status, out, left(folder)))
        check(not bad and 6 < n < 60, f"{name}: whole when {what} meets one of {n - 3} calls", bad[:3] or n)
    clear()
    return new


def special(name, command, new, end):
    """Links, pipes, folders, modes and names, which end as the command asks."""
    def fails(target, text):
        status, out = assay(*command(target))
        return status == 2 and text in out and not left()
    os.mkdir("else")
    link, dangling, loop, long, twice = (n + end for n in ("link", "dangling", "loop", "n" * (250 - len(end)), "twice"))
    write("else/real", b"old")
    os.chmod("else/real", 0o640)
    os.symlink("else/real", link)
    os.symlink("else/missing", dangling)
    os.symlink(loop, loop)
    os.mkfifo("fifo")
    os.mkdir("folder" + end)
    status, out = assay(*command(link))
    good = status == 0 and os.path.islink(link) and read("else/real") == new
    check(good and stat.S_IMODE(os.stat("else/real").st_mode) == 0o640, f"{name}: what a link names, and its mode", out)
    status, out = assay(*command(dangling))
    check(status == 0 and os.path.islink(dangling) and read("else/missing") == new, f"{name}: a link to nothing", out)
    got = []
    reader = threading.Thread(target=lambda: got.append(read("fifo")), daemon=True)
    reader.start()
    status, out = assay(*command("fifo"))
    if not stat.S_ISFIFO(os.lstat("fifo").st_mode):
        os.unlink("fifo")  # or the reader waits for ever
        got = [b"no pipe any more"]
    else:
        reader.join(30)
    check(status == 0 and got == [new], f"{name}: a pipe takes the bytes and stays", (out, got))
    status, out = assay(*command(long))
    check(status == 0 and read(long) == new and not left(), f"{name}: a name as long as names may be", out)
    check(fails("folder" + end, "is a folder") and fails(loop, "symbolic links") and
          fails("none/x" + end, "none/x" + end) and
          (not os.path.exists("/dev/full") or fails("/dev/full", "No space left")),
          f"{name}: a folder, a loop, no folder, a full device")
    both = [subprocess.Popen([ASSAY, *command(twice)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    outs = [(p.communicate(), p.returncode) for p in both]
    check(all(s == 0 for _, s in outs) and read(twice) == new and not left(), f"{name}: three writers at once", outs)
    os.rmdir("folder" + end)
    for f in (link, dangling, loop, "fifo", long, twice):
        if os.path.lexists(f):
            os.unlink(f)
    shutil.rmtree("else")
    for f in os.listdir("."):
        if f.endswith(".d"):
            shutil.rmtree(f)


def lost_reports():
    """A report that standard output does not take is trouble, whatever it would have said."""
    shutil.copytree("bundle", "other")
    tensor = "other/tensors/" + sorted(os.listdir("other/tensors"))[-1]
    write(tensor, read(tensor)[:-1] + b"\x55")
    for wanted, command in ((0, ("inspect", "q.assay")), (0, ("verify", "bundle")), (0, ("diff", "bundle", "bundle")),
                            (1, ("verify", "other")), (1, ("diff", "bundle", "other")), (1, ("blame", "bundle", "other")),
                            (1, ("scheme", "diff", "tflite", "tflite-single", "--scale", "0.25", "--acc", "-9:9"))):
        check(assay(*command)[0] == wanted, f"{command[0]} ends with {wanted}")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([ASSAY, *command], stdout=full, stderr=subprocess.PIPE, check=False)
        check((run.returncode, run.stderr) == (2, b"assay: standard output: write error\n"),
              f"{command[0]}: a report that is lost", run)


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        prepare()
        for name, command in WRITERS:
            end = ".assay" if name in NETWORKS else ""
            new = dying(name, "target" + end, command("target" + end))
            if new is not None:
                special(name, command, new, end)
            out = subprocess.run([ASSAY, *command("-")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            check((out.returncode, out.stdout) == (0, new), f"{name}: standard output takes the file alone", out)
        for name, target, command in FORMATS:
            dying(name, target, command(target))
        if os.path.exists("/dev/full"):
            lost_reports()
    finally:
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)
    TAP.end()


main()
