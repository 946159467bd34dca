"""NumPy's .npy files by the standard library: version 1 headers, C order, little endian."""
import ast
import struct

CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
         "uint64": "Q", "float32": "f", "float64": "d"}
DESCR = {"int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "int32": "<i4", "uint32": "<u4",
         "int64": "<i8", "uint64": "<u8", "float32": "<f4", "float64": "<f8"}


def save(path, kind, shape, values):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        DESCR[kind], "".join("%d," % n for n in shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        out.write(struct.pack("<%d%s" % (len(values), CODES[kind]), *values))


def load(path):
    """(kind, shape, flat list)"""
    with open(path, "rb") as source:
        raw = source.read()
    size = struct.unpack("<H", raw[8:10])[0]
    head = ast.literal_eval(raw[10:10 + size].decode())
    assert raw[6] == 1 and not head["fortran_order"]
    kind = next((k for k, d in DESCR.items() if d == head["descr"].replace("=", "<")), "uint8")
    body = raw[10 + size:]
    count = len(body) // struct.calcsize(CODES[kind])
    return kind, head["shape"], list(struct.unpack("<%d%s" % (count, CODES[kind]), body))
