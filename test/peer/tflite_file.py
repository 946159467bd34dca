"""A .tflite file of one operator, written as FlatBuffers are (front to back, every reference ahead).

Slots of tables: tensorflow/compiler/mlir/lite/schema/schema.fbs."""
import struct

import numpy as np

TYPES = {"float32": 0, "int32": 2, "uint8": 3, "int8": 9}


class Table:
    """Fields by slot: an int of 1 or 4 bytes, a float, or something that stands elsewhere in the file."""

    def __init__(self, **fields):
        self.fields = {int(k[1:]): v for k, v in fields.items() if v is not None}


class Bytes:
    def __init__(self, data):
        self.data = data


def i8(v):
    return ("<b", v)


def i32(v):
    return ("<i", v)


def f32(v):
    return ("<f", v)


class Writer:
    def __init__(self):
        self.out = bytearray()
        self.open = []  # (where a reference stands, what it means)

    def align(self, to):
        self.out += bytes(-len(self.out) % to)

    def refer(self, thing):
        self.open.append((len(self.out), thing))
        self.out += bytes(4)

    def table(self, t):
        self.align(4)
        slots = max(t.fields, default=-1) + 1
        vtable = len(self.out)
        self.out += bytes(4 + 2 * slots)
        self.align(4)
        at = len(self.out)
        self.out += struct.pack("<i", at - vtable)
        for slot, value in t.fields.items():
            struct.pack_into("<H", self.out, vtable + 4 + 2 * slot, len(self.out) - at)
            if isinstance(value, tuple):
                self.out += struct.pack(*value)
                self.align(4)
            else:
                self.refer(value)
        struct.pack_into("<HH", self.out, vtable, 4 + 2 * slots, len(self.out) - at)
        return at

    def vector(self, v):
        self.align(16)
        self.out += bytes(12)  # so that elements stand at a multiple of 16
        at = len(self.out)
        if isinstance(v, Bytes):
            self.out += struct.pack("<I", len(v.data)) + v.data
        elif isinstance(v, str):
            self.out += struct.pack("<I", len(v.encode())) + v.encode() + b"\0"
        elif isinstance(v, np.ndarray):
            self.out += struct.pack("<I", v.size) + v.tobytes()
        else:
            self.out += struct.pack("<I", len(v))
            for item in v:
                self.refer(item)
        return at

    def file(self, root):
        self.refer(root)
        self.out += b"TFL3"
        while self.open:
            where, thing = self.open.pop(0)
            at = self.table(thing) if isinstance(thing, Table) else self.vector(thing)
            struct.pack_into("<I", self.out, where, at - where)
        return bytes(self.out)


class Tensor:
    def __init__(self, name, shape, data=None, scale=None, state=False, kind="float32"):
        self.name, self.shape, self.data, self.scale, self.state = name, shape, data, scale, state
        self.kind = kind if data is None else str(data.dtype)


def model(code, options_type, options, inputs, outputs):
    """The file's bytes and the shapes of the model's inputs. inputs: a Tensor each, None where the operator has none; those without
    data that are no state are the model's."""
    tensors = [t for t in inputs if t] + outputs
    index = {id(t): i for i, t in enumerate(tensors)}
    numbers = lambda ts: np.array([index[id(t)] if t else -1 for t in ts], np.int32)
    quant = lambda t: t.scale and Table(_2=np.array([t.scale], np.float32), _3=np.array([0], np.int64))
    written = [
        Table(_0=np.array(t.shape, np.int32), _1=i8(TYPES[t.kind]), _2=i32(0 if t.data is None else i + 1), _3=t.name,
              _4=quant(t) or None, _5=i8(t.state)) for i, t in enumerate(tensors)
    ]
    operator = Table(_0=i32(0), _1=numbers(inputs), _2=numbers(outputs), _3=i8(options_type), _4=options)
    fed = [t for t in inputs if t and t.data is None and not t.state]
    graph = Table(_0=written, _1=numbers(fed), _2=numbers(outputs), _3=[operator])
    buffers = [Table()] + [Table(_0=None if t.data is None else Bytes(t.data.tobytes())) for t in tensors]
    codes = [Table(_0=i8(code), _2=i32(3), _3=i32(code))]
    return Writer().file(Table(_0=i32(3), _1=codes, _2=[graph], _4=buffers)), [t.shape for t in fed]
