#!/usr/bin/python3
"""TFLite's recurrent operators in TensorFlow Lite 2.9 and in Assay: floats, and int8 weights under floats, with and without a
zero point. Prints TAP, a line a kind of operator and weights.

    recurrent.py ASSAY LIBRARY [--seed N] [--cases N] [--keep DIR] [--only KIND]

An auxiliary input is as wide as the input: TFLite 2.9 steps through it by the input's width. Without a function of floats (activations relu and none of an RNN) hybrid operators give equal bits; with one, Eigen's tanh and
sigmoid there and the C library's here part in their last bits, which a code now and then makes visible."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tflite_file import Table, Tensor, f32, i8, i32, model

NONE, RELU, RELU6, TANH = 0, 1, 3, 4


class Draw:
    """Numbers and tensors of one case."""

    def __init__(self, rng, weights):
        self.r, self.weights = rng, weights  # "float", "int8", "int8 asymmetric"

    def real(self, name, *shape):
        return Tensor(name, shape, self.r.normal(0, 0.5, shape).astype(np.float32))

    def weight(self, name, *shape):
        if self.weights == "float":
            return self.real(name, *shape)
        codes = self.r.integers(-127, 128, shape).astype(np.int8)
        return Tensor(name, shape, codes, scale=float(np.float32(self.r.uniform(0.002, 0.02))))

    def state(self, name, *shape):
        return Tensor(name, shape, state=True)

    def asymmetric(self):
        return i8(self.weights.endswith("asymmetric"))

    def chance(self, p=0.5):
        return bool(self.r.random() < p)

    def extent(self, most):
        return int(self.r.integers(1, most + 1))


def sequence(d, hybrid_major=True):
    batch, steps, major = d.extent(3), d.extent(6), d.chance() and (hybrid_major or d.weights == "float")
    return batch, steps, major, lambda n: (steps, batch, n) if major else (batch, steps, n)


def rnn_weights(d, tag, inputs, units):
    return [d.weight(tag + "w", units, inputs), d.weight(tag + "r", units, units), d.real(tag + "b", units)]


def rnn(d):
    batch, inputs, units, act = d.extent(3), d.extent(9), d.extent(12), int(d.r.choice([NONE, RELU, RELU6, TANH]))
    ins = [Tensor("x", (batch, inputs))] + rnn_weights(d, "", inputs, units) + [d.state("h", batch, units)]
    return model(24, 7, Table(_0=i8(act), _1=d.asymmetric()), ins, [Tensor("y", (batch, units))]), act != TANH


def sequence_rnn(d):
    inputs, units, act = d.extent(9), d.extent(12), int(d.r.choice([NONE, RELU, RELU6, TANH]))
    batch, _, major, shape = sequence(d)
    ins = [Tensor("x", shape(inputs))] + rnn_weights(d, "", inputs, units) + [d.state("h", batch, units)]
    return model(35, 31, Table(_0=i8(major), _1=i8(act), _2=d.asymmetric()), ins, [Tensor("y", shape(units))]), act != TANH


def bidirectional_rnn(d):
    inputs, units, act = d.extent(9), (d.extent(12), d.extent(12)), int(d.r.choice([NONE, RELU, RELU6, TANH]))
    batch, _, major, shape = sequence(d, hybrid_major=False)  # that kernel runs all steps as often as there are steps
    merged, stacked = d.chance(), int(d.r.integers(0, 3))
    ins = [Tensor("x", shape(inputs))]
    for tag, n in zip("fb", units):
        ins += rnn_weights(d, tag, inputs, n) + [d.state(tag + "h", batch, n)]
    ins += [Tensor("aux", shape(inputs)) if stacked else None]
    ins += [d.weight(tag + "aux", n, inputs) if stacked == 2 else None for tag, n in zip("fb", units)]
    outs = [Tensor("y", shape(sum(units)))] if merged else [Tensor("y%d" % i, shape(n)) for i, n in enumerate(units)]
    return model(46, 70, Table(_0=i8(major), _1=i8(act), _2=i8(merged), _3=d.asymmetric()), ins, outs), act != TANH


class Lstm:
    """What one case has, and the inputs of one direction."""

    def __init__(self, d, norm):
        self.d, self.coupled, self.peephole, self.projected = d, d.chance(0.3), d.chance(0.3), d.chance(0.3)
        self.inputs, self.units = d.extent(9), d.extent(12)
        self.out = d.extent(9) if self.projected else self.units
        self.norm = norm and d.chance(0.3)
        self.act = int(d.r.choice([TANH, TANH, RELU, RELU6]))
        self.clip, self.projection_clip = (float(d.r.choice([0, 0.7])) for _ in range(2))

    def gates(self, make, n=4, first=True):
        return [None if (self.coupled and i == 0) or not first else make(i) for i in range(n)]

    def weights(self, tag):
        d = self.d
        ins = self.gates(lambda i: d.weight(f"{tag}w{i}", self.units, self.inputs))
        ins += self.gates(lambda i: d.weight(f"{tag}r{i}", self.units, self.out))
        ins += self.gates(lambda i: d.weight(f"{tag}p{i}", self.units), 3, self.peephole)
        ins += self.gates(lambda i: d.real(f"{tag}b{i}", self.units))
        ins += [d.weight(tag + "proj", self.out, self.units) if self.projected else None]
        return ins + [d.real(tag + "projb", self.out) if self.projected and d.chance() else None]

    def states(self, tag, batch):
        return [self.d.state(tag + "h", batch, self.out), self.d.state(tag + "c", batch, self.units)]

    def norms(self):
        return self.gates(lambda i: self.d.real(f"n{i}", self.units), 4, self.norm)


def lstm(d):
    n = Lstm(d, True)
    batch = d.extent(3)
    ins = [Tensor("x", (batch, n.inputs))] + n.weights("") + n.states("", batch) + n.norms()
    options = Table(_0=i8(n.act), _1=f32(n.clip), _2=f32(n.projection_clip), _3=i8(0), _4=d.asymmetric())
    return model(16, 14, options, ins, [Tensor("y", (batch, n.out))]), False


def sequence_lstm(d):
    n = Lstm(d, True)
    batch, _, major, shape = sequence(d)
    ins = [Tensor("x", shape(n.inputs))] + n.weights("") + n.states("", batch) + n.norms()
    options = Table(_0=i8(n.act), _1=f32(n.clip), _2=f32(n.projection_clip), _3=i8(major), _4=d.asymmetric())
    return model(44, 71, options, ins, [Tensor("y", shape(n.out))]), False


def bidirectional_lstm(d):
    n = Lstm(d, False)
    batch, _, major, shape = sequence(d)
    stacked = int(d.r.integers(0, 3))
    merged = d.chance() and (major or batch == 1)  # else two runs in TFLite 2.9 differ, and so does the order of the batch
    ins = [Tensor("x", shape(n.inputs))] + n.weights("f") + n.weights("b") + n.states("f", batch) + n.states("b", batch)
    ins += [Tensor("aux", shape(n.inputs)) if stacked else None]
    for tag in "fb":
        ins += n.gates(lambda i: d.weight(f"{tag}a{i}", n.units, n.inputs), 4, stacked == 2)
    options = Table(_0=i8(n.act), _1=f32(n.clip), _2=f32(n.projection_clip), _3=i8(merged), _4=i8(major), _5=d.asymmetric())
    outs = [Tensor("y", shape(2 * n.out))] if merged else [Tensor("y0", shape(n.out)), Tensor("y1", shape(n.out))]
    return model(52, 69, options, ins, outs), False


def basic_lstm(d):
    if d.weights != "float":
        return None
    batch, inputs, units = d.extent(3), d.extent(9), d.extent(12)
    ins = [Tensor("x", (batch, inputs)), Tensor("h", (batch, units)), d.real("w", 4 * units, inputs + units), d.real("b", 4 * units),
           Tensor("c", (batch, units))]
    outs = [Tensor(name, (batch, n)) for name, n in zip(("y", "cell", "rows", "sums"), (units, units, inputs + units, 4 * units))]
    return model(16, 14, Table(_0=i8(TANH), _3=i8(1)), ins, outs), False


def svdf(d):
    batch, inputs, rank, units, memory = d.extent(3), d.extent(9), d.extent(3), d.extent(5), d.extent(4)
    act = int(d.r.choice([NONE, RELU]))
    ins = [Tensor("x", (batch, inputs)), d.weight("feature", rank * units, inputs), d.weight("time", rank * units, memory),
           d.real("b", units) if d.chance() else None, d.state("s", batch, rank * units * memory)]
    return model(27, 6, Table(_0=i32(rank), _1=i8(act), _2=d.asymmetric()), ins, [Tensor("y", (batch, units))]), False


KINDS = {"RNN": rnn, "UNIDIRECTIONAL_SEQUENCE_RNN": sequence_rnn, "BIDIRECTIONAL_SEQUENCE_RNN": bidirectional_rnn, "LSTM": lstm,
         "LSTM, basic": basic_lstm, "UNIDIRECTIONAL_SEQUENCE_LSTM": sequence_lstm, "BIDIRECTIONAL_SEQUENCE_LSTM": bidirectional_lstm,
         "SVDF": svdf}


class Peer:
    """TFLite; it dies of some operators (see bidirectional_rnn) and is started again."""

    def __init__(self, library):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tflite_c.py")
        self.argv, self.child = [sys.executable, script, library, "builtin"], None

    def run(self, file, inputs, out):
        if self.child is None:
            self.child = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.child.stdin.write(json.dumps({"model": file, "inputs": inputs, "out": out}) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            self.child = None
            raise RuntimeError("TFLite died")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [np.fromfile(f"{out}.{i}", np.float32) for i in range(answer["outputs"])]


def inputs_of(shapes, rng, work):
    """Random inputs as the files that the two take."""
    raw, npy = [], []
    for i, shape in enumerate(shapes):
        x = rng.normal(0, 1, shape).astype(np.float32)
        raw.append(os.path.join(work, f"in{i}"))
        npy.append(os.path.join(work, f"in{i}.npy"))
        x.tofile(raw[-1])
        np.save(npy[-1], x)
    return raw, npy


def ours(assay, file, npy, hybrid, work):
    folder = os.path.join(work, "ours")
    subprocess.run(["rm", "-rf", folder], check=True)
    args = [assay, "run", file, "-o", folder] + [a for x in npy for a in ("-i", x)] + (["-s", "tflite"] if hybrid else [])
    subprocess.run(args, check=True, capture_output=True, text=True)
    return [np.load(os.path.join(folder, f)).ravel() for f in sorted(os.listdir(folder))]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("assay")
    p.add_argument("library")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cases", type=int, default=10)
    p.add_argument("--keep")
    p.add_argument("--only")
    o = p.parse_args()
    work = o.keep or tempfile.mkdtemp(prefix="recurrent-")
    os.makedirs(work, exist_ok=True)
    peer, line, bad = Peer(o.library), 0, 0
    print("# seed", o.seed)
    for kind, make in KINDS.items():
        for w, weights in enumerate(("float", "int8", "int8 asymmetric")):
            if o.only and o.only != kind:
                continue
            worst, elements, unequal, said = 0.0, 0, 0, []
            for case in range(o.cases):
                rng = np.random.default_rng([o.seed, list(KINDS).index(kind), w, case])
                made = make(Draw(rng, weights))
                if made is None:
                    continue
                file = os.path.join(work, f"{kind.replace(', ', '_')}_{w}_{case}.tflite")
                with open(file, "wb") as f:
                    f.write(made[0][0])
                try:
                    raw, npy = inputs_of(made[0][1], rng, work)
                    want, got = peer.run(file, raw, os.path.join(work, "out")), ours(o.assay, file, npy, w > 0, work)
                except subprocess.CalledProcessError as e:
                    said.append(f"case {case}: {e.stderr.strip()}")
                    continue
                except RuntimeError as e:
                    said.append(f"case {case}: {e}")
                    continue
                for a, b in zip(want, got):
                    elements += a.size
                    equal = np.array_equal(a.view(np.int32), b.view(np.int32))
                    unequal += a.size - int((a == b).sum())
                    error = float(np.abs(a - b).max() / max(1.0, np.abs(a).max()))
                    worst = max(worst, error)
                    if error > (2e-6 if w == 0 else 0.02) or (w > 0 and made[1] and not np.array_equal(a, b)):
                        said.append(f"case {case}: differs by {error:.3g}{'' if equal else ', bits'}")
                if len(want) != len(got):
                    said.append(f"case {case}: {len(got)} results, expected {len(want)}")
                if o.keep is None:
                    os.unlink(file)
            if not elements and not said:
                continue
            line += 1
            bad += bool(said)
            print(f"{'not ok' if said else 'ok'} {line} - {kind}, {weights}: {elements} elements, {unequal} unequal, by at most {worst:.2g}")
            for s in said[:4]:
                print("#", s)
    print(f"1..{line}")
    sys.exit(bad > 0)


main()
