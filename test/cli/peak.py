#!/usr/bin/python3
"""peak.py ASSAY: the memory of commands on large networks, as a multiple of the weights' as float32.

Weights of ONNX's MatMul stand the other way round than the graph has them, and those of MatMulNBits are two
codes a byte: of either there is one copy as numbers, whatever a command does with the network.
"""
import os
import struct
import sys
import tempfile

import numpy as np

from command import ASSAY, assay
from support import TAP, check

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import skip_sanitized  # noqa: E402

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
LAYERS, WIDE, BLOCK = 16, 1024, 32
WEIGHTS = LAYERS * WIDE * WIDE * 4
PROCESS = 40 << 20  # of a process without a network, this script's own included: a child starts as its copy


def number(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def field(key, value):
    """A field of a message of protobuf: https://protobuf.dev/programming-guides/encoding."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(value)) + value


def tensor(name, array):
    kind = {"float32": 1, "uint8": 2}[array.dtype.name]
    return field(5, b"".join(field(1, d) for d in array.shape) + field(2, kind) + field(8, name) + field(9, array.tobytes()))


def node(op, ins, out, domain="", **attributes):
    listed = b"".join(field(5, field(1, k) + field(3, v) + field(20, 2)) for k, v in attributes.items())
    return field(1, b"".join(field(1, x) for x in ins) + field(2, out) + field(4, op) + field(7, domain) + listed)


def value(key, name):
    shape = b"".join(field(1, field(1, d)) for d in (4, WIDE))
    return field(key, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def layer(k, packed):
    """Its node, and its operands as parts of the graph: relu(x W + b)."""
    if packed:
        blocks = WIDE // BLOCK
        operands = [tensor(f"w{k}", RNG.integers(0, 256, (WIDE, blocks, BLOCK // 2)).astype(np.uint8)),
                    tensor(f"s{k}", (RNG.random(WIDE * blocks) / 64).astype(np.float32))]
        product = node("MatMulNBits", [f"x{k}", f"w{k}", f"s{k}"], f"m{k}", "com.microsoft", K=WIDE, N=WIDE, bits=4, block_size=BLOCK)
    else:
        operands = [tensor(f"w{k}", (RNG.standard_normal((WIDE, WIDE), np.float32) / 16))]
        product = node("MatMul", [f"x{k}", f"w{k}"], f"m{k}")
    operands.append(tensor(f"b{k}", RNG.standard_normal(WIDE, np.float32)))
    return [product, node("Add", [f"m{k}", f"b{k}"], f"a{k}"), node("Relu", [f"a{k}"], f"x{k + 1}"), *operands]


def network(path, packed):
    with open(path + ".body", "wb") as f:
        for k in range(LAYERS):
            f.write(b"".join(layer(k, packed)))
        f.write(field(2, "g") + value(11, "x0") + value(12, f"x{LAYERS}"))
    opsets = field(8, field(1, "") + field(2, 17)) + field(8, field(1, "com.microsoft") + field(2, 1))
    with open(path, "wb") as f, open(path + ".body", "rb") as body:
        f.write(field(1, 8) + opsets + number(7 << 3 | 2) + number(os.path.getsize(path + ".body")))
        for chunk in iter(lambda: body.read(1 << 20), b""):
            f.write(chunk)
    os.remove(path + ".body")


def peak(*args):
    """Exit status, and the greatest resident memory in bytes."""
    out = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawn(ASSAY, [ASSAY, *args], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
    os.close(out)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024


def within(what, times, *args):
    status, most = peak(*args)
    check(status == 0 and most < PROCESS + times * WEIGHTS, f"{what}: at most {times} times its weights",
          (status, most >> 20, WEIGHTS >> 20))


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        np.save("x.npy", RNG.standard_normal((4, WIDE), np.float32))
        for name, limits in (("floats", (1.3, 1.3, 1.6, 1.8)), ("codes", (0.7, 1.6, 1.9, 2.1))):
            net, p = f"{name}.onnx", f"{name}.yaml"
            network(net, name == "codes")
            within(f"{name}: inspect", limits[0], "inspect", net)
            within(f"{name}: profile", limits[1], "profile", net, "-i", "x.npy", "-q", "-o", p)
            within(f"{name}: quantize", limits[2], "quantize", net, "-p", p, "-s", "tflite", "-o", "q.assay")
            within(f"{name}: golden", limits[3], "golden", net, "-p", p, "-s", "tflite", "-i", "x.npy", "-q", "-o", f"{name}-golden")
            status, text = assay("verify", f"{name}-golden")
            check(status == 0, f"{name}: the bundle is good", text)
        os.chdir("/")
    TAP.end()


skip_sanitized("they keep memory that was freed")
main()
