#!/usr/bin/env python3
"""mutations.py ASSAY: `assay verify` on a bundle that is anything but what was written.

The rule (interp/golden/README.md): status 1 for whatever differs; status 2 with one line that names the manifest
where that is none any more: no JSON, or its forms or tensors are not of their form. Never 0, never anything else.
"""
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from support import TAP, check, read, write

ASSAY = os.path.realpath(sys.argv[1])
SEED = int(os.environ.get("ASSAY_SEED", "14"))
RANDOM = random.Random(SEED)
CASES = 240
NETWORK = """graph mutated {
  input x: i8[1,4,4,2] q(0.5,3)
  const w: i8[2,3,3,2] q(axis=0,[0.01,0.02],[0,0]) = [%s]
  const b: i32[2] q(axis=0,[0.005,0.01],[0,0]) = [7,-9]
  c: i8[1,4,4,2] q(0.1,-4) = conv(x, w, b) {layout=nhwc, kernel=[3,3], pad_begin=[1,1], pad_end=[1,1]}
  t: i8[1,4,4,2] q(0.0078125,0) = tanh(c)
  s: i8[1,4,4,2] q(0.1,2) = add(c, t)
  output s
}
""" % ",".join(str(i * 3 % 17 - 8) for i in range(36))


def verify():
    run = subprocess.run([ASSAY, "verify", "bundle"], capture_output=True, timeout=60, check=False)
    return run.returncode, run.stderr.decode(errors="replace")


def places(o, path=()):
    """Every entry below the top: leaves, lists and maps."""
    for key, value in (o.items() if isinstance(o, dict) else enumerate(o) if isinstance(o, list) else ()):
        yield path + (key,)
        yield from places(value, path + (key,))


def at(o, path):
    for key in path:
        o = o[key]
    return o


def other_value(v):
    if isinstance(v, bool) or v is None:
        return not v
    if isinstance(v, (int, float)):
        return RANDOM.choice((v + 1, -v - 1, v * 2 + 1, 1 << 60, -(1 << 40), 1e300))
    if isinstance(v, str):
        return RANDOM.choice((v + "x", v[:-1] + chr(ord(v[-1]) ^ 1) if v else "y", "../" + v, "0" * 32))
    keys = list(v) if isinstance(v, dict) else range(len(v))
    return {k: v[k] for k in list(keys)[1:]} if isinstance(v, dict) else v[1:] + [0]


def mutate(manifest, path, kind):
    """A copy that is changed, but where the other value happens to be the same."""
    m = copy.deepcopy(manifest)
    holder, key = at(m, path[:-1]), path[-1]
    old = holder[key]
    if kind == "missing":
        del holder[key]
    elif kind == "added" and isinstance(holder, dict):
        holder[str(key) + "_more"] = old
    elif kind == "added":
        holder.insert(key, copy.deepcopy(old))
    elif kind == "type":
        holder[key] = RANDOM.choice([v for v in (None, 7, "seven", [], {}, [7], {"seven": 7}, True) if type(v) is not type(old)])
    else:
        holder[key] = other_value(old)
    return m


def fits(status, err, readable):
    """Whether the answer follows the rule; `readable`: the manifest must be taken for one."""
    return status == 1 or (status == 2 and not readable and err.count("\n") == 1 and
                           err.startswith("assay: bundle/manifest.json"))


def leaves():
    whole = read("bundle/manifest.json")
    manifest = json.loads(whole)
    every, bad = sorted(places(manifest), key=str), []
    for _ in range(CASES):
        m, same = manifest, json.dumps(manifest)
        while json.dumps(m) == same:
            path, kind = RANDOM.choice(every), RANDOM.choice(("value", "type", "missing", "added"))
            m = mutate(manifest, path, kind)
        write("bundle/manifest.json", json.dumps(m, indent=1).encode())
        status, err = verify()
        twice = path[0] == "constants" and len(path) == 2 and kind == "added"
        if not fits(status, err, path[0] not in ("forms", "hex_bits", "tensors") and not twice):
            bad.append((path, kind, status, err))
    write("bundle/manifest.json", whole)
    check(not bad, f"{CASES} changes of the manifest's {len(every)} entries (ASSAY_SEED={SEED})", "\n".join(map(str, bad[:10])))


def files():
    names = sorted(os.path.relpath(os.path.join(d, f), "bundle") for d, _, fs in os.walk("bundle") for f in fs)
    bad = []
    for name in names:
        path = os.path.join("bundle", name)
        whole = read(path)
        place, other = RANDOM.randrange(len(whole)), RANDOM.choice([n for n in names if read("bundle/" + n) != whole])
        edited = whole[:place] + bytes([whole[place] ^ 1 << RANDOM.randrange(8)]) + whole[place + 1:]
        for kind, data in (("edited", edited), ("cut", whole[:place]), ("longer", whole + b"\0"), ("empty", b""),
                           ("swapped for " + other, read("bundle/" + other)), ("deleted", None)):
            if data is None:
                os.unlink(path)
            else:
                write(path, data)
            status, err = verify()
            if not fits(status, err, name != "manifest.json"):
                bad.append((name, kind, place, status, err))
        write(path, whole)
    check(not bad, f"each of {len(names)} files edited, cut, longer, empty, swapped, deleted (ASSAY_SEED={SEED})", "\n".join(map(str, bad[:10])))


def main():
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        write("net.assay", NETWORK.encode())
        write("x.bin", bytes(RANDOM.randrange(256) for _ in range(32)))
        made = subprocess.run([ASSAY, "golden", "net.assay", "-s", "tflite", "-i", "x.bin", "--accumulators", "--format",
                               "npy,hex", "-o", "bundle"], capture_output=True, timeout=60, check=False)
        check(made.returncode == 0 and verify() == (0, ""), "a bundle that verifies", made.stderr)
        leaves()
        files()
        check(verify() == (0, ""), "as it was written it verifies again")
    finally:
        os.chdir("/")
        shutil.rmtree(work, ignore_errors=True)
    TAP.end()


main()
