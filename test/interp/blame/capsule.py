#!/usr/bin/env python3
"""assay capsule: the capsule shows what the device did: capsule.py ASSAY IO_FAULTS SOURCE   (TAP)

The devices are those of planted.py beside this file, one a class. What is in the folder must be blamed as the whole
network was, and be whole or absent when its writer is killed or its disk fails."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ASSAY, FAULTS = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv.pop(2))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import asking  # noqa: E402
import planted  # noqa: E402
from device import Node, read, rescale_floor  # noqa: E402
from tap import Tap  # noqa: E402

PARTS = {"golden", "device", "node.assay", "README.md"}
WHOLE = ("output.layout", "lane", "bias.channel", "weights.layout")  # shown by many elements, hence slow to search


def run(*args, cwd=None, env=None):
    r = subprocess.run([ASSAY, *args], capture_output=True, text=True, cwd=cwd, env=env)
    return r.returncode, r.stdout, r.stderr


def shows(tap, golden, device, to):
    done = set()
    for name, wanted, fault in planted.FAULTS:
        if wanted in done or wanted in WHOLE or wanted == "unexplained":
            continue
        done.add(wanted)
        node = Node(golden, name)
        asking.dump(golden, node, fault(node), device)
        shutil.rmtree(to, ignore_errors=True)
        status, out, err = run("capsule", golden, device, name, "-o", to)
        good = status == 0 and PARTS <= set(os.listdir(to))
        said = {}
        if good:
            status, out, _ = run("blame", "golden", "device", "--json", "-", cwd=to)
            said = json.loads(out)
            good = status == 1 and [f["class"] for f in said["faults"]][:1] == [wanted] and len(said["nodes"]) == 1
            good = good and said["faults"][0]["elements"] <= 400 and "assay blame golden device" in open(f"{to}/README.md").read()
        if good and os.path.exists(f"{to}/node.onnx"):
            good = run("inspect", f"{to}/node.onnx")[0] == 0 and run("inspect", f"{to}/node.assay")[0] == 0
        tap.check(good, f"{node.name}: {wanted}", status, err, said.get("faults"))


def small(tap, golden, device, to):
    """A floor in place of a rounding shows in one element, and the device's code is in the capsule."""
    node = Node(golden, planted.POINT)
    codes = planted.change(rescale=rescale_floor)(node)
    asking.dump(golden, node, codes, device)
    shutil.rmtree(to, ignore_errors=True)
    run("capsule", golden, device, planted.POINT, "-o", to)
    name = next(f for f in os.listdir(f"{to}/device") if f.startswith("0001"))
    shape, _, values = read(f"{to}/device/{name}")
    _, out, _ = run("blame", "golden", "device", "--json", "-", cwd=to)
    tap.check(len(values) <= 4 and len(shape) == 4 and set(values) <= set(codes), "a rounding in a few elements", shape, values, out)


def refused(tap, golden, device, to):
    for what, args in (("exists already", (golden, device, planted.POINT)), ("no node or tensor", (golden, device, "nothing")),
                       ("no element differs", (golden, golden, planted.POINT))):
        where = to if what == "exists already" else to + "-none"
        status, _, err = run("capsule", *args, "-o", where)
        tap.check(status == 2 and what in err and err.count("\n") == 1 and not os.path.exists(to + "-none"), f"refused: {what}", status, err)


def dying(tap, golden, device, to):
    """Killed, or on a full disk, at some of its calls: the folder is whole or absent, and the next run cleans up."""
    folder, bad, tried = os.path.dirname(to), [], 0
    for what in ("kill", "28"):
        for n in (1, 2, 5, 9, 14, 20, 27, 35, 60, 90):
            shutil.rmtree(to, ignore_errors=True)
            status, out, err = run("capsule", golden, device, planted.POINT, "-o", to, env=dict(
                os.environ, LD_PRELOAD=FAULTS, ASSAY_FAULT=f"{n}:{what}",
                ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"))
            tried += status != 0
            if os.path.exists(to) and not PARTS <= set(os.listdir(to)):
                bad.append((n, what, os.listdir(to)))
            if what != "kill" and [f for f in os.listdir(folder) if ".partial" in f]:
                bad.append((n, what, os.listdir(folder), err))
        shutil.rmtree(to, ignore_errors=True)
        status, _, err = run("capsule", golden, device, planted.POINT, "-o", to)
        left = [f for f in os.listdir(folder) if ".partial" in f]
        if status or left:
            bad.append(("the next run", status, err, left))
    tap.check(not bad and tried > 8, f"whole or absent: {tried} failures", *bad[:4])


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        golden = asking.make_golden("tflite", folder)
        device, to = os.path.join(folder, "device"), os.path.join(folder, "there", "capsule")
        os.mkdir(os.path.dirname(to))
        shows(tap, golden, device, to)
        small(tap, golden, device, to)
        refused(tap, golden, device, to)
        dying(tap, golden, device, to)
    tap.end()


if __name__ == "__main__":
    main()
