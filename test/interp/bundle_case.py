"""A network with odd names, bundles of it by the command line, and the files that lie in them, for tests of bundles."""
import os
import random
import subprocess
import sys

ASSAY = os.path.realpath(sys.argv[1])
NAMES = ["x..y", "a/b", "a_b", "long" * 60, b"\xff\xfe non UTF-8", "\u00fc \\\\x41"]


def assay(*args, **more):
    run = subprocess.run([ASSAY, *args], capture_output=True, timeout=60, check=False, **more)
    return run.returncode, run.stdout.decode(errors="replace") + run.stderr.decode(errors="replace")


def quoted(name):
    return b'"' + (name if isinstance(name, bytes) else name.encode()) + b'"'


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def chain(path, weight=3):
    """A conv, an add whose constant is 4 bits wide, and a relu for each odd name."""
    w = ",".join(str((weight * i) % 17 - 8) for i in range(36))
    lines = [
        b"graph odd {",
        b"  input in: i8[1,4,4,2] q(0.5,3)",
        f"  const w: i8[2,3,3,2] q(axis=0,[0.01,0.02],[0,0]) = [{w}]".encode(),
        b"  const b: i32[2] q(axis=0,[0.005,0.01],[0,0]) = [7,-9]",
        b"  c: i8[1,4,4,2] q(0.1,-4) = conv(in, w, b) {layout=nhwc, kernel=[3,3], stride=[1,1], dilation=[1,1], pad_begin=[1,1], pad_end=[1,1]}",
    ]
    before = b"c"
    for name in NAMES:
        lines.append(b"  %s: i8[1,4,4,2] q(0.1,-4) = relu(%s)" % (quoted(name), before))
        before = quoted(name)
    lines += [b"  output " + before, b"}"]
    write(path, b"\n".join(lines) + b"\n")


def raw_input(path, seed=1):
    r = random.Random(seed)
    write(path, bytes(r.randrange(256) for _ in range(32)))


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs)
