#!/usr/bin/env python3
"""assay explain on devices whose cause is known: explain.py ASSAY SOURCE   (TAP)

The devices are those of planted.py beside this file. What the steps end at must be what the bundle and the device
hold, and the ways must part where the fault is."""
import base64
import itertools
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import asking  # noqa: E402
import planted  # noqa: E402
from device import Node, read, rescale_floor, write  # noqa: E402
from tap import Tap  # noqa: E402

ASSAY = sys.argv[1]
CONVS = (planted.STEM, planted.DEPTHWISE, planted.POINT)
# Fault: (the class, the step at which the two ways part, by its beginning), by number in planted.py's list.
PARTS = {
    "rescale.rounding": ("rounding", "table", "sum of codes"),
    "rescale.multiplier": ("product",),
    "rescale.channel": ("product",),
    "rescale.zero_point": ("plus zero point", "code"),
    "accumulator.width": ("product", "accumulator", "bias", "wrapped to"),
    "bias.missing": ("bias",),
    "bias.channel": ("bias",),
    "weights.stale": ("product",),
    "weights.sign": ("product",),
    "input.zero_point": ("product", "first", "second"),
    "padding.value": ("product",),
    "stride": ("product",),
    "stuck_bit": ("cause",),
    "lane": ("cause",),
    "sign": ("cause", "product"),
}


def explain(*args):
    r = subprocess.run([ASSAY, "explain", *args, "--json", "-"], capture_output=True, text=True)
    return r.returncode, json.loads(r.stdout) if r.returncode == 0 else r.stderr


def ends(trace):
    """The value at which steps end, by their own words."""
    steps = {s["name"]: s["text"] for s in trace["steps"]}
    last = trace["steps"][-1]
    good = last["name"] == "element" and ("value" not in trace or int(last["text"]) == trace["value"])
    return good and ("code" not in steps or "cause" in steps or "note" in trace or "value" not in trace or int(steps["code"]) == trace["value"])


def devices(tap, golden, device):
    done = set()
    for name, wanted, fault in planted.FAULTS:
        if (wanted, name in CONVS) in done:
            continue
        done.add((wanted, name in CONVS))
        node = Node(golden, name)
        codes = fault(node)
        asking.dump(golden, node, codes, device)
        status, said = explain(golden, device, name)
        if status:
            tap.check(False, f"{node.name}: {wanted}", said)
            continue
        at = [int(i) for i in said["element"][1:-1].split(",")]
        flat = 0
        for i, n in zip(at, node.shape):
            flat = flat * n + i
        good = said["device"] == codes[flat] and said["device"] != said["golden"] and ends(said["trace"]) and said["trace"]["value"] == said["golden"]
        cause = said["cause"]
        if wanted != "unexplained":
            good = good and cause and cause["class"] == wanted and ends(cause["trace"]) and cause["trace"]["value"] == said["device"] and cause["parts"]
        if good and wanted in PARTS and node.op == "conv":
            good = cause["parts"].startswith(PARTS[wanted] + ("cause",))  # a fit is told of codes
        tap.check(good, f"{node.name}: {wanted}", said["element"], said["golden"], said["device"], cause and (cause["parts"], cause["detail"], cause["trace"]["steps"]))


def by_name(tap, golden):
    rng = random.Random(planted.SEED)
    manifest = json.load(open(os.path.join(golden, "manifest.json")))
    tensors = {t["name"]: t for t in manifest["tensors"]}
    for node in manifest["nodes"]:
        t = tensors[node["outputs"][0]]
        shape, descr, values = read(os.path.join(golden, t["file"]))
        flat = rng.randrange(len(values))
        at, rest = [], flat
        for n in reversed(shape):
            at.insert(0, rest % n)
            rest //= n
        status, said = explain(golden, node["name"] + str(at).replace(" ", ""))
        if descr == "<f4":
            good = status == 0 and abs(said["golden"] - values[flat]) <= 1e-6 * abs(values[flat]) and said["replayed"] == said["golden"]
        else:
            good = status == 0 and said["golden"] == said["trace"]["value"] == values[flat] and ends(said["trace"])
        tap.check(good, f"{node['op']} {node['name']}{at}", said)


def page(tap, golden, device):
    """--html and --junit: whole by themselves, well formed, with the picture, the differences and the worked element."""
    stem, behind = Node(golden, planted.STEM), Node(golden, planted.NEXT)
    codes = planted.change(rescale=rescale_floor)(stem)
    asking.dump(golden, behind, behind.codes(), device)
    behind.x = codes
    write(asking.path_of(device, stem), stem.shape, "|i1", codes)
    write(asking.path_of(device, behind), behind.shape, "|i1", behind.codes())
    html, junit = os.path.join(device, "page.html"), os.path.join(device, "junit.xml")
    r = subprocess.run([ASSAY, "blame", golden, device, "-q", "--html", html, "--junit", junit], capture_output=True, text=True)
    text = open(html, encoding="utf-8").read()
    cases = {c.get("name"): [e.tag for e in c] for c in xml.etree.ElementTree.parse(junit).getroot()}
    tap.check(r.returncode == 1 and cases[planted.STEM] == ["failure"] and cases[planted.NEXT] == ["system-out"] and cases["image:q"] == [] and
              cases["logits"] == ["skipped"], "JUnit: a case a node", cases)
    picture = re.search(r"data:image/bmp;base64,([A-Za-z0-9+/=]+)", text)
    bmp = base64.b64decode(picture[1]) if picture else b""
    size, _, _, at, _, width, height, _, bits = struct.unpack("<IHHIIIIHH", bmp[2:30]) if bmp else [0] * 9
    red = sum(bmp[at + y * ((width * 3 + 3) // 4 * 4) + 3 * x:][:3] == b"\0\0\xff" for y in range(height) for x in range(width))
    wrong = sum(a != b for a, b in zip(codes, Node(golden, planted.STEM).codes()))
    tap.check(bmp[:2] == b"BM" and size == len(bmp) and bits == 24 and red == wrong > 0, f"the tensor: {width} x {height}, {red} of {wrong} elements red")
    tap.check(text.count(f": {wrong}</title>") == 1 and 'class="parts"' in text and "rescale.rounding" in text and 'class="inherited"' in text,
              "the differences, the step at which the ways part, the verdicts")
    tap.check("http" not in text and "<script" not in text, "the page needs nothing else")


def long_names(tap, folder):
    """Masks and dumps of tensors whose names are cut in file names, or end alike."""
    names = ["n" * 150 + "one", "n" * 150 + "two", "a.mask", "a"]
    text = "graph long { input \"x\": i8[4,8] q(0.5,3)\n"
    before = "x"
    for i, name in enumerate(names):
        text += f" \"{name}\": i8[4,8] q({0.5 + 0.1 * (i + 1)},{-i}) = rescale(\"{before}\")\n"
        before = name
    net, x = os.path.join(folder, "long.assay"), os.path.join(folder, "x.npy")
    open(net, "w").write(text + f" output \"{before}\" }}\n")
    write(x, [4, 8], "|i1", [(37 * k) % 251 - 125 for k in range(32)])
    golden, device = os.path.join(folder, "long"), os.path.join(folder, "long-device")
    r = subprocess.run([ASSAY, "golden", net, "-s", "tflite", "-i", x, "-o", golden], capture_output=True, text=True)
    if r.returncode:
        tap.check(False, "long names", r.stderr)
        return
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    for spoiled in tensors[1:]:
        os.makedirs(device)
        for t in tensors:
            shape, descr, values = read(os.path.join(golden, t["file"]))
            name = os.path.basename(t["file"])
            if t is spoiled:  # wrong where the mask says that nothing was seen, and in one element that was
                mask = [k % 2 == 0 for k in range(32)]
                wrong = [v if m else 99 for v, m in zip(values, mask)]
                wrong[4] ^= 1
                write(os.path.join(device, name), shape, descr, wrong)
                write(os.path.join(device, name[:-4] + ".mask.npy"), shape, "|b1", mask)
            else:
                write(os.path.join(device, name), shape, descr, values)
        status, said = asking.blame(golden, device)
        own = [n["name"] for n in said["nodes"] if n["verdict"] == "own"] if status != 2 else said
        # What reads the spoiled tensor was dumped as golden has it: it may be blamed for that one element.
        tap.check(status == 1 and own[:1] == [spoiled["name"]] and said["faults"][0]["elements"] == 16, f"a mask beside {spoiled['name'][:12]}...{spoiled['name'][-4:]}", own)
        for f in os.listdir(device):
            os.unlink(os.path.join(device, f))
        os.rmdir(device)


def table(tap, folder):
    """One entry of a table is wrong: blamed, and the entry stands among the steps."""
    net, x, golden, device = (os.path.join(folder, n) for n in ("table.assay", "codes.npy", "table", "table-device"))
    open(net, "w").write("graph t { input x: i8[256] q(0.05,3)\n y: i8[256] q(0.00390625,-128) = sigmoid(x)\n output y }\n")
    write(x, [256], "|i1", list(range(-128, 128)))
    r = subprocess.run([ASSAY, "golden", net, "-s", "tflite", "-i", x, "-o", golden], capture_output=True, text=True)
    if r.returncode:
        tap.check(False, "a table", r.stderr)
        return
    os.makedirs(device)
    for t in json.load(open(os.path.join(golden, "manifest.json")))["tensors"]:
        shape, descr, values = read(os.path.join(golden, t["file"]))
        if t["name"] == "y":
            values[100] += 5
        write(os.path.join(device, os.path.basename(t["file"])), shape, descr, values)
    status, said = asking.blame(golden, device)
    tap.check(status == 1 and "table.entry" in said["faults"][0]["classes"], "a table's entry is blamed", said)
    status, said = explain(golden, device, "y")
    steps = {s["name"]: s["text"] for s in said["trace"]["steps"]} if status == 0 else {}
    tap.check(said["element"] == "[100]" and steps.get("table entry", "").startswith("100 (code -28): ") and
              said["device"] == said["trace"]["value"] + 5, "its entry is among the steps", said)


def apart(tap, folder):
    """Two explanations of one element: the accumulator that would tell them apart does so in `scheme try` too."""
    golden, device = os.path.join(folder, "tflite-1"), os.path.join(folder, "device")
    node = Node(golden, planted.POINT)
    codes = planted.change(rescale=rescale_floor)(node)
    asking.dump(golden, node, codes, device)
    right = Node(golden, planted.POINT).codes()
    first = next(k for k, (a, b) in enumerate(zip(codes, right)) if a != b)
    write(os.path.join(device, os.path.basename(node.out["file"])[:-4] + ".mask.npy"), node.shape, "|b1", [k == first for k in range(len(codes))])
    status, said = asking.blame(golden, device)
    fault = said["faults"][0]
    found = [re.match(r"accumulator (-?\d+) of channel (\d+) would tell it \(code (-?\d+)\) from [\w.]+, .*\(code (-?\d+)\)$", t) for t in fault["apart"]]
    good = status == 1 and len(found) > 0 and all(f or "all tried" in t for f, t in zip(found, fault["apart"]))
    told = [f for f in found if f]
    tap.check(good and told and all(f[3] != f[4] for f in told) and "rescale.rounding" in fault["classes"], "what would tell two causes apart", fault)


def refused(tap, golden):
    for what, says in (("nothing[0]", "no node or tensor"), (planted.STEM + "[0,0,0]", "one index per dimension"),
                       (planted.STEM + "[0,99,0,0]", "one index per dimension"), (planted.STEM, "no element differs")):
        status, said = explain(golden, what)
        tap.check(status == 2 and says in said and said.count("\n") == 1, f"refused: {what}", status, said)
    status, said = explain(golden, planted.STEM + "[0,0,0,0]", "--sample", "7")
    tap.check(status == 2 and "no sample 7" in said, "refused: a sample that is not there", said)


def forms(tap, folder):
    """Every sum, average, pool and clamp of these schemes has steps that lead to its code."""
    folder = os.path.join(folder, "forms")
    os.makedirs(folder)
    for scheme in ("tflite", "tflite-single", "onnxruntime", "xnnpack-qs8", "nvdla", "npu16", "vta", "glow-interp", "glow-cpu", "vitis-dpu"):
        golden = asking.make_golden(scheme, folder)
        said, done = [], set()
        manifest = json.load(open(os.path.join(golden, "manifest.json")))
        ranks = {t["name"]: len(t["shape"]) for t in manifest["tensors"]}
        for node in manifest["nodes"]:
            if node["op"] in done:
                continue
            done.add(node["op"])
            rank = ranks[node["outputs"][0]]
            status, report = explain(golden, node["name"] + "[" + ",".join(["0"] * rank) + "]")
            if status == 0 and any(words in report["trace"].get("note", "") for words in ("integer steps", "floats are added")):
                continue
            if status or "note" in report["trace"] or not ends(report["trace"]):
                said.append((node["op"], report))
        tap.check(not said and "global_avg_pool" in done, f"{scheme}: steps of {', '.join(sorted(done))}", said)


def spread(shape, at):
    flat = 0
    for n, i in zip(shape, at):
        flat = flat * n + i
    return flat


def float_conv(rng, nhwc, taps):
    """A convolution of floats drawn at random: its line, its shapes and a function of an output's place."""
    axes, group, per, times = len(taps), rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 2)
    channels, filters = group * per, group * times
    size = [rng.randint(4, 7) for _ in taps]
    stride, dilation = [rng.randint(1, 2) for _ in taps], [rng.randint(1, 2) for _ in taps]
    begin, end = [rng.randint(0, 1) for _ in taps], [rng.randint(0, 1) for _ in taps]
    out = [(n + b + e - (d * (k - 1) + 1)) // s + 1 for n, b, e, d, k, s in zip(size, begin, end, dilation, taps, stride)]

    def place(n, c, at):
        return [n, *at, c] if nhwc else [n, c, *at]
    shapes = place(2, channels, size), place(filters, per, taps), place(2, filters, out)

    def products(x, w, n, o, at):
        terms = []
        for t in itertools.product(*map(range, taps)):
            source = [a * s - b + i * d for a, s, b, i, d in zip(at, stride, begin, t, dilation)]
            for c in range(per) if all(0 <= v < m for v, m in zip(source, size)) else ():
                terms.append(x[spread(shapes[0], place(n, o // times * per + c, source))] * w[spread(shapes[1], place(o, c, list(t)))])
        return terms
    line = (f"{{layout={'nhwc' if nhwc else 'nchw'}, kernel={list(taps)}, stride={stride}, dilation={dilation}, "
            f"pad_begin={begin}, pad_end={end}, group={group}}}")
    return line, shapes, place, out, filters, products, axes


def float_steps(golden, node, at):
    status, said = explain(golden, f"{node}{at}".replace(" ", ""))
    steps = {s["name"]: s["text"] for s in said["trace"]["steps"]} if status == 0 else {}
    return said, steps


def floats(tap, folder):
    """Convolutions and matrices of floats: each product, and their sum; functions of one float and of two: what they are given."""
    rng = random.Random(planted.SEED)
    for nhwc, taps in ((False, (3, 2)), (True, (2, 3)), (False, (3,)), (True, (2, 2, 2))):
        line, (xs, ws, ys), place, out, filters, products, axes = float_conv(rng, nhwc, taps)
        here = os.path.join(folder, f"float{nhwc}{axes}")
        os.makedirs(here)
        x, w, b = ([rng.randint(-64, 64) / 16 for _ in range(math.prod(s))] for s in (xs, ws, [filters]))
        write(os.path.join(here, "x.npy"), xs, "<f4", x)
        last = ys[-1]
        net = os.path.join(here, "net.assay")
        with open(net, "w") as f:
            f.write(f"""graph g {{
 input x: f32{xs}
 const w: f32{ws} = {w}
 const b: f32[{filters}] = {b}
 const m: f32[5,{last}] = {[rng.randint(-9, 9) / 4 for _ in range(5 * last)]}
 const r: f32[{last}] = {[rng.randint(-9, 9) / 4 for _ in range(last)]}
 y: f32{ys} = conv(x, w, b) {line}
 z: f32{ys} = squared_difference(y, r)
 u: f32{ys} = sigmoid(z)
 v: f32{ys[:-1] + [5]} = fc(u, m)
 output v
}}
""")
        golden = os.path.join(here, "golden")
        subprocess.run([ASSAY, "golden", net, "-i", os.path.join(here, "x.npy"), "-q", "-o", golden], check=True, capture_output=True)
        wrong = []
        for _ in range(6):
            n, o, at = rng.randrange(2), rng.randrange(filters), [rng.randrange(k) for k in out]
            terms = products(x, w, n, o, at)
            said, steps = float_steps(golden, "y", place(n, o, at))
            shown = [float(t.split("= ")[-1]) for name, t in steps.items() if name.startswith("product")]
            exact = sum(terms) + b[o]  # sixteenths: no sum of them is rounded
            if len(terms) <= 32 and sorted(shown) != sorted(terms) or abs(sum(shown) - sum(terms)) > 1e-6 or \
                    float(steps["sum"].split(",")[0]) != exact or said["golden"] != exact:
                wrong.append((said, terms))
        tap.check(not wrong, f"a convolution of floats, {line}", wrong[:1])
        at = [rng.randrange(k) for k in ys]
        told = float_steps(golden, "z", at)[1]
        values = [float(told[k].split()[0]) for k in ("x", "z", "element")]
        tap.check(abs((values[0] - values[1]) ** 2 - values[2]) <= 1e-5 * values[2] and f"'r'[{at[-1]}]" in told["z"] and
                  told["function"] == "(x - z) * (x - z)", "a function of two floats", told)
        told = float_steps(golden, "u", at)[1]
        tap.check(abs(1 / (1 + math.exp(-float(told["x"].split()[0]))) - float(told["element"].split()[0])) < 1e-6, "a sigmoid", told)
        said, told = float_steps(golden, "v", at[:-1] + [3])
        tap.check(abs(float(told["sum"].split(",")[0]) - float(told["element"].split()[0])) < 1e-5 and
                  sum(k.startswith("product") for k in told) == last, "a matrix of floats", said)


def rows(tap, folder):
    """Softmax and log softmax of rows: steps to the code, by fixed point and by tables."""
    probes = os.path.join(folder, "probes")
    subprocess.run([ASSAY, "probe", "--op", "softmax,log_softmax", "-o", probes], check=True, capture_output=True)
    for op, scheme in (("softmax", "tflite"), ("softmax", "onnxruntime"), ("softmax", "litert-xnnpack"), ("log_softmax", "tflite")):
        golden = os.path.join(folder, op + scheme)
        inputs = sorted(os.listdir(os.path.join(probes, op, "inputs")))
        subprocess.run([ASSAY, "golden", os.path.join(probes, op, op + ".assay"), "-s", scheme, "--as-is", "-q", "-o", golden]
                       + [word for name in inputs for word in ("-i", os.path.join(probes, op, "inputs", name))], check=True, capture_output=True)
        elements = [f"{op}{i}[{random.randrange(64)},{random.randrange(4)}]" for i in range(3) for _ in range(8)]
        wrong = []
        for element in elements:
            status, report = explain(golden, element)
            if status or "note" in report["trace"] or "sum of exponentials" not in str(report) or not ends(report["trace"]):
                wrong.append((element, report))
        tap.check(not wrong, f"{scheme}: {op} step by step", wrong[:1])


def main():
    tap = Tap()
    print(f"# seed {planted.SEED}")
    with tempfile.TemporaryDirectory() as folder:
        golden = asking.make_golden("tflite", folder)
        devices(tap, golden, os.path.join(folder, "device"))
        by_name(tap, golden)
        page(tap, golden, os.path.join(folder, "device"))
        long_names(tap, folder)
        table(tap, folder)
        apart(tap, folder)
        forms(tap, folder)
        rows(tap, folder)
        floats(tap, folder)
        refused(tap, golden)
    tap.end()


if __name__ == "__main__":
    main()
