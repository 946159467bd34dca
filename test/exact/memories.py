"""SVDF over several steps: features enter a memory, a filter goes over each memory (FORMULAS.md, "SVDF")."""
import os
import re

import elements
import layers
import npy
import records
import settings
from layers import Channel
from network import Network, Tensor, ints
from networks import in_force_of, write_files
from numbers_exact import Refused, Unsaid, f32, number


class Cell:
    """The text of one SVDF, and what a step of it gives. Memory: batch, filters, cells of each, the newest last."""

    def __init__(self, rng, record, records_of):
        self.network = network = Network(rng, record, records_of)
        self.batch, depth = rng.randint(1, 2), rng.randint(1, 5)
        self.units, self.rank, self.cells = rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 4)
        self.filters = self.units * self.rank
        self.x = network.input([self.batch, depth])
        kind = network.other_kind() if rng.random() < 0.6 else network.kind
        if not kind[1] or kind[0] > 16:
            raise Unsaid("an unsigned memory is refused")
        self.feature = network.tensor([self.batch, self.filters], kind=kind)
        self.weights = layers.Weights(network, "wf", [self.filters, depth], False)
        self.times = layers.Weights(network, "wt", [self.units, 1, 1, self.rank * self.cells], False, whole=True)
        self.out = network.tensor([self.batch, 1, 1, self.units])
        self.bias = self.times.draw_bias(self.feature)
        self.bounds = network.bounds(self.out)
        self.first = network.draw_codes(kind, self.batch * self.filters * self.cells) if rng.random() < 0.3 else None
        self.memory = self.first or [0] * (self.batch * self.filters * self.cells)
        self.records = [records_of("svdf_feature", self.feature.name, self.x), records_of("svdf_time", self.out.name, self.feature)]

    def text(self):
        """As the importer of TFLite writes it (graph/tflite/op/svdf.c)."""
        f, size = self.feature, self.filters * self.cells
        kind = lambda *shape: Tensor("", list(shape), f.kind, f.scale, f.zero).type()
        cube, own = [self.batch, self.filters, self.cells], [self.batch, size]
        lines = ["var m: %s%s" % (kind(*own), " = " + ints(self.first) if self.first else ""),
                 "%s: %s = svdf_feature(%s, wf)" % (f.name, f.type(), self.x.name),
                 "before: %s = read(m)" % kind(*own),
                 "newest: %s = reshape(%s) {shape=%s}" % (kind(self.batch, self.filters, 1), f.name, ints([self.batch, self.filters, 1]))]
        joined = "newest"
        if self.cells > 1:
            kept = [self.batch, self.filters, self.cells - 1]
            lines += ["old: %s = reshape(before) {shape=%s}" % (kind(*cube), ints(cube)),
                      "kept: %s = slice(old) {begin=[0,0,1], step=[1,1,1], size=%s}" % (kind(*kept), ints(kept)),
                      "joined: %s = concat(kept, newest) {axis=2}" % kind(*cube)]
            joined = "joined"
        lines += ["after: %s = reshape(%s) {shape=%s}" % (kind(*own), joined, ints(own)),
                  "stored: %s = assign(m, after)" % kind(*own),
                  "rows: %s = reshape(stored) {shape=%s}" % (kind(self.batch, 1, 1, size), ints([self.batch, 1, 1, size])),
                  "%s: %s = svdf_time(rows, wt%s) {layout=nhwc, kernel=[1,1], group=%d}%s" % (
                      self.out.name, self.out.type(), self.bias, self.units, self.bounds)]
        body = self.network.inputs + self.network.lines + lines
        return "graph g {\n  %s\n  output %s, %s, stored\n}\n" % ("\n  ".join(body), f.name, self.out.name)

    def step(self):
        """{folder: {tensor: codes}} of the input that stands."""
        sums = {}
        rows = [(c, self.x.codes[n * self.x.shape[1]:(n + 1) * self.x.shape[1]]) for n in range(self.batch) for c in range(self.filters)]
        new = layers.outputs(layers.of_memory(self.records[0], self.feature.kind[0]), self.x, self.feature, sums,
                             self.weights.channels(), self.weights.per_tensor, rows)
        made = []
        for line, code in enumerate(new):
            made += self.memory[line * self.cells + 1:(line + 1) * self.cells] + [code]
        self.memory, own = made, self.rank * self.cells
        rows = [(u, made[(n * self.units + u) * own:(n * self.units + u + 1) * own]) for n in range(self.batch) for u in range(self.units)]
        y = layers.outputs(self.records[1], self.feature, self.out, sums, self.times.channels(), True, rows)
        return {"tensors": {self.feature.name: new, "stored": made, self.out.name: y}, "accumulators": sums}


def run(command, rng, pairs, definition, folder, report):
    written = settings.draw(rng, pairs)
    for _ in range(records.TRIES):
        record = records.in_force(definition, written)
        overrides = settings.draw_overrides(rng, record, ["svdf_feature", "svdf_time"])
        try:
            cell = Cell(rng, record, in_force_of(record, overrides))
        except Unsaid:
            return
        scheme = records.to_yaml("drawn", dict(written, **overrides))
        xs = [cell.network.draw_codes(cell.x.kind, cell.x.count()) for _ in range(rng.randint(2, 4))]
        arguments = write_files(folder, cell.text(), scheme)
        for at, codes in enumerate(xs):
            path = "%s/step%d.npy" % (folder, at)
            npy.save(path, cell.x.file_kind(), cell.x.shape, codes)
            arguments += ["-i", "%s=%s" % (cell.x.name, path)]
        status, message = command(arguments)
        if status:
            if status != 2 or not refuses(cell, xs):
                report.refused(status, message, scheme + cell.text())
                records.drop_named(written, message)
                continue
            return
        pairs.meet(written)
        report.run(cell.text())
        try:
            compare(cell, xs, folder + "/bundle", scheme + cell.text(), report)
        except Unsaid:
            pass
        return


def expected_of(cell, xs):
    """What each step gives; None where the record refuses a value."""
    made = []
    try:
        for cell.x.codes in xs:
            made.append(cell.step())
    except Refused:
        return None
    return made


def refuses(cell, xs):
    try:
        return expected_of(cell, xs) is None
    except Unsaid:
        return False


def compare(cell, xs, bundle, text, report):
    expected = expected_of(cell, xs)
    command = "golden; steps " + " ".join(ints(codes) for codes in xs)
    if expected is None:
        report.differ("a memory", text, command, "runs", None)
        return
    for at, step in enumerate(expected):
        for folder, tensors in step.items():
            for name, codes in tensors.items():
                own = "%s/%s/s%05d" % (bundle, folder, at)
                files = [n for n in os.listdir(own) if re.search("_%s.npy$" % name, n)]
                seen = npy.load("%s/%s" % (own, files[0]))[2]
                if seen != codes:
                    report.differ("%s %s of step %d" % (folder, name, at), text, command, seen, codes)
                    return
                report.compared += len(codes)
