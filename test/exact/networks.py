"""Small networks as text, under drawn records: every tensor and accumulator of `assay golden` beside the model."""
import os
import re
import shutil
from fractions import Fraction

import divide
import edges
import elements
import layers
import many
import moves
import norms
import npy
import pools
import records
import resize
import rows
import settings
import tables
import transposed
from network import Network, ints
from numbers_exact import Unsaid, f32, number


def binary(network, x, op):
    """With a constant of the same shape."""
    plain = network.records(op, "", x)["add"]["kind"] == "plain" and op in ("add", "sub")
    y = network.constant(x.shape, x if plain or op in ("min", "max") and network.rng.random() < 0.3 else None)
    out = network.tensor(x.shape, x if plain else None, kind=network.next_kind(x))
    record = network.records(op, out.name, x)
    if op == "mul":
        layers.give_one(network, out, record)

    def run():
        if op == "mul":
            one = elements.multiply(record, x, y, out)
        elif op == "prelu":
            one = elements.prelu(record, x, y, out)
        elif op in ("min", "max"):
            one = elements.extreme(record, x, y, out, max if op == "max" else min)
        else:
            one = elements.add(record, x, y, out, 1 if op == "add" else -1)
        return [one(p, q) for p, q in zip(x.codes, y.codes)]
    network.node(out, "%s(%s, %s)%s" % (op, x.name, y.name, network.bounds(out)), run)
    return out


def unary(network, x, op):
    like = x if op in ("rescale", "relu") and network.rng.random() < 0.2 else None
    out = network.tensor(x.shape, like, kind=network.other_kind() if op == "rescale" else network.next_kind(x))
    record = network.records(op, out.name, x)
    alpha = f32(Fraction(network.rng.uniform(0.01, 0.5)))
    bounds = network.bounds(out)
    if op in ("rescale", "relu"):
        layers.give_one(network, out, record)

    def run():
        one = {"leaky_relu": lambda: elements.leaky(record, x, out, alpha), "rescale": lambda: elements.change(record, x, out),
               "relu": lambda: elements.relu(record, x, out), "rsqrt": lambda: elements.rsqrt(record, x, out)}[op]()
        return [one(p) for p in x.codes]
    network.node(out, "%s(%s)%s%s" % (op, x.name, " {alpha=%s}" % number(alpha) if op == "leaky_relu" else "", bounds), run)
    return out


def fc(network, x):
    """In two dimensions."""
    if len(x.shape) != 2:
        x = network.reshaped(x, network.factors(x.count(), 2))
    return layers.fc(network, x)


def on_image(maker):
    return lambda network, x: maker(network, network.image(x))


def same_shape(op):
    return lambda network, x: binary(network, x, op)


def one_code(op):
    return lambda network, x: unary(network, x, op)


def newton_root(network, x):
    """Of codes at and above their zero point."""
    if network.records("rsqrt", "", x)["unary"]["rsqrt"] != "newton" or min(x.codes, default=-1) < x.zero:
        raise Unsaid("a table, or a root of less than nothing")
    return unary(network, x, "rsqrt")


def divided(op):
    return lambda network, x: divide.node(network, x, op)


def averaged(op):
    return lambda network, x: pools.mean(network, x, op)


def row(op):
    return lambda network, x: rows.node(network, x, op)


# What a node may be: (the op's name for the record, its maker, the setting without which there is none).
OPS = [("fc", fc, None), ("fc", fc, None), ("conv", layers.conv, None), ("conv", layers.conv, None),
       ("conv_transpose", transposed.conv_transpose, None), ("svdf_feature", layers.svdf_feature, None),
       ("matmul", layers.matmul, None), ("add", same_shape("add"), None), ("sub", same_shape("sub"), None),
       ("mul", same_shape("mul"), None), ("prelu", same_shape("prelu"), None), ("min", same_shape("min"), None),
       ("max", same_shape("max"), None), ("rsqrt", newton_root, None),
       ("leaky_relu", one_code("leaky_relu"), None),
       ("rescale", one_code("rescale"), None), ("relu", one_code("relu"), None), ("tables", tables.node, ("table", "kind")),
       ("tables", tables.node, ("table", "kind")), ("gelu", tables.steps_node, ("table", "kind")), ("avg_pool", pools.avg_pool, None),
       ("global_avg_pool", averaged("global_avg_pool"), None), ("reduce_mean", averaged("reduce_mean"), None),
       ("reduce_sum", averaged("reduce_sum"), None), ("resize", on_image(resize.node), None),
       ("softmax", row("softmax"), ("softmax", "kind")), ("l2_norm", row("l2_norm"), ("softmax", "l2_norm")),
       ("log_softmax", row("log_softmax"), ("softmax", "log_softmax")), ("add_n", many.add_n, None), ("cumsum", many.cumsum, None),
       ("clip", many.clip, None), ("reduce_max", many.extreme, None), ("max_pool", many.max_pool, None),
       ("concat", many.moved, None), ("moves", moves.node, None), ("lookup", moves.looked_up, None), ("reduce_prod", many.product, None),
       ("layer_norm", norms.layer_norm_node, ("softmax", "layer_norm")), ("lrn", norms.lrn_node, ("lrn", "kind")),
       ("div", divided("div"), ("binary", "div")), ("squared_difference", divided("squared_difference"), None),
       ("compare", divided("compare"), None), ("quantize", edges.there_and_back, None)]


def offered(network, x, op, needs):
    return needs is None or network.records(op, "", x)[needs[0]][needs[1]] not in ("none", False)


def add_node(network, value, ops):
    """The value that the next node may take; where no sentence says what a node gives, it is taken away."""
    op, maker, needs = network.rng.choice(ops)
    if not offered(network, value, op, needs):
        return value
    kept = network.state()
    try:
        made = maker(network, value)
    except Unsaid:
        network.back_to(kept)
        return value
    return made


def build(rng, record, in_force, size=(3, 8), ops=None):
    network = Network(rng, record, in_force)
    if rng.random() < 0.2:
        value = edges.given(network, [rng.randint(1, 2), rng.randint(1, 40)])
    else:
        value = network.input([rng.randint(1, 2), rng.randint(1, 40)])
    count = rng.randint(*size)
    for _ in range(2 * count):
        value = add_node(network, value, ops or OPS)
        if network.late or network.nodes >= count:
            break
    return network


def pairs_of(rng, definition):
    return settings.pairs_of(rng, definition)


def in_force_of(record, overrides):
    """What Network takes as `records`."""
    return lambda op, name, x, bare=False: records.of_node(
        record, overrides, op, name, x.kind[0] > 8 and not bare, not x.kind[1])


def run(command, rng, pairs, definition, folder, report):
    written = settings.draw(rng, pairs)
    for _ in range(records.TRIES):
        record = records.in_force(definition, written)
        overrides = settings.draw_overrides(rng, record)
        network = build(rng, record, in_force_of(record, overrides))
        refusal = tried(command, network, written, overrides, folder, report, pairs)
        if refusal is None:
            return
        records.drop_named(written, refusal)


def tried(command, network, written, overrides, folder, report, pairs):
    """Run and compared; what a refusal said that the model did not expect, else None."""
    nodes = {name: {"given": own} for name, own in network.given.items()}
    for name, own in overrides.get("nodes", {}).items():
        nodes[name] = dict(nodes.get(name, {}), **own)
    scheme = records.to_yaml("drawn", dict(written, **dict(overrides, nodes=nodes)))
    status, message = golden(command, network, scheme, folder)
    if not status:
        pairs.meet(written)
        report.run(network.text())
        compare(network, folder + "/bundle", scheme + network.text(), report)
    if not status or network.late and status == 2:
        return None
    report.refused(status, message, scheme + network.text())
    return message


def write_files(folder, network, scheme):
    """The texts; the command under both engines, which assay compares."""
    for name, text in (("net.assay", network), ("drawn.yaml", scheme)):
        with open("%s/%s" % (folder, name), "w") as out:
            out.write(text)
    shutil.rmtree(folder + "/bundle", ignore_errors=True)
    return ["golden", folder + "/net.assay", "-s", folder + "/drawn.yaml", "--accumulators", "-q", "--engine", "both",
            "-o", folder + "/bundle"]


def golden(command, network, scheme, folder):
    arguments = write_files(folder, network.text(), scheme)
    for tensor in network.tensors:
        if tensor.given:
            path = "%s/%s.npy" % (folder, tensor.name)
            npy.save(path, tensor.file_kind(), tensor.shape, tensor.file_values())
            arguments += ["-i", "%s=%s" % (tensor.name, path)]
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
            seen = tensor.taken(seen) if folder == "tensors" else seen
            if seen != expected:
                at = [i for i in range(len(seen)) if seen[i] != expected[i]][0]
                line = next(line for line in network.lines if line.startswith(tensor.name + ":"))
                report.differ("%s[%d] of %s" % (folder, at, line), text, "golden; input " + inputs, seen[at],
                              expected[at])
                return
            report.compared += len(expected)
