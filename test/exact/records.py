"""Records drawn from the text of schemes/record/record.def itself: every section, field, value and bound."""
import re

from numbers_exact import MODES


class Field:
    def __init__(self, section, name, kind, values, low, high, default):
        self.section, self.name, self.kind = section, name, kind
        self.values, self.low, self.high, self.default = values, low, high, default

    def boundary(self):
        """The values that pairs are made of."""
        if self.kind != "INT":
            return self.values
        near = {self.low, self.low + 1, self.high - 1, self.high, self.default}
        near |= {v for v in (1, 2, 7, 8, 15, 16, 31, 32) if self.low <= v <= self.high}
        return sorted(near)


def read_definition(path):
    """{section: {field: Field}}"""
    with open(path) as source:
        text = source.read()
    names, enums = {}, {}
    for block in re.finditer(r"^ENUM\((\w+)\)(.*?)^ENUM_END", text, re.S | re.M):
        pairs = re.findall(r'VALUE\((\w+), "([^"]*)"\)', block.group(2))
        names.update(pairs)
        enums[block.group(1)] = [word for _, word in pairs]
    sections = {}
    pattern = r'^  FIELD\((\w+), (\w+), (\w+), (\w*), (-?\d+), (-?\d+), ("[^"]*"|-?\w+),'
    for section, name, kind, of, low, high, default in re.findall(pattern, text, re.M):
        low, high = int(low), int(high)
        if kind == "INT":
            field = Field(section, name, kind, None, low, high, int(default))
        elif kind == "BOOL":
            field = Field(section, name, kind, [False, True], 0, 1, default == "1")
        elif kind == "ENUM":
            field = Field(section, name, kind, enums[of], 0, 0, names[default])
        else:
            field = Field(section, name, kind, MODES, 0, 0, default.strip('"'))
        sections.setdefault(section, {})[name] = field
    for section, name, default in re.findall(r'^  STEPS\((\w+), (\w+), "([^"]*)"', text, re.M):
        sections[section][name] = Field(section, name, "STEPS", None, 0, 0, parse_steps(default))
    return sections


def parse_steps(text):
    """[(bits or None, mode)]"""
    steps = []
    for word in text.split(","):
        parts = word.split()
        steps.append((int(parts[0]) if len(parts) == 2 else None, parts[-1]))
    return steps


def defaults(definition):
    return {s: {n: f.default for n, f in fields.items()} for s, fields in definition.items()}


def in_force(definition, written):
    """The whole record of what a file writes."""
    record = defaults(definition)
    for section, fields in written.items():
        record[section].update(fields)
    return record


def word(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "[" + ", ".join(mode if bits is None else "%d %s" % (bits, mode) for bits, mode in value) + "]"
    return str(value)


def to_yaml(name, written):
    return "scheme: %s\n" % name + "".join("%s: %s\n" % (key, flow(value)) for key, value in written.items() if value)


TRIES = 12


def drop_named(written, message):
    """A field that a refusal names goes back to its default; whether there was one."""
    for section, name in re.findall(r"\b(\w+)\.(\w+)", message):
        if name in written.get(section, {}) and name != "encoding":
            del written[section][name]
            return True
    return False


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join("%s: %s" % (key, flow(inner)) for key, inner in value.items()) + "}"
    return word(value)


def of_node(record, overrides, op, name, wide, unsigned):
    """The record for one node: the levels of schemes/README.md, later ones win."""
    record = {section: dict(fields) for section, fields in record.items()}
    names = ["conv", op] if op == "depthwise" else [op]
    levels = [overrides.get("wide") if wide else None]
    levels += [overrides.get("ops", {}).get(n) for n in names]
    levels += [overrides.get("wide_ops", {}).get(n) for n in names] if wide else []
    levels += [overrides.get("unsigned_ops", {}).get(n) for n in names] if unsigned else []
    levels += [overrides.get("nodes", {}).get(name)]
    for level in levels:
        for section, fields in (level or {}).items():
            record[section].update(fields)
    return record


class Pairs:
    """Draws so that each pair of two fields' boundary values is met, greedily: a record begins with a
    pair that none has had."""

    def __init__(self, rng, fields):
        self.rng, self.fields, self.pair = rng, fields, {}
        self.open = set()
        choices = [(i, v) for i, f in enumerate(fields) for v in range(len(f.boundary()))]
        for a in choices:
            for b in choices:
                if a[0] < b[0]:
                    self.open.add((a, b))
        self.total = len(self.open)
        self.queue = sorted(self.open)
        rng.shuffle(self.queue)

    def draw(self, spread):
        """{Field: value}: a new pair, and each other field by chance `spread`."""
        while self.queue and self.queue[-1] not in self.open:
            self.queue.pop()
        chosen = dict(self.queue.pop()) if self.queue else {}
        self.pair = {self.fields[i]: self.fields[i].boundary()[v] for i, v in chosen.items()}
        for index, field in enumerate(self.fields):
            if index not in chosen and self.rng.random() < spread:
                chosen[index] = self.rng.randrange(len(field.boundary()))
        return {self.fields[i]: self.fields[i].boundary()[v] for i, v in sorted(chosen.items())}

    def meet(self, written):
        """Of a record that was run: what its file still writes (what a record does not read is refused there),
        whether or not a node of the network asks for it."""
        items = []
        for index, field in enumerate(self.fields):
            value = written.get(field.section, {}).get(field.name)
            if value is not None and value in field.boundary():
                items.append((index, field.boundary().index(value)))
        for i, a in enumerate(items):
            for b in items[i + 1:]:
                self.open.discard((a, b))

    def counts(self):
        """How many were run, were drawn but not run (refused, or given up), are not drawn yet."""
        waiting = sum(pair in self.open for pair in self.queue)
        return "%d run, %d drawn and not run, %d not drawn of %d" % (
            self.total - len(self.open), len(self.open) - waiting, waiting, self.total)
