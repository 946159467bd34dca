"""Records of one to three fields off their defaults, with values of their whole range, and small networks of ops that
read them. What a field needs beside it, as the refusal says, is put in."""
import re

import networks
import records
import rescales

# Ops that read a section; those of no section here take any.
READERS = {
    "accumulator": ["fc", "conv", "conv_transpose", "matmul", "svdf_feature", "avg_pool", "reduce_mean", "reduce_sum", "add_n"],
    "blocks": ["fc"], "add": ["add", "sub", "add_n", "cumsum"], "binary": ["div", "squared_difference", "compare"],
    "pool": ["avg_pool", "global_avg_pool", "reduce_mean", "reduce_sum"], "table": ["tables", "gelu", "rescale"],
    "unary": ["leaky_relu", "tables", "gelu", "rsqrt", "rescale", "relu", "clip", "reduce_max"],
    "softmax": ["softmax", "l2_norm", "log_softmax", "layer_norm"], "lrn": ["lrn"], "resize": ["resize"],
    "convert": ["quantize", "clip", "relu"]}


def value_of(rng, field, written):
    if field.kind == "STEPS":
        return rescales.draw_rounds(rng, written.get("rescale", {}).get("encoding", "multiplier"))
    if field.kind == "INT" and rng.random() < 0.5:
        return rng.randint(field.low, field.high)
    return rng.choice(field.boundary())


def draw(rng, definition):
    fields = [f for own in definition.values() for f in own.values()]
    written = {}
    for field in rng.sample(fields, rng.choice([1, 2, 2, 2, 3, 3])):
        written.setdefault(field.section, {})[field.name] = value_of(rng, field, written)
    return written


def parsed(field, word):
    """A value as a message writes it, or None."""
    if field.kind == "BOOL":
        return {"yes": True, "no": False}.get(word)
    if field.kind == "INT":
        return int(word) if re.fullmatch(r"-?\d+", word) else None
    return word if field.kind != "STEPS" and word in field.values else None


def needed(rng, definition, written, message):
    """(Field, value) that a refusal asks for, or None."""
    if re.search(r"rescale.round: \d steps", message):
        return definition["rescale"]["round"], [(None, rng.choice(records.MODES))]
    found = re.search(r"(\w+)\.\w+.*?\bneeds (?:(\w+)\.)?(\w+)(: | from | of at least )([\w -]+(?:, [\w-]+)*)", message)
    field = found and definition.get(found.group(2) or found.group(1), {}).get(found.group(3))
    if not field:
        return None
    if found.group(4) != ": ":
        low, *high = map(int, re.findall(r"\d+", found.group(5)))
        return field, rng.randint(low, high[0] if high else low + 6)
    words = re.split(r", | or ", found.group(5))
    values = [v for v in (parsed(field, w.split(" ")[0]) for w in words) if v is not None]
    return (field, rng.choice(values)) if values else None


def mend(rng, definition, written, message):
    """What a refusal says is needed, or the field that it names back to its default; whether anything changed."""
    found = needed(rng, definition, written, message)
    if found and rng.random() < 0.9:
        field, value = found
        if written.get(field.section, {}).get(field.name) != value:
            written.setdefault(field.section, {})[field.name] = value
            return True
    return records.drop_named(written, message)


def build(rng, record, in_force, written):
    read = [op for section in written for op in READERS.get(section, [])]
    ops = [one for one in networks.OPS if one[0] in read] if rng.random() < 0.7 else []
    return networks.build(rng, record, in_force, (1, 3), ops)


def run(command, rng, pairs, definition, folder, report):
    written = draw(rng, definition)
    for _ in range(records.TRIES):
        record = records.in_force(definition, written)
        network = build(rng, record, networks.in_force_of(record, {}), written)
        if not network.nodes:
            continue
        refusal = networks.tried(command, network, written, {}, folder, report, pairs)
        if refusal is None or not mend(rng, definition, written, refusal):
            return
