"""Small networks as text, under drawn records: every tensor and accumulator of `assay golden` beside the model."""
import os
import re
import shutil
from fractions import Fraction

import elements
import layers
import npy
import pools
import records
import settings
from network import Network, ints
from numbers_exact import Unsaid, f32, number


def binary(network, x, op):
    """With a constant of the same shape."""
    plain = network.record["add"]["kind"] == "plain" and op != "mul"
    y = network.constant(x.shape, x if plain else None)
    out = network.tensor(x.shape, x if plain else None)
    record = network.records(op, out.name)

    def run():
        if op == "mul":
            one = elements.multiply(record, x, y, out)
        else:
            one = elements.add(record, x, y, out, 1 if op == "add" else -1)
        return [one(p, q) for p, q in zip(x.codes, y.codes)]
    network.node(out, "%s(%s, %s)%s" % (op, x.name, y.name, network.bounds(out)), run)
    return out


def unary(network, x, op):
    out = network.tensor(x.shape)
    record = network.records(op, out.name)
    alpha = f32(Fraction(network.rng.uniform(0.01, 0.5)))

    def run():
        if op == "leaky_relu":
            one = elements.leaky(record, x, out, alpha)
        elif op == "rescale":
            one = elements.change(record, x, out)
        else:
            one = elements.table(record, x, out, {"square": lambda v: f32(v * v), "neg": lambda v: -v}[op])
        return [one(p) for p in x.codes]
    network.node(out, "%s(%s)%s" % (op, x.name, " {alpha=%s}" % number(alpha) if op == "leaky_relu" else ""), run)
    return out


OPS = ["fc", "fc", "fc", "conv", "conv", "matmul", "add", "add", "sub", "mul", "leaky_relu", "rescale", "square", "neg",
       "avg_pool"]


def build(rng, record, in_force):
    network = Network(rng, record, in_force)
    value = network.input([rng.randint(1, 2), rng.randint(1, 40)])
    for _ in range(rng.randint(1, 3)):
        op = rng.choice(OPS)
        if op in ("fc", "matmul"):
            value = getattr(layers, op)(network, value)
        elif op == "conv":
            layers.conv(network)
        elif op == "avg_pool":
            pools.avg_pool(network)
        elif op in ("add", "sub", "mul"):
            value = binary(network, value, op)
        else:
            value = unary(network, value, op)
        if network.late:
            break
    return network


def pairs_of(rng, definition):
    return settings.pairs_of(rng, definition)


def run(command, rng, pairs, definition, folder, report):
    written = settings.draw(rng, pairs)
    for _ in range(records.TRIES):
        record = records.in_force(definition, written)
        overrides = settings.draw_overrides(rng, record)
        wide, unsigned = record["types"]["activation_bits"] > 8, not record["types"]["activation_signed"]
        try:
            network = build(rng, record, lambda op, name, bare=False: records.of_node(
                record, overrides, op, name, wide and not bare, unsigned))
        except Unsaid:
            return
        scheme = records.to_yaml("drawn", dict(written, **overrides))
        status, message = golden(command, network, scheme, folder)
        if not status:
            compare(network, folder + "/bundle", scheme + network.text(), report)
            return
        if network.late and status == 2:
            return
        report.refused(status, message, scheme + network.text())
        if not records.drop_named(written, message):
            return


def golden(command, network, scheme, folder):
    for name, text in (("net.assay", network.text()), ("drawn.yaml", scheme)):
        with open("%s/%s" % (folder, name), "w") as out:
            out.write(text)
    arguments = ["golden", folder + "/net.assay", "-s", folder + "/drawn.yaml", "--accumulators", "-q", "-o",
                 folder + "/bundle"]
    for tensor in network.tensors:
        if tensor.given:
            path = "%s/%s.npy" % (folder, tensor.name)
            kind = "%sint%d" % ("" if tensor.kind[1] else "u", 8 if tensor.kind[0] <= 8 else 16)
            npy.save(path, kind, tensor.shape, tensor.codes)
            arguments += ["-i", "%s=%s" % (tensor.name, path)]
    shutil.rmtree(folder + "/bundle", ignore_errors=True)
    return command(arguments)


def compare(network, bundle, text, report):
    inputs = " ".join("%s=%s" % (t.name, ints(t.codes)) for t in network.tensors if t.given)
    if network.late:
        report.differ("network", text, "golden; input " + inputs, "runs", "refuses: " + network.late)
        return
    for tensor in network.tensors:
        for folder, expected in (("accumulators", network.sums.get(tensor.name)), ("tensors", tensor.codes)):
            names = [n for n in os.listdir(bundle + "/" + folder) if re.search("_%s.npy$" % tensor.name, n)]
            if expected is None or not names:
                continue
            seen = npy.load("%s/%s/%s" % (bundle, folder, names[0]))[2]
            if seen != expected:
                at = [i for i in range(len(seen)) if seen[i] != expected[i]][0]
                report.differ("%s %s[%d]" % (folder, tensor.name, at), text, "golden; input " + inputs, seen[at],
                              expected[at])
                return
            report.compared += len(expected)
