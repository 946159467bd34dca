#!/usr/bin/env python3
"""scheme_networks.py ASSAY: a network for matrix units through the commands: quantized, dumped, verified, explained node by node, blamed,
and what such a scheme has not is said."""
import json
import os
import struct
import subprocess
import sys
import tempfile

from support import TAP, check, read, write

ASSAY = os.path.realpath(sys.argv[1])
NET = """graph net {
  input x: f32[4,32]
  const k: f32[4,32] = [%s]
  y: f32[4,4] = matmul(k, x) {transpose_b=true}
  z: f32[4,4] = fc(x, k)
  s: f32[4,4] = add(y, z)
  m: f32[4,1] = reduce_mean(s) {axes=[1]}
  g: f32[4,4] = softmax(s)
  output m
  output g
}
""" % ",".join("%g" % ((i * 37 % 64 - 32) / 16) for i in range(128))
SCHEMES = ("hopper-fp8", "hopper-fp8-blocks", "blackwell-mxfp8", "blackwell-mxfp4", "blackwell-nvfp4")


def assay(*words):
    done = subprocess.run([ASSAY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


def one_line(name, word, *words):
    got, out, err = assay(*words)
    check(got == 2 and word in err and err.count("\n") == 1, name, f"status {got}: {out} {err}")


def through(scheme):
    got, out, err = assay("golden", "net.assay", "-s", scheme, "-i", "x.bin", "--engine", "both", "-o", scheme)
    check(got == 0, f"golden, both engines, {scheme}", out + err)
    got, out, err = assay("verify", scheme)
    check(got == 0, f"verify, {scheme}", out + err)
    got, out, err = assay("blame", scheme, scheme)
    check(got == 0 and "CLEAN" in out, f"its own dumps are clean, {scheme}", out + err)
    with open(scheme + "/manifest.json", encoding="utf-8") as f:
        manifest = json.load(f)
    wrong = []
    for tensor in manifest["tensors"]:
        if not any(tensor["name"] in node["outputs"] for node in manifest["nodes"]):
            continue
        got, out, err = assay("explain", scheme, "%s[%s]" % (tensor["name"], ",".join("0" for _ in tensor["shape"])))
        told = [node["op"] for node in manifest["nodes"] if tensor["name"] in node["outputs"]] != ["scaled_matmul"] or "greatest exponent" in out and "gives" in out
        if got != 0 or "element" not in out or "not shown" in out or not told:
            wrong.append((tensor["name"], got, out, err))
    check(not wrong, f"every node is explained, {scheme}", wrong)


def faulty(scheme):
    with open(scheme + "/manifest.json", encoding="utf-8") as f:
        files = {t["name"]: t["file"] for t in json.load(f)["tensors"]}
    os.mkdir("device")
    for name in files.values():
        with open(os.path.join(scheme, name), "rb") as f:
            data = bytearray(f.read())
        if name == files["z"]:
            data[-1] ^= 0x80  # the sign of the last element
        write("device/" + os.path.basename(name), bytes(data))
    got, out, err = assay("blame", scheme, "device", "--json", "blame.json")
    faults = json.loads(read_text("blame.json"))["faults"] if got == 1 else []
    check(got == 1 and faults and faults[0]["name"] == "z" and faults[0]["differing"] == 1, "a sign of one product is that node's fault", out + err)
    got, out, err = assay("explain", scheme, "device", "z[3,3]")
    check(got == 0 and "device" in out, "the element beside the device's", out + err)


def wrong_names():
    """A unit is no scheme; a name that neither has."""
    one_line("a unit for a scheme", "is a matrix unit; a scheme names its units: mac: {units: [nv-hopper-e4m3-f32]}", "quantize", "net.assay", "-s", "nv-hopper-e4m3-f32", "-o", "not.assay")
    write("u.yaml", b"unit: u\nmac: {a: f16, b: f16, acc: f32, out: f32, group: 4, nan: 0x7fc00000}\n")
    one_line("a unit's file for a scheme", "is a matrix unit; a scheme names its units: mac: {units: [./u.yaml]}", "quantize", "net.assay", "-s", "./u.yaml", "-o", "not.assay")
    one_line("no such unit or scheme", "nearest: nv-hopper-e4m3-f32; `assay scheme list` names schemes and `assay scheme list --units` matrix units", "scheme", "show", "nv-hoper-e4m3-f32")


def as_onnx():
    """What is written as ONNX gives the same tensors when it is read again."""
    got, out, err = assay("convert", "q.assay", "-o", "net.onnx")
    check(got == 0, "as ONNX", out + err)
    for net, folder in (("q.assay", "was"), ("net.onnx", "is")):
        got, out, err = assay("golden", net, "-s", "hopper-fp8", "-i", "x.bin", "-o", folder)
        check(got == 0, f"{net} under its scheme", out + err)
    got, out, err = assay("diff", "was", "is")
    check(got == 0 and out.startswith("SAME"), "the same tensors", out + err)
    got, out, err = assay("quantize", "net.assay", "-s", "blackwell-mxfp8", "-o", "mx.assay")
    check(got == 0, "quantize in MX blocks", out + err)
    one_line("as ONNX, in MX blocks", "scales computed at run time that are not float32", "convert", "mx.assay", "-o", "mx.onnx")


def read_text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def in_blocks():
    """Weights in llama.cpp's blocks: what is made, what stays, and what is refused."""
    got, out, err = assay("quantize", "net.assay", "--weights", "q8_0", "-o", "blocks.assay")
    check(got == 0 and out.startswith("weights in q8_0: 1; nodes whose weights stay: 1\n") and "its operands are not rows" in out,
          "weights in blocks", out + err)
    check("const \"k:codes\": i8[4,1,1,32] q(1,0)" in read_text("blocks.assay") and "const \"k:d\": f16[4,1,1,1]" in read_text("blocks.assay"),
          "codes and scales stand in the network", read_text("blocks.assay"))
    got, out, err = assay("quantize", "net.assay", "--weights", "q6_K", "--strict")
    check(got == 1 and "its rows are not a multiple of 256 inputs" in out, "--strict: a row is no whole blocks", out + err)
    write("odd.assay", b"graph g {\n input x: f32[2,2]\n var w: f32[4,2] = [1,2,3,4,5,6,7,8]\n const e: f32[0,2] = []\n"
          b" y: f32[2,4] = fc(x, w)\n z: f32[2,0] = fc(x, e)\n output y, z\n}\n")
    got, out, err = assay("quantize", "odd.assay", "--weights", "q4_0", "-o", "odd-q.assay")
    check(got == 0 and "its weights are not constant floats" in out and "its weights have no elements" in out,
          "state and nothing as weights stay", out + err)
    sums = ["w0: f32[4,2] = dequantize(c)"] + [f"w{i + 1}: f32[4,2] = add(w{i}, w{i})" for i in range(60)]
    write("sums.assay", ("graph g {\n input x: f32[2,2]\n const c: i8[4,2] q(1,0) = [1,2,3,4,5,6,7,8]\n " + "\n ".join(sums) +
                         "\n y: f32[2,4] = fc(x, w60)\n output y\n}\n").encode())
    got, out, err = assay("quantize", "sums.assay", "-s", "hopper-fp8", "-o", "sums-q.assay")
    check(got == 0 and "scaled_matmul(" in read_text("sums-q.assay"), "weights that 2^60 paths lead to", out + err)
    one_line("no such format", "expected q4_0, q8_0, q4_K or q6_K", "quantize", "net.assay", "--weights", "q4_1")
    one_line("weights and a scheme", "--scheme is for the next step", "quantize", "net.assay", "--weights", "q4_0", "-s", "hopper-fp8")
    one_line("weights in blocks already", "whose weights are floats", "quantize", "blocks.assay", "--weights", "q4_0")
    one_line("codes of the run need a scheme", "give --scheme, the arithmetic", "run", "codes.assay", "-i", "x.bin")


def names_taken():
    """Names of the pieces of weights in blocks that the network has already: it computes what it would without them."""
    roles = ("one", "d", "codes", "d_real", "levels", "scaled", "steps", "scales", "scales_real", "d_min", "mins", "offsets", "blocks")
    weights = ",".join(str(i % 7 - 3) for i in range(256))
    net = f"graph g {{\n input x: f32[2,256]\n const w: f32[1,256] = [{weights}]\n y: f32[2,1] = fc(x, w)\n output y\n"
    others = "".join(f' const "w:{r}": f32[1,1,1,1] = [3]\n "{r}": f32[1,1,2,256] = mul(x, "w:{r}")\n output "{r}"\n' for r in roles)
    write("rows.bin", struct.pack("<512f", *((i * 37 % 101 - 50) / 8 for i in range(512))))
    results = []
    for name, text in (("free", net + "}\n"), ("taken", net + others + "}\n")):
        write(name + ".assay", text.encode())
        got, out, err = assay("quantize", name + ".assay", "--weights", "q4_K", "-o", name + "-q.assay")
        check(got == 0, f"names of the pieces are {name}", out + err)
        got, out, err = assay("run", name + "-q.assay", "-i", "rows.bin", "-o", name)
        check(got == 0, f"names of the pieces are {name}: a run", out + err)
        with open(name + "/0000_output_y.npy", "rb") as f:
            results.append(f.read())
    check(results[0] == results[1], "names of the pieces: the same results")


def above_steps():
    """Units with something above their steps, by both engines: places, chains, phases, parts of a row's scales; K is no multiple of theirs."""
    weights = ",".join("%g" % ((i * 37 % 61 - 30) / 64) for i in range(5 * 300))
    write("wide.assay", f"graph g {{\n input x: f32[3,300]\n const w: f32[5,300] = [{weights}]\n y: f32[3,5] = fc(x, w)\n output y\n}}\n".encode())
    write("wide.bin", struct.pack("<900f", *((i * 53 % 211 - 105) / 64 for i in range(900))))
    for unit, scales in (("x86-avx512-bf16", "none"), ("doc-amx-fp16", "none"), ("doc-arm-bfdot", "none"), ("tt-hifi4-bf16", "none"),
                         ("nv-hopper-f16-f16", "none"), ("nv-hopper-mma-e4m3-f16", "1x32"), ("nv-hopper-e4m3-promoted", "1x128")):
        write("above.yaml", f"{{scheme: above, mac: {{units: [{unit}], activation_scales: {scales}, weight_scales: {scales}}}}}".encode())
        got, out, err = assay("quantize", "wide.assay", "-s", "./above.yaml", "-o", "above.assay")
        check(got == 0, f"quantize for {unit}", out + err)
        got, out, err = assay("golden", "above.assay", "-s", "./above.yaml", "-i", "wide.bin", "--engine", "both", "-o", "above-" + unit)
        check(got == 0, f"both engines on {unit}, {scales}", out + err)


def main():
    write("codes.assay", b"graph g {\n input x: f32[4,32]\n q: i8[4,32] q(1,0) = quantize(x)\n y: f32[4,32] = dequantize(q)\n output y\n}\n")
    write("net.assay", NET.encode())
    write("x.bin", b"".join(int.to_bytes(0x3f800000 + i * 0x31415, 4, "little") for i in range(128)))
    for scheme in SCHEMES:
        through(scheme)
    faulty("hopper-fp8")
    record = "a scheme of matrix units"
    one_line("try", record, "scheme", "try", "hopper-fp8", "--acc", "5", "--multiplier", "3", "--shift", "1")
    one_line("vectors", record, "scheme", "vectors", "hopper-fp8", "tflite")
    one_line("mutants", record, "scheme", "vectors", "hopper-fp8", "--mutants")
    one_line("infer", record, "infer", "hopper-fp8", "hopper-fp8", "--among", "hopper-fp8")
    one_line("diff", "computes on matrix units", "scheme", "diff", "hopper-fp8", "tflite")
    got, out, err = assay("scheme", "diff", "hopper-fp8", "blackwell-mxfp8")
    check(got == 1 and "activation_scales    row                  mx\n" in out and "only hopper-fp8 has a unit for e5m2 by e5m2" in out
          and "align_bits           13                   25\n" in out, "diff of two schemes", out + err)
    write("other.yaml", b"{scheme: other, mac: {units: [nv-ada-e4m3-f32, nv-hopper-e5m2-f32]}}")
    got, out, err = assay("scheme", "diff", "hopper-fp8", "./other.yaml")
    check(got == 1 and "group                32                   16\n" in out and "nv-ada-e4m3-f32 gives 0x" in out, "the dot product that tells them apart", out + err)
    write("same.yaml", b"{scheme: same, mac: {units: [nv-hopper-e4m3-f32, nv-hopper-e5m2-f32]}}")
    got, out, err = assay("scheme", "diff", "hopper-fp8", "./same.yaml")
    check(got == 0 and "the same" in out, "diff of equal schemes", out + err)
    got, out, err = assay("quantize", "net.assay", "-s", "hopper-fp8", "-o", "q.assay")
    check(got == 0, "quantize", out + err)
    wrong_names()
    as_onnx()
    in_blocks()
    names_taken()
    above_steps()
    TAP.end()


with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
