#!/usr/bin/env python3
"""scheme_units.py ASSAY: matrix units listed, shown, tried, compared, told apart, written anew; and bad input."""
import os
import subprocess
import sys
import tempfile

from support import TAP, check, read, write

ASSAY = os.path.realpath(sys.argv[1])


def scheme(*arguments):
    done = subprocess.run([ASSAY, "scheme", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def says(name, words, *arguments, status=0):
    got, out, err = scheme(*arguments)
    missing = [w for w in words if w not in out]
    check(got == status and not missing, name, f"status {got}, without {missing}: {out} {err}")


def refuses(name, word, *arguments):
    got, _, err = scheme(*arguments)
    check(got == 2 and len(err.splitlines()) == 1 and word in err, name, f"status {got}: {err}")


def dot_of(folder, unit, scales=False):
    arguments = ["dot", unit, "-o", "d.npy"]
    for name in ("a", "b", "c") + (("scale-a", "scale-b") if scales else ()):
        arguments += ["--" + name, f"{folder}/{name}.npy"]
    got = scheme(*arguments)
    return read("d.npy") if got[0] == 0 else got


def told_apart(first, second, scales=False):
    """What `vectors` writes is what each unit gives."""
    says(f"{first} and {second} are told apart", ["gives"], "vectors", first, second, "-o", "apart")
    right = all(dot_of("apart", unit, scales) == read(f"apart/d-{which}.npy")
                for unit, which in ((first, "first"), (second, "second")))
    check(right and read("apart/d-first.npy") != read("apart/d-second.npy"), "as `dot` gives it")
    for name in os.listdir("apart"):
        os.remove("apart/" + name)
    os.rmdir("apart")


def tries():
    volta = ("--a", "0x3c00,0x8c00,0,0", "--b", "0x3c00,0x0c00,0,0")
    says("a step", ["greatest exponent 0: cut to multiples of 2^-23", "-0x100000 * 2^-44, exponent -24 -> 0x0",
                    "gives 0x3f800000"], "try", "nv-volta-f16-f32", *volta)
    says("two sums", ["from 0x3f800000", "gives 0x40000000"], "try", "amd-cdna3-f16-k4", *volta, "--c", "0x3f800000")
    says("specials", ["Inf", "NaN"], "try", "nv-volta-f16-f32", "--a", "0x7c00,0x7e00,0,0", "--b",
         "0x3c00,0,0,0")
    says("a sum of more than 64 bits", ["0x240000000000000000000000000 * 2^892", "0x1 * 2^-2148"], "try", "f64-fma4", "--a", "0x7e38000000000000,1",
         "--b", "0x3ff8000000000000,1")
    says("phases", ["phase 0", "phase 3"], "try", "tt-hifi4-bf16", "--a", "0x3f80" + 15 * ",0", "--b", "0x3f80" + 15 * ",0")
    says("an instruction's end", ["to the accumulator 0x3f800000", "gives 0x40000000"], "try", "doc-amx-bf16", "--a",
         "0x3f80" + 31 * ",0", "--b", "0x3f80" + 31 * ",0", "--c", "0x3f800000")
    write("parts.yaml", b"unit: parts\nmac: {a: f16, b: f16, acc: f32, out: f32, group: 1, split_k: 2, nan: 0x7fc00000}\n")
    says("parts of K", ["part 1 of 2", "part 2 of 2", "gives 0x40000000"], "try", "./parts.yaml", "--a", "0x3c00,0x3c00",
         "--b", "0x3c00,0x3c00")
    says("promotion", ["promoted 0 ... 127", "gives 0x40000000"], "try", "nv-hopper-e4m3-promoted", "--a", "0x38" + 127 * ",0",
         "--b", "0x38" + 127 * ",0", "--scale-a", "0x40000000", "--scale-b", "0x3f800000")


def bad_input():
    refuses("no --b", "needs --a and --b", "try", "nv-volta-f16-f32", "--a", "0")
    refuses("too few", "takes 4", "try", "nv-volta-f16-f32", "--a", "0,0,0", "--b", "0,0,0")
    refuses("another length", "--b has 3", "try", "nv-volta-f16-f32", "--a", "0,0,0,0", "--b", "0,0,0")
    refuses("two accumulators", "takes 1", "try", "nv-volta-f16-f32", "--a", "0,0,0,0", "--b", "0,0,0,0", "--c", "0,0")
    refuses("no pattern", "not a pattern of f16", "try", "nv-volta-f16-f32", "--a", "0,0,0,0x10000", "--b", "0,0,0,0")
    refuses("no number", "not a pattern of f16", "try", "nv-volta-f16-f32", "--a", "one,0,0,0", "--b", "0,0,0,0")
    refuses("negative", "not a pattern of f16", "try", "nv-volta-f16-f32", "--a", "-1,0,0,0", "--b", "0,0,0,0")
    refuses("too many", "more than 4096", "try", "f32-fma", "--a", "0" + 4096 * ",0", "--b", "0")
    refuses("no scales", "needs --scale-a", "try", "nv-blackwell-nvf4", "--a", "0", "--b", "0")
    refuses("scales too many", "no block scales", "try", "f32-fma", "--a", "0", "--b", "0", "--scale-a", "0", "--scale-b", "0")
    refuses("other elements", "different formats", "vectors", "nv-volta-f16-f32", "nv-hopper-bf16-f32")
    refuses("other results", "different formats", "vectors", "nv-volta-f16-f32", "nv-volta-f16-f16")
    refuses("other scales", "not alike", "vectors", "nv-blackwell-nvf4", "nv-blackwell-mxf4-b16")
    refuses("three units", "compared two at a time", "vectors", "f32-fma", "f32-exact", "f32-mul-add")
    refuses("a scheme beside a unit", "no matrix unit", "diff", "tflite", "f32-fma")
    write("wrong.yaml", b"unit: x\nmac: {a: f16, b: f16, acc: f32, out: f32, group: 4, chains: 2, nan: 0x7fc00000}\n")
    refuses("a contradiction", "start from zero", "check", "./wrong.yaml")


def main():
    got, out, _ = scheme("list", "--units")
    names = [line.split()[0] for line in out.splitlines()]
    check(got == 0 and len(set(names)) == len(names) > 90, "the units", out)
    says("show", ["contract:", "Intel's SDM", "k in multiples of 2", "order: [1, 0]", "align_bits: none"], "show", "x86-avx512-bf16")
    says("check", ["good; matrix unit 'f32-fma', k in multiples of 1"], "check", "f32-fma")
    says("diff", ["align_bits           23                   24", "differ", "all other elements 0", "nv-turing-f16-f32 gives"], "diff", "nv-volta-f16-f32", "nv-turing-f16-f32", status=1)
    says("no difference", ["0 differ"], "diff", "nv-ada-f16-f32", "nv-ampere-f16-f32")
    says("units of other elements", ["2 differ", "no row fits both units"], "diff", "nv-hopper-e4m3-f32", "nv-hopper-e5m2-f32", status=1)
    got, out, _ = scheme("new", "mine", "--unit")
    write("mine.yaml", out.encode())
    says("a new unit is good", ["matrix unit 'mine'"], "check", "./mine.yaml")
    write("ten.yaml", b"unit: my-npu\nmac:\n  a: e4m3fn\n  b: e5m2\n  acc: f32\n  out: f32\n  group: 16\n  align_bits: 20\n"
          b"  align_cut: floor\n  nan: 0x7fc00000\n")
    says("ten lines", ["good"], "check", "./ten.yaml")
    tries()
    told_apart("nv-volta-f16-f32", "nv-turing-f16-f32")
    told_apart("nv-ada-e4m3-f32", "nv-hopper-e4m3-f32")
    for name in ("half-even", "trunc"):  # sums that have more digits than their result by carries alone
        with open(name + ".yaml", "w", encoding="utf-8") as f:
            f.write(f"unit: {name}\nmac: {{a: e4m3fn, b: e5m2, acc: f32, out: f32, group: 16, align_bits: 20, out_round: {name}, nan: 0x7fc00000}}\n")
    told_apart("./half-even.yaml", "./trunc.yaml")
    told_apart("x86-avx512-bf16", "doc-arm-bfdot")
    write("more.yaml", b"unit: more\nmac: {a: e2m1, b: e2m1, acc: f32, out: f32, group: 64, scale: ue4m3, scale_block: 16, "
          b"exact_group: 16, align_bits: 30, out_round: trunc, nan: 0x7fffffff}\n")
    told_apart("nv-blackwell-nvf4", "./more.yaml", scales=True)
    says("the same", ["are equal: no parameter differs"], "vectors", "nv-ada-f16-f32", "nv-ampere-f16-f32", status=1)
    bad_input()
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
