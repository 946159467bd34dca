"""The records of networks: every section that they read, with values that go together."""
import pools
import records
import rescales

KINDS = [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16]


def draw(rng, pairs):
    """What the file of a network's record writes."""
    written = {}
    for field, value in pairs.draw(rng.choice([0.05, 0.15, 0.3])).items():
        written.setdefault(field.section, {})[field.name] = value
    asked = any(field.section == "rescale" for field in pairs.pair)
    types = written.setdefault("types", {})
    draw_types(rng, types)
    written.setdefault("blocks", {})["kind"] = "multiplier" if types["weight_scales"] == "per-block" else "none"
    written["rescale"] = draw_rescale(rng, written.get("rescale", {}), asked, types)
    repair(rng, written)
    restore(rng, written, pairs.pair)
    return written


def restore(rng, written, pair):
    """The pair that the record began with, where another value took its place; what does not go together is
    then refused."""
    if rng.random() < 0.5:
        return
    for field, value in pair.items():
        written.setdefault(field.section, {})[field.name] = value


def draw_types(rng, types):
    """Those that the pairs left open, and what does not go together."""
    bits = rng.choice(KINDS)
    types.setdefault("activation_bits", bits)
    types.setdefault("activation_signed", rng.random() < 0.6)
    types.setdefault("activation_zero_point", rng.choice(["none", "any", "any"]))
    types.setdefault("weight_bits", rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 12]))
    types.setdefault("weight_scales", rng.choice(["per-tensor", "per-channel", "per-channel", "per-block"]))
    types.setdefault("weight_signed", rng.random() < 0.8)
    types.setdefault("weight_zero_point", rng.choice(["none", "any", "middle"]))
    types.setdefault("bias_bits", 64 if types["activation_bits"] > 8 else 32)
    if not types["weight_signed"] or types["weight_bits"] == 1:
        types["weight_narrow"] = False
    types.setdefault("weight_narrow", rng.random() < 0.5)
    if types["weight_scales"] == "per-block":
        types["weight_zero_point"] = "none"
    types.pop("power_of_two_scales", None)


def wild_rescale(rng, own, types):
    """Any rescale, seldom one that refuses operands or results: few nodes are left then."""
    drawn = rescales.complete(rng, own)
    if rng.random() < 0.7:
        for name in ("input_bits", "input_shift_range"):
            drawn.pop(name, None)
        for name in ("result_overflow", "sum_overflow"):
            if drawn.get(name) == "refuse":
                drawn[name] = "wrap"
    if drawn.get("scale") == "power-of-two":
        types["power_of_two_scales"] = True
    if drawn["encoding"] == "shift":
        types["activation_zero_point"] = "none"
    return drawn


def draw_rescale(rng, own, asked, types):
    """own: fields that the pairs drew; asked: one of the pair that the record begins with is among them."""
    if asked or rng.random() < 0.4:
        return wild_rescale(rng, own, types)
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
    if rng.random() < 0.3:
        rule["common_shift"] = True
        if rng.random() < 0.6:
            near_limits(rng, rule)
    return rule


def near_limits(rng, rule):
    """Limits that the shifts of some layers, or of some channels only, lie beyond."""
    low = rule["multiplier_bits"] + rng.randint(0, 16)
    rule.update(shift_min=low, below_shift_min=rng.choice(["largest", "zero", "refuse"]), shift_max=low + rng.randint(0, 6),
                beyond_shift_max=rng.choice(["denormal", "unnormalised", "zero", "refuse"]), denormal_round=rng.choice(records.MODES),
                multiplier_renormalise=rng.random() < 0.7, zero_shift=rng.choice([0, low]))


OVERRIDDEN = ["fc", "conv", "depthwise", "conv_transpose", "svdf_feature", "mul", "avg_pool", "leaky_relu", "rescale"]


def draw_overrides(rng, record, ops=OVERRIDDEN):
    """Other arithmetic for wide codes, an op, a node."""
    overrides, steps = {}, record["rescale"]["round"]
    if rng.random() < 0.6:
        return overrides
    if rng.random() < 0.4:  # products of codes, as TFLite has them
        overrides["ops"] = {"reduce_prod": {"rescale": {
            "encoding": "multiplier", "reduced_bits": rng.choice([7, 15]), "left_shift": "product", "round": [(None, rng.choice(records.MODES))],
            "result_bits": 32, "result_overflow": rng.choice(["wrap", "saturate"])}}}
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
            overrides[level] = {rng.choice(ops): change}
    return overrides


def repair(rng, written):
    kind, accumulator = written["types"], written.setdefault("accumulator", {})
    accumulator["bits"] = rng.choice([accumulator.get("bits", 32), 32, 24, 40, 64])
    if accumulator.get("overflow") is None or accumulator["overflow"] == "refuse" and rng.random() < 0.6:
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
    repair_rows(rng, written)


def repair_rows(rng, written):
    """What softmax, tables and DIV are to be, often enough that networks have them."""
    kind, rule = written["types"], written["rescale"]
    softmax, unary = written.setdefault("softmax", {}), written.setdefault("unary", {})
    for section, field, values, chance in DEFAULTS:
        if rng.random() < chance:
            written.setdefault(section, {}).setdefault(field, rng.choice(values))
    if rng.random() < 0.2:  # the two builds whose fixed-point kernels are described
        written["rescale"] = dict(rng.choice(BUILDS))
        if rng.random() < 0.3:
            written["rescale"] = {"left_shift": "product", "round": [(None, rng.choice(records.MODES))]}
        kind.pop("power_of_two_scales", None)
        softmax["kind"] = rng.choice(["lut-16"] if kind["activation_bits"] > 8 else ["fixed-point"])
        softmax.update(l2_norm="newton-inverse-sqrt", log_softmax=True)
        unary.update(logistic="fixed-point", hard_swish="fixed-point")
        written.setdefault("binary", {}).update(div="newton-reciprocal", compare="rescale")
        if written["add"]["kind"] in ("align-power-of-two", "plain"):
            written["add"]["kind"] = "left-shift"
    elif softmax.get("kind") in ("fixed-point", "lut-16"):
        softmax["kind"] = rng.choice(["float-table", "float-sum", "q31-table", "integer-table"])


BUILDS = [{"round": [(31, "half-up"), (None, "half-away")]}, {"left_shift": "product", "round": [(None, "half-up")]}]
# (section, field, values, chance): drawn where the pairs left them open.
DEFAULTS = [("softmax", "kind", ["float-table", "float-sum", "q31-table", "integer-table", "i-bert"], 0.6),
            ("binary", "div", ["float", "truncate-then-scale"], 0.5), ("accepts", "activation_bits", [4, 8, 16, 17, 24, 32], 0.4),
            ("accepts", "activation_either_sign", [True], 0.5), ("table", "kind", ["interpolated-513"], 0.2),
            ("pool", "kind", sorted(pools.KINDS), 0.5), ("softmax", "layer_norm", ["integer-sqrt", "newton-inverse-sqrt"], 0.6),
            ("unary", "gelu", ["i-bert"], 0.4), ("table", "sigmoid", ["mlas-rational"], 0.3)]


def pairs_of(rng, definition):
    return records.Pairs(rng, [f for own in definition.values() for f in own.values() if f.kind != "STEPS"])
