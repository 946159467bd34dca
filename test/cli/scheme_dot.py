#!/usr/bin/env python3
"""scheme_dot.py ASSAY: dots of matrix units through .npy files, a unit of one's own, bad input."""
import os
import struct
import subprocess
import sys
import tempfile

from support import TAP, check, npy, read, write

ASSAY = os.path.realpath(sys.argv[1])
UNIT = "nv-volta-f16-f32"


def codes(name, letter):
    data = read(name)
    (length,) = struct.unpack_from("<H", data, 8)
    body = data[10 + length :]
    return list(struct.unpack(f"<{len(body) // struct.calcsize(letter)}{letter}", body))


def dot(*arguments):
    return subprocess.run([ASSAY, "scheme", "dot", *arguments], capture_output=True, text=True)


def gives(name, letter, expected, *arguments):
    done = dot(*arguments, "-o", "d.npy")
    got = codes("d.npy", letter) if done.returncode == 0 else done.stderr
    check(got == expected, name, f"{got}, expected {expected}")


def refuses(name, word, *arguments):
    done = dot(*arguments)
    lines = done.stderr.splitlines()
    check(done.returncode == 2 and len(lines) == 1 and word in lines[0], name, (done.returncode, lines))


def main():
    one = 0x3C00
    # 1*1 - 2^-12 * 2^-12: Volta keeps 23 digits below 1, Turing 24
    npy("a.npy", "<u2", (2, 8), [one, 0x8C00] + 6 * [0] + 8 * [one])
    npy("b.npy", "<u2", (2, 8), [one, 0x0C00] + 6 * [0] + 8 * [one])
    npy("c.npy", "<u4", (2,), [0, 0x3F800000])
    both = ("--a", "a.npy", "--b", "b.npy")
    gives("Volta, two steps", "I", [0x3F800000, 0x41000000], UNIT, *both)
    gives("Turing", "I", [0x3F7FFFFF, 0x41000000], "nv-turing-f16-f32", *both)
    gives("an accumulator", "I", [0x3F800000, 0x41100000], UNIT, *both, "--c", "c.npy")
    gives("f16 results", "H", [0x3C00, 0x4800], "nv-volta-f16-f16", *both)
    write("my.yaml", b"unit: my\nmac: {a: e2m1, b: e2m1, acc: bf16, out: bf16, group: 2, align_bits: 8, "
          b"align_cut: floor, out_round: half-even, nan: 0x7fc0}\n")
    npy("a4.npy", "|u1", (1, 2), [2, 7])
    npy("b4.npy", "|u1", (1, 2), [2, 7])
    gives("a unit of one's own", "H", [0x4214], "./my.yaml", "--a", "a4.npy", "--b", "b4.npy")
    npy("a8.npy", "|u1", (1, 32), 32 * [0x38])
    npy("s.npy", "|u1", (1, 1), [128])
    eight = ("--a", "a8.npy", "--b", "a8.npy", "--scale-a", "s.npy", "--scale-b")
    gives("block scales", "I", [0x43000000], "nv-blackwell-mxf8-e4m3", *eight, "s.npy")
    gives("a scheme stands for its first unit", "I", [0x43000000], "blackwell-mxfp8", *eight, "s.npy")
    write("net.yaml", b"scheme: net\nmac:\n  units:\n    - {unit: my, mac: {a: e2m1, b: e2m1, acc: bf16, out: bf16, group: 2, align_bits: 8, "
          b"align_cut: floor, out_round: half-even, nan: 0x7fc0}}\n    - nv-hopper-e4m3-f32\n")
    gives("so does a scheme's file", "H", [0x4214], "./net.yaml", "--a", "a4.npy", "--b", "b4.npy")
    write("wrong.yaml", b"scheme: wrong\nmac: {units: [nv-hoper-e4m3-f32]}\n")
    npy("none.npy", "<u2", (0, 4), [])
    gives("no rows", "I", [], UNIT, "--a", "none.npy", "--b", "none.npy")

    out = ("-o", "e.npy")
    npy("k3.npy", "<u2", (2, 3), 6 * [0])
    npy("n3.npy", "<u2", (3, 8), 24 * [0])
    npy("a4bad.npy", "|u1", (1, 2), [2, 16])
    npy("signed.npy", "|i1", (2, 8), 16 * [0])
    npy("s2.npy", "|u1", (1, 2), [1, 1])
    npy("a16.npy", "|u1", (1, 16), 16 * [0])
    refuses("no output", "needs --a", UNIT, *both)
    refuses("no such unit", "nearest: nv-volta-f16-f32; `assay scheme list --units`", "nv-volt-f16-f32", *both, *out)
    refuses("a scheme without matrix units", 'no matrix unit "tflite"', "tflite", *both, *out)
    refuses("a scheme whose unit is not known", 'no matrix unit "nv-hoper-e4m3-f32"', "./wrong.yaml", *both, *out)
    refuses("no such file", "nofile.npy", UNIT, "--a", "nofile.npy", "--b", "b.npy", *out)
    refuses("k that is no multiple", "multiples of 4", UNIT, "--a", "k3.npy", "--b", "k3.npy", *out)
    refuses("k that is no multiple of the block", "multiples of 32", "nv-blackwell-mxf8-e4m3", "--a", "a16.npy",
            "--b", "a16.npy", "--scale-a", "s.npy", "--scale-b", "s.npy", *out)
    refuses("columns of other lengths", "expected [2,8]", UNIT, "--a", "a.npy", "--b", "n3.npy", *out)
    refuses("an accumulator of another length", "expected 3", UNIT, "--a", "n3.npy", "--b", "n3.npy", "--c", "c.npy",
            *out)
    refuses("another type", "expected uint16", UNIT, "--a", "signed.npy", "--b", "b.npy", *out)
    refuses("another rank", "of rank 1", UNIT, "--a", "a.npy", "--b", "b.npy", "--c", "a4.npy", *out)
    refuses("a pattern of no code", "16 is not a pattern of e2m1", "./my.yaml", "--a", "a4bad.npy", "--b", "b4.npy", *out)
    refuses("scales missing", "needs --scale-a", "nv-blackwell-mxf8-e4m3", "--a", "a8.npy", "--b", "a8.npy", *out)
    refuses("scales too many", "no block scales", UNIT, *both, "--scale-a", "s.npy", "--scale-b", "s.npy", *out)
    refuses("scales of another length", "expected [1,1]", "nv-blackwell-mxf8-e4m3", *eight, "s2.npy", *out)
    refuses("a place that cannot be written", "no/such", UNIT, *both, "-o", "no/such.npy")
    check(not os.path.exists("e.npy"), "nothing is written then")
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
