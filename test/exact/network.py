"""A network under work: its text, its tensors, and what the model says of each."""
from fractions import Fraction

from numbers_exact import Refused, f32, number, signed_range


def ints(values):
    return "[" + ",".join(map(str, values)) + "]"


def count_of(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


def range_of(kind):
    """kind: (bits, signed)"""
    return signed_range(kind[0]) if kind[1] else (0, (1 << kind[0]) - 1)


class Tensor:
    """codes: C order. low, high: the codes it may hold. bounds: of a fused activation."""

    def __init__(self, name, shape, kind, scale, zero):
        self.name, self.shape, self.kind, self.scale, self.zero = name, shape, kind, scale, zero
        self.low, self.high = range_of(kind)
        self.codes, self.given, self.bounds = None, False, None

    def element(self):
        return "%s%d" % ("i" if self.kind[1] else "u", self.kind[0])

    def type(self):
        return "%s[%s] q(%s,%d)" % (self.element(), ",".join(map(str, self.shape)), number(self.scale), self.zero)


class Network:
    """records: a function of an op, a node's name and whether it lacks the wide bias that makes weighted nodes
    wide: the record in force for it."""

    def __init__(self, rng, record, records):
        self.rng, self.record, self.records = rng, record, records
        types = record["types"]
        self.kind = (types["activation_bits"], types["activation_signed"])
        self.inputs, self.lines, self.tensors, self.sums, self.late = [], [], [], {}, None

    def draw_scale(self, low, high):
        if self.record["types"]["power_of_two_scales"]:
            return Fraction(2) ** round(self.rng.uniform(low, high))
        return f32(Fraction(2.0 ** self.rng.uniform(low, high)))

    def draw_zero(self, kind, rule):
        if rule == "middle":
            return 0 if kind[1] else 1 << kind[0] - 1
        return 0 if rule == "none" else self.rng.randint(*range_of(kind))

    def draw_codes(self, kind, count, narrow=False):
        low, high = range_of(kind)
        low += narrow
        inside = lambda: self.rng.randint(low, high)
        return [self.rng.choice([low, high, inside(), inside()]) for _ in range(count)]

    def tensor(self, shape, like=None, prefix="t"):
        """A new activation; like: has the parameters of that one."""
        rule = self.record["types"]["activation_zero_point"]
        scale = like.scale if like else self.draw_scale(-6, 1)
        zero = like.zero if like else self.draw_zero(self.kind, rule)
        made = Tensor("%s%d" % (prefix, len(self.tensors)), shape, self.kind, scale, zero)
        self.tensors.append(made)
        return made

    def input(self, shape):
        made = self.tensor(shape)
        made.codes, made.given = self.draw_codes(made.kind, count_of(shape)), True
        self.inputs.append("input %s: %s" % (made.name, made.type()))
        return made

    def constant(self, shape, like=None):
        made = self.tensor(shape, like, "c")
        self.tensors.remove(made)
        made.name = "c%d" % len(self.lines)
        made.codes = self.draw_codes(made.kind, count_of(shape))
        self.lines.append("const %s: %s = %s" % (made.name, made.type(), ints(made.codes)))
        return made

    def bounds(self, out):
        """Sometimes a fused activation, its bounds as codes."""
        if self.rng.random() < 0.7:
            return ""
        out.bounds = sorted([self.rng.randint(out.low, out.high) for _ in "ab"])
        return " codes[%d,%d]" % tuple(out.bounds)

    def node(self, out, text, function):
        """function: the codes. What the record refuses at a value is refused for the network."""
        self.lines.append("%s: %s = %s" % (out.name, out.type(), text))
        try:
            out.codes = function()
        except Refused as refusal:
            self.late = "%s: %s" % (out.name, refusal)

    def text(self):
        names = ", ".join(t.name for t in self.tensors if not t.given)
        return "graph g {\n  " + "\n  ".join(self.inputs + self.lines) + "\n  output %s\n}\n" % names
