#!/usr/bin/env python3
"""assay blame on two causes in one node, dumped or not, one of which hides the other: pairs.py ASSAY SOURCE   (TAP)

Then zero points beyond the type, lanes along an axis that the op does not name, tensors with long names, and dumps that nothing can be compared with."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from asking import ASSAY, blame, dump, make_golden  # noqa: E402
from device import Node, clamp, read, rescale, write  # noqa: E402
from planted import DEPTHWISE, POINT, change, flipped_filters, rescale_floor, transposed  # noqa: E402
from tap import Tap  # noqa: E402


def unbiased(n):
    return [0] * len(n.b)


def shifted(n):
    return [s - 1 for s in n.s]


def one_bias(n):
    return n.b[:3] + [n.b[7]] + n.b[4:]


def few_inputs(n):
    """Of each filter the weights of the inputs from a place on are zero."""
    size = len(n.w) // len(n.b)
    return [0 if i % size >= size // 2 + 3 else v for i, v in enumerate(n.w)]


def stored(fault):
    return lambda n: transposed(n, fault(n))


def turned(fault):
    """Rows stored as columns; the image is square."""
    def codes(n):
        made, size = fault(n), n.shape[3]
        return [made[k // size // size * size * size + k % size * size + k // size % size] for k in range(len(made))]
    return codes


def from_behind(fault):
    """Channels c with c mod 8 = 3 hold what the one behind does."""
    def codes(n):
        made, cells = fault(n), n.shape[2] * n.shape[3]
        return [made[k + cells] if k // cells % 8 == 3 else v for k, v in enumerate(made)]
    return codes


def bit_of(bit, fault):
    return lambda n: [v | 1 << bit for v in fault(n)]


def tile_before(n):
    """The last eight filters are those of the eight channels before."""
    size = len(n.w) // len(n.b)
    return n.w[:-8 * size] + n.w[-16 * size:-8 * size]


def rows(fault, of):
    """Every row of the image is what `of` says: a row, or a code."""
    def codes(n):
        made, (height, width) = fault(n), n.shape[2:]
        held = [of(k // width % height) for k in range(len(made))]
        return [made[k + (r - k // width % height) * width] if r is not None else n.lo for k, r in enumerate(held)]
    return codes


PAIRS = [
    (POINT, ["tile.edge", "weights.stale"], rows(change(w=tile_before), lambda r: None if r in (1, 2) else r)),
    (POINT, ["tile.edge", "weights.stale"], rows(change(w=tile_before), lambda r: r - 1 if r > 0 and r % 2 == 0 else r)),
    (POINT, ["bias.missing", "tile.edge"], rows(change(b=unbiased), lambda r: r - 3 if r in (5, 6, 7) else r)),
    (POINT, ["bias.missing", "output.layout"], stored(change(b=unbiased))),
    (POINT, ["input.zero_point", "rescale.shift"], change(zx=0, pad_code=0, s=shifted)),
    (DEPTHWISE, ["rescale.shift", "weights.layout"], change(w=flipped_filters, s=shifted)),
    (POINT, ["bias.channel", "rescale.zero_point"], change(b=lambda n: n.b[::-1], zero=lambda n: n.zero + 1)),
    (POINT, ["bias.missing", "rescale.rounding"], change(b=unbiased, rescale=rescale_floor)),
    (POINT, ["bias.missing", "input.zero_point"], change(b=unbiased, zx=lambda n: n.zx + 13)),
    (DEPTHWISE, ["bias.missing", "input.zero_point"], change(b=unbiased, zx=lambda n: n.zx + 9)),
    (POINT, ["saturation.bounds", "stuck_bit"], bit_of(2, change(lo=-45))),
    (POINT, ["saturation.bounds", "stuck_bit"], bit_of(3, change(hi=33))),
    (DEPTHWISE, ["bias.channel", "tile.edge"], change(b=one_bias, tile=4)),
    (DEPTHWISE, ["padding.place", "padding.value"], change(pad=[0, 0], pad_code=0)),
    (DEPTHWISE, ["output.layout", "padding.value"], stored(change(pad_code=127))),
    (POINT, ["input.zero_point", "rescale.zero_point"], change(zx=lambda n: n.zx + 9, pad_code=0, zero=lambda n: n.zero - 5)),
    (DEPTHWISE, ["padding.place", "weights.layout"], change(pad=[0, 0], w=flipped_filters)),
    (POINT, ["saturation.bounds", "weights.stale"], change(w=few_inputs, hi=lambda n: n.zero + 4)),
    (DEPTHWISE, ["output.layout", "stride"], turned(change(stride=[1, 2]))),
    (POINT, ["lane", "rescale.zero_point"], from_behind(change(zero=lambda n: n.zero + 3))),
    (DEPTHWISE, ["rescale.shift", "rescale.zero_point"], change(s=shifted, zero=lambda n: n.zero - 4)),
]


def pairs(tap, golden, device):
    for name, wanted, fault in PAIRS:
        node = Node(golden, name)
        dump(golden, node, fault(node), device)
        status, said = blame(golden, device)
        found = sorted(f["class"] for f in said["faults"]) if status == 1 else said
        tap.check(found == wanted and all(f["name"] == name for f in said["faults"]), f"{node.name}: {' and '.join(wanted)}", found)


# ---- a node whose output was not dumped ----

BEHIND = "/block3/pw/bn/BatchNormalization_output_0"  # reads what DEPTHWISE gives


def dead(codes, node, lanes, lane):
    cells = node.shape[2] * node.shape[3]
    return [node.zero if k // cells % lanes == lane else v for k, v in enumerate(codes)]


def three(n):
    """A tile's halo and a bias behind dead lanes: no two causes explain that."""
    return dead(change(tile=4, b=one_bias)(n), n, 8, 1)


HIDDEN = [
    (["bias.missing", "rescale.shift"], change(b=unbiased, s=shifted)),
    (["bias.channel", "rescale.zero_point"], change(b=lambda n: n.b[::-1], zero=lambda n: n.zero + 3)),
    (["rescale.rounding", "weights.layout"], change(w=flipped_filters, rescale=rescale_floor)),
    (["lane", "tile.edge"], lambda n: dead(change(tile=4)(n), n, 4, 2)),
    (["input.zero_point"], change(zx=lambda n: n.zx - 6, pad_code=lambda n: n.zx)),
    (["unexplained"], three),
]


def hidden(tap, golden, device):
    """What the node behind computes was dumped, not what the node at fault gives."""
    for wanted, fault in HIDDEN:
        node, behind = Node(golden, DEPTHWISE), Node(golden, BEHIND)
        behind.x = fault(node)
        dump(golden, behind, behind.codes(), device)
        os.remove(os.path.join(device, os.path.basename(node.out["file"])))
        status, said = blame(golden, device)
        found = sorted(f["class"] for f in said["faults"]) if status == 1 else said
        tap.check(found == wanted and all(f["name"] == DEPTHWISE for f in said["faults"]), f"not dumped, {node.name}: {' and '.join(wanted)}", said["faults"])


def cut(tap, golden, device):
    """What two causes would explain is not searched for without work, and that is said; more of it finds them, the same on each run."""
    node = Node(golden, DEPTHWISE)
    dump(golden, node, turned(change(stride=[1, 2]))(node), device)
    for work, wanted in (("0", ["unexplained"]), ("0.001", ["unexplained"]), ("10", ["output.layout", "stride"])):
        runs = [blame(golden, device, "--work", work, "--node-threads", threads)[1] for threads in ("1", "2")]
        found = sorted(f["class"] for f in runs[0]["faults"])
        said = all(("cut_after" in f) == (len(wanted) == 1) for f in runs[0]["faults"])
        tap.check(found == wanted and said and runs[0] == runs[1], f"work for two causes: {work}", runs[0]["faults"])
    said = subprocess.run([ASSAY, "blame", golden, device, "--work", "0"], capture_output=True, text=True).stdout
    tap.check("the search was cut after " in said, "a search that was cut is said in the text", said)


# ---- samples ----


def stale(tap, folder, device):
    """Three samples without a bias, of which each holds what the one before should, or one does."""
    golden = make_golden("tflite", folder, 3)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    node = Node(golden, POINT)
    at = [t for t in tensors if t["name"] == node.output]
    x = [t for t in tensors if t["index"] == at[0]["index"] - 1]
    codes = []
    for k in range(3):
        node = Node(golden, POINT)
        node.x = read(os.path.join(golden, x[k]["file"]))[2]
        codes.append(change(b=unbiased)(node))
    for sources, words in (([0, 0, 1], "each of the one before"), ([0, 1, 1], "one of the one before")):
        shutil.rmtree(device, ignore_errors=True)
        for t in tensors:
            to = os.path.join(device, f"s{t['sample']:05d}")
            os.makedirs(to, exist_ok=True)
            if t["index"] < at[0]["index"]:
                shutil.copy(os.path.join(golden, t["file"]), to)
        for k, source in enumerate(sources):
            write(os.path.join(device, f"s{k:05d}", os.path.basename(at[k]["file"])), node.shape, "|i1", codes[source])
        status, said = blame(golden, device)
        found = sorted(f["class"] for f in said["faults"]) if status == 1 else said
        tap.check(found == ["bias.missing", "stale.sample"], f"bias.missing and stale.sample, {words}", found)


# ---- networks of a few nodes ----


class Small:
    """Bundle and device of a network that is given as text, its input counted up from -60."""

    def __init__(self, folder, name, shape, nodes, scheme="tflite"):
        self.golden, self.device = os.path.join(folder, name), os.path.join(folder, name + "-device")
        net, x = (os.path.join(folder, name + end) for end in (".assay", ".npy"))
        size = 1
        for n in shape:
            size *= n
        write(x, shape, "|i1", [i * 7 % 121 - 60 for i in range(size)])
        with open(net, "w") as f:
            f.write(f"graph net {{\n  input x: i8{shape} q(1,0)\n{nodes}}}\n")
        subprocess.run([ASSAY, "golden", net, "-s", scheme, "-i", x, "-q", "-o", self.golden], check=True, capture_output=True)
        shutil.copytree(os.path.join(self.golden, "tensors"), self.device)

    def spoil(self, index, change_of):
        """Blames the device when one of its tensors is changed."""
        path = os.path.join(self.device, sorted(os.listdir(self.device))[index])
        shape, _, codes = read(path)
        write(path, shape, "|i1", change_of(codes))
        return blame(self.golden, self.device)


def other_axis(tap, folder):
    net = Small(folder, "rows", [1, 8, 6, 6], "  p: i8[1,8,6,6] q(1,0) = max_pool(x) {kernel=[1,1]}\n  r: i8[1,8,36] q(1,0) = reshape(p) {shape=[1,8,36]}\n"
                "  y: i8[1,8,36] q(0.5,0) = rescale(r)\n  output y\n")
    status, said = net.spoil(3, lambda y: [5 if i % 4 == 3 else v for i, v in enumerate(y)])
    faults = said["faults"] if status == 1 else []
    tap.check([f["class"] for f in faults] == ["lane"] and "axis 2" in faults[0]["detail"], "lanes along the last axis of rows behind images", said)


def long_names(tap, folder):
    """Files are named by the first 160 bytes of a tensor's name; of a code of 0 that was a mask's."""
    name = "n" * 190
    net = Small(folder, "long", [1, 40], f"  {name}: i8[1,40] q(0.5,0) = rescale(x)\n  output {name}\n")
    status, said = net.spoil(1, lambda y: [0 if i % 9 == 4 else v for i, v in enumerate(y)])
    tap.check(status == 1 and said["faults"][0]["differing"] >= 4, "codes of 0 in a tensor of a long name", said)


def nothing(tap, golden, device):
    node = Node(golden, POINT)
    dump(golden, node, node.codes(), device)
    for file in os.listdir(device):
        if "_input_" not in file:
            os.remove(os.path.join(device, file))
    status, said = blame(golden, device)
    tap.check(status == 2 and "nothing was compared" in str(said) and str(said).count("\n") == 1, "refused: inputs of the network alone", said)


def far_zero_points(tap, golden, device):
    """Zero points that no code of the type is, in a node of its own fault alone."""
    for name, far, padded in ((POINT, 300, True), (POINT, -300, True), (POINT, 1000, True), (DEPTHWISE, -700, False), (DEPTHWISE, 1500, True)):
        node = Node(golden, name)
        zero = node.zx + far
        dump(golden, node, change(zx=zero, pad_code=zero if padded else node.zx)(node), device)
        status, said = blame(golden, device)
        found = [(f["class"], f["detail"]) for f in said["faults"]] if status == 1 else said
        tap.check([f[0] for f in found] == ["input.zero_point"] and f"input 0: {zero} " in found[0][1], f"{name}: an input's zero point {far} off", found)


def far_in_products(tap, folder):
    """Rows by a matrix, whose input may also be read with the other sign first."""
    x, w = [i * 7 % 121 - 60 for i in range(64)], [i * i % 19 - 9 for i in range(48)]
    net = Small(folder, "products", [8, 8], f"  const w: i8[6,8] q(1,0) = {w}\n  y: i8[8,6] q(64,0) = fc(x, w)\n  output y\n")
    for far in [700, -700, 1200]:
        sums = [sum((x[8 * r + i] - far) * w[8 * c + i] for i in range(8)) for r in range(8) for c in range(6)]
        status, said = net.spoil(1, lambda y: [clamp(rescale(v, 1 << 30, -5), -128, 127) for v in sums])
        found = [(f["class"], f["detail"]) for f in said["faults"]] if status == 1 else said
        tap.check([f[0] for f in found] == ["input.zero_point"] and f"input 0: {far} " in found[0][1], f"rows: an input's zero point {far} off", found)


def products(x, w, bias):
    k = len(w) // len(bias)
    return [sum(x[k * r + i] * w[k * c + i] for i in range(k)) + bias[c] for r in range(len(x) // k) for c in range(len(bias))]


def wrapped_bounds(tap, folder):
    """Codes wrap and one side is bounded before that: what comes in from below lies above the bound. A stuck bit hides it, or none."""
    x, w = [i * 7 % 121 - 60 for i in range(64)], [i * i % 19 - 9 for i in range(48)]
    net = Small(folder, "wraps", [8, 8], f"  const w: i8[6,8] q(1,0) = {w}\n  y: i8[8,6] q(4,0) = fc(x, w)\n  output y\n", "vta")
    sums = products(x, w, [0] * 6)
    for bit, wanted in ((0, ["saturation.bounds"]), (8, ["saturation.bounds", "stuck_bit"])):
        status, said = net.spoil(1, lambda y: [((min(v >> 2, 44) + 128) % 256 - 128) | bit for v in sums])
        found = sorted(f["class"] for f in said["faults"]) if status == 1 else said
        tap.check(found == wanted, f"codes that wrap, bounded above: {' and '.join(wanted)}", said)


def fewest_numbers(tap, folder):
    """No bias and another rounding explain all; so do a bias of one channel and multipliers of a few, which are more numbers."""
    x, w, b = [i * 7 % 121 - 60 for i in range(32)], [i * i % 19 - 9 for i in range(32 * 24)], [(i * 29 % 61 - 30) * (i % 3) for i in range(24)]
    net = Small(folder, "fewest", [1, 32], f"  const w: i8[24,32] q(1,0) = {w}\n  const b: i32[24] = {b}\n  y: i8[1,24] q(32,0) = fc(x, w, b)\n  output y\n", "onnxruntime")
    status, said = net.spoil(1, lambda y: [clamp(v >> 5, -128, 127) for v in products(x, w, [0] * 24)])
    found = sorted(f["class"] for f in said["faults"]) if status == 1 else said
    tap.check(found == ["bias.missing", "rescale.rounding"], "of pairs the one of the fewest numbers", said)


def nothing_left(tap, folder):
    """Codes read as unsigned and two elements beside them: looked for beside an input whose type is another by then."""
    net = Small(folder, "unsigned", [1, 4, 6, 6], "  y: i8[1,4,3,3] q(1,0) = avg_pool(x) {kernel=[2,2], stride=[2,2]}\n  output y\n")
    x = [(i * 7 % 121 - 60) & 255 for i in range(144)]
    sums = [sum(x[36 * c + 6 * (2 * i + a) + 2 * j + b] for a in (0, 1) for b in (0, 1)) for c in range(4) for i in range(3) for j in range(3)]
    status, said = net.spoil(1, lambda y: [v % 100 - 50 if k in (5, 17) else min((v + 2) // 4, 127) for k, v in enumerate(sums)])
    tap.check(status == 1 and [f["class"] for f in said["faults"]] == ["unexplained"], "codes read as unsigned, and two that nothing gives", said)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        golden, device = make_golden("tflite", folder), os.path.join(folder, "device")
        pairs(tap, golden, device)
        hidden(tap, golden, device)
        cut(tap, golden, device)
        nothing(tap, golden, device)
        far_zero_points(tap, golden, device)
        far_in_products(tap, folder)
        wrapped_bounds(tap, folder)
        fewest_numbers(tap, folder)
        nothing_left(tap, folder)
        stale(tap, folder, device)
        other_axis(tap, folder)
        long_names(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
