"""Devices with faults: what is planted where, what of it is dumped, and what blame should say of it."""
import os
import random

import numpy as np

from bundle import dump, empty
from device import STATE
from faults import FAULTS
import faults_operands  # noqa: F401 (registers its own, as those behind it do)
import faults_output  # noqa: F401
import faults_dealt  # noqa: F401
import faults_memory  # noqa: F401
import faults_rows  # noqa: F401

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
    op = [n["op"] for n in device.bundle.nodes]
    return [i for i, known in enumerate(device.known) if i not in but and op[i] not in STATE + ("dequantize",) and
            device.bundle.tensor[device.bundle.nodes[i]["outputs"][0]]["bits"] == 8 and (op[i] in ops and known if ops else True)]


def draw(rng, device, fault, index, values=None):
    """The codes of a node with a fault that shows, or None."""
    if values is not None and not device.known[index]:
        return None
    right = device.node(index, values).codes()
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
        made.masks[output] = mask
        made.kind = "masked"


def hidden(rng, device, fault):
    """The faulty node's output is not among the dumps; what reads it is. Arbitrary values cannot be told there."""
    bundle = device.bundle
    if fault[0] == "unexplained":
        return None
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

# Those whose draw does not rest on the values.
STEADY = {"last_rounding", "multiplier_bit", "shift_off", "channel_rolled", "zero_point", "low_bits", "no_bias", "bias_rolled", "filters_of_zeros",
          "read_in_another_order", "weights_unsigned", "input_zero", "input_unsigned", "parameters_swapped", "dead_lanes", "bit_stuck", "top_bit_flipped",
          "row_rounding", "row_multiplier", "row_shift", "row_zero", "row_input_zero", "table_shifted", "table_half", "first_twice"}


def runs(device, index=None, fault=None, seed=0, stale=None):
    """The values of every sample of a device whose node has the fault, or which reads stale(step, states before, var)
    of a state; in a sequence each step goes on from the one before."""
    bundle, out, states, history = device.bundle, [], {}, []
    for sample in range(bundle.samples):
        golden = {t["name"]: bundle.codes(t["name"], sample) for t in bundle.tensors}
        values = dict(golden)
        for i, entry in enumerate(bundle.nodes):
            if entry["op"] != "read":
                continue
            var, name = entry["inputs"][0], entry["outputs"][0]
            held = states.get(var, golden[name])
            held = stale(sample, history, var, held) if stale else held
            if not np.array_equal(values[name], held):
                values = device.behind(i, held, values)
        history.append(dict(states))
        if fault and all(v in values for v in inputs_of(bundle, index)):
            codes = fault[2](random.Random(seed), device.node(index, values))
            if codes is None:
                return None
            values = device.behind(index, codes, values)
        for entry in bundle.nodes:
            if entry["op"] == "assign" and entry["inputs"][1] in values:
                states[entry["inputs"][0]] = values[entry["inputs"][1]]
        out.append(values)
    return out


def of_samples(kind, device, wanted, samples, what):
    shown = any(not np.array_equal(v[n], device.bundle.codes(n, i)) for i, v in enumerate(samples) for n in v)
    if not shown:
        return None
    made = Planted(kind, device.bundle, wanted, {}, [n for n in samples[0] if all(n in v for v in samples)], what)
    made.samples = samples
    return made


def steady(rng, device):
    """One fault in all samples, or in all steps of a sequence."""
    fault = rng.choice([f for f in FAULTS if f[2].__name__ in STEADY])
    places = [i for i in nodes_for(device, fault) if device.known[i]]
    if not places:
        return None
    index = rng.choice(places)
    samples = runs(device, index, fault, rng.random())
    output = device.bundle.nodes[index]["outputs"][0]
    if not samples or all(np.array_equal(device.node(index, v).codes(), v[output]) for v in samples):
        return None
    return of_samples("every sample", device, [(output, fault[0])], samples, fault[2].__name__)


def stale_state(rng, device):
    """A state is read as it was a step earlier, or never written."""
    bundle = device.bundle
    reads = [n for n in bundle.nodes if n["op"] == "read"]
    node = rng.choice(reads)
    before, from_step = rng.random() < 0.6, rng.randrange(1, bundle.samples)

    def stale(step, history, var, held):
        if var != node["inputs"][0] or step < from_step or step == 0:
            return held
        return history[step - 1].get(var, np.zeros_like(held)) if before else np.zeros_like(held)
    samples = runs(device, stale=stale)
    return samples and of_samples("state", device, [(node["outputs"][0], "stale.sample")], samples, "state_of_earlier" if before else "state_never_written")


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

