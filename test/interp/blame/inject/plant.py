"""Devices with faults: what is planted where, what of it is dumped, and what blame should say of it."""
import os
import random

import numpy as np

from bundle import dump, empty
from faults import FAULTS

TRIES = 60
LATE = ("lane", "stuck_bit", "sign")  # faults of a node's codes, whatever made them


class Planted:
    """wanted: [(output, class)]; values: the device's, by name; names: those that are dumped."""

    def __init__(self, kind, bundle, wanted, values, names, what):
        self.kind, self.bundle, self.wanted, self.values, self.names, self.what = kind, bundle, wanted, values, names, what
        self.masks, self.samples = {}, None

    def write(self, folder):
        empty(folder)
        if not self.samples:
            dump(self.bundle, folder, self.values, self.names)
        for name, mask in self.masks.items():
            np.save(os.path.join(folder, self.bundle.file_name(name)[:-4] + ".mask.npy"), mask)
        for i, values in enumerate(self.samples or ()):
            dump(self.bundle, folder, values, [n for n in values if n in self.names], i)


def nodes_for(device, fault, but=()):
    _, ops, _ = fault
    return [i for i, known in enumerate(device.known) if known and i not in but and device.bundle.nodes[i]["op"] != "dequantize" and
            (not ops or device.bundle.nodes[i]["op"] in ops)]


def draw(rng, device, fault, index, values=None):
    """The codes of a node with a fault that shows, or None."""
    node = device.node(index, values)
    right = node.codes()
    codes = fault[2](rng, device.node(index, values))
    return None if codes is None or np.array_equal(codes, right) else codes


def readers(bundle, name):
    return [i for i, n in enumerate(bundle.nodes) if name in n["inputs"]]


def inputs_of(bundle, index):
    return [v for v in bundle.nodes[index]["inputs"] if v in bundle.tensor]


def dumped(rng, bundle, values, kept):
    """All of them, or those up to a node, or some; the names in kept always."""
    names = [t["name"] for t in bundle.tensors if t["name"] in values]
    kind = rng.choice(["all", "all", "cut", "some"])
    if kind == "cut":
        last = max(names.index(k) for k in kept) + rng.randrange(3)
        names = names[:last + 1]
    elif kind == "some":
        names = [n for n in names if n in kept or rng.random() < 0.6]
    return names


def single(rng, device, fault, whole=False):
    places = nodes_for(device, fault)
    for _ in range(TRIES if places else 0):
        index = rng.choice(places)
        codes = draw(rng, device, fault, index)
        if codes is not None:
            output = device.bundle.nodes[index]["outputs"][0]
            values = device.behind(index, codes)
            names = dumped(rng, device.bundle, values, [output] + inputs_of(device.bundle, index))
            made = Planted("one", device.bundle, [(output, fault[0])], values, names, fault[2].__name__)
            if not whole and rng.random() < 0.08:
                mask_part(rng, made, output)
            return made
    return None


def mask_part(rng, made, output):
    """Some elements were not observed: anything stands there."""
    values, golden = made.values[output], made.bundle.codes(output)
    mask = np.random.RandomState(rng.randrange(1 << 30)).rand(*values.shape) < 0.8
    if (values != golden)[mask].any():
        made.values = dict(made.values, **{output: np.where(mask, values, 5)})
        made.names = [n for n in made.names if made.bundle.tensor[n]["index"] <= made.bundle.tensor[output]["index"]]
        made.masks[output] = mask
        made.kind = "masked"


def hidden(rng, device, fault):
    """The faulty node's output is not among the dumps; what reads it is."""
    bundle = device.bundle
    for _ in range(TRIES):
        places = [i for i in nodes_for(device, fault) if readers(bundle, bundle.nodes[i]["outputs"][0])]
        if not places:
            return None
        index = rng.choice(places)
        output = bundle.nodes[index]["outputs"][0]
        after = [bundle.nodes[i]["outputs"][0] for i in readers(bundle, output)]
        codes = draw(rng, device, fault, index)
        if codes is None:
            continue
        values = device.behind(index, codes)
        if any(v not in values or np.array_equal(values[v], device.golden[v]) for v in after):
            continue
        names = [t["name"] for t in bundle.tensors if t["name"] in values and t["name"] != output]
        return Planted("hidden", bundle, [(output, fault[0])], values, names, fault[2].__name__)
    return None


def two_nodes(rng, device, fault):
    first = single(rng, device, fault, True)
    if first is None:
        return None
    bundle = device.bundle
    at = next(i for i, n in enumerate(bundle.nodes) if n["outputs"][0] == first.wanted[0][0])
    for _ in range(TRIES):
        other = rng.choice(FAULTS)
        places = [i for i in nodes_for(device, other) if i > at and all(v in first.values for v in inputs_of(bundle, i))]
        if not places:
            continue
        index = rng.choice(places)
        codes = draw(rng, device, other, index, first.values)
        if codes is not None:
            output = bundle.nodes[index]["outputs"][0]
            values = device.behind(index, codes, first.values)
            return Planted("two nodes", bundle, first.wanted + [(output, other[0])], values, [t["name"] for t in bundle.tensors if t["name"] in values],
                           first.what + " and " + other[2].__name__)
    return None


def two_in_one(rng, device, fault):
    """A fault of the arithmetic and one of what is stored."""
    if fault[0] in LATE + ("output.layout", "unexplained", "tile.edge"):
        return None
    late = [f for f in FAULTS if f[0] in LATE and not f[1]]
    for _ in range(TRIES):
        places = nodes_for(device, fault)
        if not places:
            return None
        index, other = rng.choice(places), rng.choice(late)
        one = draw(rng, device, fault, index)
        if one is None:
            continue
        node = device.node(index)
        node.codes = lambda: one
        both = other[2](rng, node)
        alone = draw_late(other, device, index, rng)
        if both is None or np.array_equal(both, one) or alone is None or np.array_equal(both, device.golden[node.output]):
            continue
        values = device.behind(index, both)
        return Planted("two in one", device.bundle, [(node.output, fault[0]), (node.output, other[0])], values,
                       [t["name"] for t in device.bundle.tensors if t["name"] in values], fault[2].__name__ + " and " + other[2].__name__)
    return None


def draw_late(fault, device, index, rng):
    return draw(random.Random(rng.random()), device, fault, index)


KINDS = [single] * 8 + [hidden, two_nodes, two_in_one]


def stale(rng, device):
    """Of several samples one holds another's tensor; what lies behind it was computed from it."""
    bundle = device.bundle
    count = bundle.samples
    index = rng.choice([i for i, known in enumerate(device.known) if known and i > 0])
    output = bundle.nodes[index]["outputs"][0]
    sample = rng.randrange(1, count)
    samples = [{t["name"]: bundle.codes(t["name"], i) for t in bundle.tensors} for i in range(count)]
    if np.array_equal(samples[sample][output], samples[sample - 1][output]):
        return None
    samples[sample] = device.behind(index, samples[sample - 1][output], samples[sample])
    made = Planted("samples", bundle, [(output, "stale.sample")], {}, list(samples[sample]), "sample_before")
    made.samples = samples
    return made

