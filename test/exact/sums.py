"""Sums of products: accumulators of any width, order, lanes and blocks, and weights with a scale per block.
Words: schemes/record/record.def, sections accumulator and blocks; schemes/README.md, "Scales of weights"."""
from fractions import Fraction

from numbers_exact import Refused, exponent, f32, narrow, round_to_int, signed_range, wrap


def accumulate(rule, products, bias):
    """products: exact integers in the order of the weights in memory. Saturating orders step by step; the
    others are the exact sum, wrapped, saturated or refused at the end."""
    bits, overflow = rule["bits"], rule["overflow"]
    if overflow in ("wrap", "refuse"):
        return wrap(sum(products) + bias, bits)
    if overflow == "saturate-at-end":
        return narrow(sum(products) + bias, bits, "saturate")
    if overflow == "trap":
        return narrow(sum(products) + bias, bits, "refuse")
    if rule["order"] == "reverse":
        products = products[::-1]
    step = lambda total, value: narrow(total + value, bits, "saturate")
    total = step(0, bias) if rule["bias"] == "first" else 0
    if rule["order"] == "lanes":
        lanes = rule["lanes"]
        for lane in range(lanes):
            total = step(total, run(rule, products[lane::lanes], 0, step))
    else:
        total = run(rule, products, total, step)
    return total if rule["bias"] == "first" else step(total, bias)


def one_by_one(rule):
    """Terms of weight blocks join as one step each."""
    return dict(rule, block=1)


def run(rule, products, total, step):
    for at in range(0, len(products), rule["block"]):
        total = step(total, sum(products[at:at + rule["block"]]))
    return total


def saturated_pairs(codes, weights, zero, w_zero, signed):
    """vpmaddubsw: neighbours' products of unsigned codes (signed ones moved up by 128) and weights saturate to
    int16 a pair; what zero points added is taken out exactly. None: the padding, where codes are zero."""
    raw = [zero if c is None else c for c in codes]
    up = 128 if signed else 0
    terms = []
    for i in range(0, len(raw), 2):
        pair = list(zip(raw, weights))[i:i + 2]
        products = sum((c + up) * w for c, w in pair)
        centred = sum((c - zero) * (w - w_zero) for c, w in pair)
        terms.append(narrow(products, 16, "saturate") - products + centred)
    return terms


def of_pairs(rule):
    """Steps of whole pairs."""
    return dict(rule, block=max(1, rule["block"] // 2))


def unit_of(rule, scales):
    """The channel's scale under its blocks' (float32)."""
    largest = max(scales)
    bits = rule["multiplier_bits"]
    if rule["unit"] == "power-of-two":
        return Fraction(2) ** (exponent(largest) - bits)
    return f32(largest / ((1 << bits) - 1))


def block_terms(rule, products, scales, unit, size):
    """What each block adds to the accumulator."""
    terms = []
    for index, scale in enumerate(scales):
        total = narrow(sum(products[index * size:(index + 1) * size]), rule["sum_bits"], rule["sum_overflow"])
        multiplier = round_to_int(scale / unit, rule["multiplier_round"])
        multiplier = min(multiplier, (1 << rule["multiplier_bits"]) - 1)
        terms.append(round_to_int(Fraction(total * multiplier, 1 << rule["shift"]), rule["round"]))
    return terms


def may_overflow(bits, ranges):
    """overflow: refuse; ranges: [(low, high)] of each term."""
    low, high = signed_range(bits)
    if sum(r[0] for r in ranges) < low or sum(r[1] for r in ranges) > high:
        raise Refused("weights may lead beyond the accumulator")
