"""The records of networks: every section that they read, with values that go together."""
import pools
import records
import rescales

# Sections that a network reads, and what is drawn of them.
DRAWN = ["accumulator", "blocks", "add", "pool", "table", "unary"]


def draw(rng, pairs):
    """What the file of a network's record writes."""
    written = {}
    for field, value in pairs[0].draw(0.25).items():
        if field.section in DRAWN:
            written.setdefault(field.section, {})[field.name] = value
    kind = (rng.choice([2, 3, 4, 6, 8, 8, 8, 12, 16]), rng.random() < 0.6)
    types = {"activation_bits": kind[0], "activation_signed": kind[1],
             "activation_zero_point": rng.choice(["none", "any", "any"]), "weight_bits": rng.choice([1, 2, 4, 8, 8, 8, 12]),
             "weight_scales": rng.choice(["per-tensor", "per-channel", "per-channel", "per-block"]),
             "weight_signed": rng.random() < 0.8, "bias_bits": 64 if kind[0] > 8 else 32}
    types["weight_narrow"] = types["weight_signed"] and types["weight_bits"] > 1 and rng.random() < 0.5
    types["weight_zero_point"] = "none" if types["weight_scales"] == "per-block" else rng.choice(["none", "any", "middle"])
    written["types"] = types
    written.setdefault("blocks", {})["kind"] = "multiplier" if types["weight_scales"] == "per-block" else "none"
    written["rescale"] = draw_rescale(rng, pairs[1], types)
    repair(rng, written)
    return written


def wild_rescale(rng, rescale_pairs, types):
    """Any rescale but those that refuse operands (networks saturate there, which is another rule)."""
    drawn = rescales.draw_record(rng, rescale_pairs)
    for name in ("input_bits", "input_shift_range"):
        drawn.pop(name, None)
    if drawn.get("result_overflow") == "refuse":
        drawn["result_overflow"] = "wrap"
    if drawn.get("scale") == "power-of-two":
        types["power_of_two_scales"] = True
    if drawn["encoding"] == "shift":
        types["activation_zero_point"] = "none"
    return drawn


def draw_rescale(rng, rescale_pairs, types):
    if rng.random() < 0.5:
        return wild_rescale(rng, rescale_pairs, types)
    if rng.random() < 0.25:
        return {"scale": rng.choice(["f32", "f32-steps"]), "encoding": "float32", "sum_bits": 0,
                "zero_point": rng.choice(["after", "inside"]), "round": [(None, rng.choice(records.MODES))]}
    if rng.random() < 0.2:
        types.update(power_of_two_scales=True, activation_zero_point="none")
        return {"scale": "power-of-two", "encoding": "shift", "left_shift": "product",
                "round": [(None, rng.choice(records.MODES))]}
    rule = {"scale": rng.choice(["double", "f32", "f32-product", "f32-product-if-per-tensor"]),
            "multiplier_bits": rng.choice([4, 8, 15, 24, 31]), "multiplier_round": rng.choice(records.MODES)}
    if rng.random() < 0.6:
        rule.update(left_shift="product", round=[(None, rng.choice(records.MODES))])
    if rng.random() < 0.2:
        rule["common_shift"] = True
    return rule


def draw_overrides(rng, record):
    """Other arithmetic for wide codes, an op, a node."""
    overrides, steps = {}, record["rescale"]["round"]
    if rng.random() < 0.6:
        return overrides
    for level in rng.sample(["wide", "ops", "wide_ops", "unsigned_ops", "nodes"], 2):
        change = {"accumulator": {"bits": rng.choice([6, 16, 24, 32]), "overflow": rng.choice(["wrap", "saturate-at-end"])}}
        if len(steps) == 1 and steps[0][0] is None and rng.random() < 0.7:
            change = {"rescale": {"round": [(None, rng.choice(records.MODES))]}}
        if level == "wide":
            overrides[level] = change
        elif level == "nodes":
            overrides[level] = {"t1": change}
        else:
            overrides[level] = {rng.choice(["fc", "conv", "mul", "avg_pool", "leaky_relu", "rescale"]): change}
    return overrides


def repair(rng, written):
    kind, accumulator = written["types"], written.setdefault("accumulator", {})
    accumulator["bits"] = rng.choice([accumulator.get("bits", 32), 32, 24, 40, 64])
    if accumulator.get("overflow") in (None, "refuse"):
        accumulator["overflow"] = rng.choice(["wrap", "saturate-each-step", "saturate-each-step", "saturate-at-end"])
    blocks = written["blocks"]
    accumulator["lanes"] = rng.choice([2, 3, 4, 8]) if accumulator.get("order") == "lanes" else 1
    accumulator["block"] = rng.choice([1, 1, 2, 3, 5, 16])
    if kind["activation_bits"] != 8 or kind["weight_bits"] > 8 or blocks["kind"] != "none":
        accumulator.pop("saturate_pairs", None)
    if accumulator.get("saturate_pairs"):
        accumulator["block"] = rng.choice([1, 2, 4, 16])
    if written["rescale"].get("zero_point") == "before":
        kind["activation_zero_point"] = "none"
    if blocks["kind"] == "none":
        written["blocks"] = {"kind": "none"}
    else:
        if blocks.get("sum_overflow") == "refuse":
            blocks["sum_overflow"] = "wrap"
        if kind.get("power_of_two_scales"):
            blocks["unit"] = "power-of-two"
    add = written.setdefault("add", {})
    if add.get("zero_point") == "before":
        add["zero_point"] = "after"
    if kind.get("power_of_two_scales"):
        add["kind"] = rng.choice(["align-power-of-two", "plain", "common-exponent"])
    elif add.get("kind") in (None, "align-power-of-two"):
        add["kind"] = rng.choice(["left-shift", "common-exponent", "separate", "float-real", "float-ratio", "fixed-scale"])
    if add["kind"] == "left-shift":
        add["bits"] = rng.choice([4, 8, 12, 15, 20])
    elif add["kind"] in ("common-exponent", "fixed-scale"):
        add["bits"] = rng.choice([4, 9, 15, 20, 21])
    elif add["kind"] == "align-power-of-two":
        add["bits"] = rng.choice([0, 1, 4, 8])
    pool = written.setdefault("pool", {})
    if pool.get("kind") not in pools.KINDS:
        pool["kind"] = rng.choice(sorted(pools.KINDS))
    table = written.setdefault("table", {})
    table.update(kind="full", precision="float32", accumulate_input=False)
    table["zero_point"] = rng.choice(["after", "inside"])
    unary = written.setdefault("unary", {})
    for name in list(unary):
        if name != "leaky_relu":
            unary.pop(name)
    plain = written["rescale"].get("sum_bits", 32) in (0, 32)
    unary["leaky_relu"] = rng.choice(["two-rescales", "fixed-8"] if plain else ["two-rescales"])


def pairs_of(rng, definition):
    fields = [f for s in DRAWN for f in definition[s].values() if f.kind != "STEPS"]
    return [records.Pairs(rng, fields), rescales.pairs_of(rng, definition)]
