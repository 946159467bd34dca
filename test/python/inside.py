#!/usr/bin/python3
"""Arithmetic looked into, data sets, drawings and dumps of a network: the Python package beside the command.

  inside.py LIBRARY ASSAY        TAP
"""
import json
import os
import pickle

from support import NET, RANDOM, SEED, TAP, TOP, check, command, np, raises, read, samples

import assay

GLYPHS = os.path.join(TOP, "datasets/glyphs/test")


def rescales():
    s = assay.Scheme("xnnpack-qs8")
    steps = s.try_row(585, scale=0.0111111114, zero_point=-126)
    asked = ("scheme", "try", "xnnpack-qs8", "--acc", "585", "--scale", "0.0111111114", "--zp", "-126")
    check(str(steps) == command(*asked) and steps.report == json.loads(command(*asked, "--json", "-")), "a rescale step by step, as the command", steps)
    for name in ("tflite", "npu16", "gemmlowp", "tosa-double"):
        acc = int(RANDOM.integers(-2 ** 20, 2 ** 20))
        scale = float(np.float32(np.exp(RANDOM.uniform(-8, -2))))
        said = assay.Scheme(name).try_row(acc, scale=scale).report
        check(said["code"] == int(assay.Scheme(name).apply(acc, scale=scale)) and said["acc"] == acc, f"the code of {name} is that of apply()", said)
    formed = s.try_row(100, in_scale=0.5, weight_scale=0.25, out_scale=2.0)
    check(formed.report["steps"][0][0] == "scales", "of three scales", formed)
    raises(assay.InputError, "several rows", s.try_row, [1, 2], scale=0.5, words="only a single row")
    raises(assay.InputError, "no factor", s.try_row, 1, words="a row is an accumulator")
    raises(assay.SchemeError, "a scale that is refused", assay.Scheme("npu16").try_row, 5, scale=1e30, words="npu16")


def units():
    check([line.split()[0] for line in command("scheme", "list", "--units").splitlines()] == assay.units(), "the units are the command's")
    for name in assay.units():
        check(assay.MatrixUnit(name).to_dict() == json.loads(command("scheme", "show", name, "--json", "-")), f"{name} as the command shows it")
    volta = assay.MatrixUnit("nv-volta-f16-f32")
    a, b = np.array([[0x3C00, 0x8C00, 0, 0]], np.uint16), np.array([[0x3C00, 0x0C00, 0, 0]], np.uint16)
    check(volta.dot(a, b).tolist() == [0x3F800000] and volta.dot(a, b).dtype == np.uint32, "a dot product", volta.dot(a, b))
    check(volta.dot(a, b, c=np.array([0x3F800000])).tolist() == [0x40000000], "with an accumulator")
    asked = ("scheme", "try", volta.name, "--a", "0x3c00,0x8c00,0,0", "--b", "0x3c00,0x0c00,0,0")
    steps = volta.try_row(a[0], b[0])
    check(str(steps) == command(*asked) and steps.report == json.loads(command(*asked, "--json", "-")), "step by step, as the command", steps)
    check(steps.report["d"] == "0x3f800000" and "\n".join(steps.report["steps"]) in str(steps), "the same in both forms", steps.report)
    pair = ("scheme", "diff", volta.name, "nv-hopper-f16-f32")
    other = volta.diff("nv-hopper-f16-f32")
    check(other.apart and str(other) == command(*pair, status=1, on="out"), "where two differ, as the command", other)
    check(other.report == json.loads(command(*pair, "--json", "-", status=1, on="out")), "as JSON too", other.report)
    row = other.report["row"]
    left, right = (np.array([[int(x, 16) for x in row[k]]], np.uint16) for k in "ab")
    for u, d in zip((volta, assay.MatrixUnit("nv-hopper-f16-f32")), row["d"]):
        check(u.dot(left, right, c=[int(row["c"][0], 16)]).tolist() == [int(d, 16)], f"and {u.name} gives it")
    same = volta.diff(volta)
    check(not same.apart and same.report["parameters"] == [] and same.report["row"] is None, "none with itself", same.report)
    far = volta.diff("x86-avx512-bf16").report
    check(far["row"] is None and "formats" in far["unlike"], "no common row", far)
    scaled = assay.MatrixUnit("nv-blackwell-mxf8-e4m3")
    eight = np.full((1, 32), 0x38, np.uint8)
    check(scaled.dot(eight, eight, scale_a=[[128]], scale_b=[[128]]).tolist() == [0x43000000], "block scales")
    raises(assay.InputError, "scales that lack", scaled.dot, eight, eight, words="scales")
    raises(assay.InputError, "scales too many", volta.dot, a, b, scale_a=[[1]], scale_b=[[1]], words="no block scales")
    raises(assay.InputError, "a k that is no multiple", volta.dot, a[:, :3], b[:, :3], words="multiples of 4")
    raises(assay.InputError, "another shape", volta.dot, a, b[:, :2], words="b takes")
    raises(assay.InputError, "a pattern too wide", volta.dot, [[65536, 0, 0, 0]], b, words="16 bits")
    raises(assay.InputError, "no such unit", assay.MatrixUnit, "nv-volt", words="nv-volt")
    check(pickle.loads(pickle.dumps(volta)).to_dict() == volta.to_dict(), "a unit is pickled")


def profiles():
    net = assay.loads(NET)
    net.save("net.assay")
    x = samples(4)
    p = assay.Profile.of(net, per_channel="act")
    p.observe(x)
    p.save("p.yaml")
    asked = ("profile", "show", "p.yaml", "--scheme", "tflite", "--calibration", "mse", "--channels")
    said = p.show(scheme="tflite", calibration=["mse"], channels=True, svg="py.svg", html="py.html", name="p.yaml")
    check(said == json.loads(command(*asked, "--json", "-", "--svg", "c.svg", "--html", "c.html")), "what codes would represent, as the command", said)
    check(read("py.svg") == read("c.svg") and read("py.html") == read("c.html"), "the drawings, to the byte")
    check(all(v["type"] == "u4" for v in p.show(type="u4")["values"]) and len(p.show(value="out")["values"]) == 1, "of a type, of a value")
    raises(assay.InputError, "no such value", p.show, value="nobody", words="matches")
    raises(assay.InputError, "codes that are none", p.show, type="f32", words="i2..i16")
    raises(assay.InputError, "a method that is none", p.show, calibration=["median"], words="median")
    return net, p, x


def datasets():
    net = assay.load(os.path.join(TOP, "datasets/models/res_dsconv.onnx"))
    d = assay.Dataset(GLYPHS, net)
    data = d[:12]
    check(data.shape == (12, *net.inputs[list(net.inputs)[0]].shape) and np.array_equal(d[3], data[3]) and np.array_equal(d[-1], d[len(d) - 1]), "samples", data.shape)
    told = json.loads(command("eval", os.path.join(TOP, "datasets/models/res_dsconv.onnx"), "-d", GLYPHS, "-q", "-n", "12", "--json", "-"))
    said = assay.evaluate(net.program(), data, d.labels[:12])
    check(said["top1"] == told["top1"] and said["samples"] == 12, "accuracy on them is the command's", said, told)
    check(len(d.labels) == len(d) and d.maps() is None and "dtype" in d.preprocessing, "labels, and the preprocessing in words", d.preprocessing)
    net.profile().observe(data)
    raises(IndexError, "a sample beyond", lambda: d[len(d)], words="samples")
    raises(assay.InputError, "no such input", assay.Dataset, GLYPHS, net, input="z", words="'z'")
    raises(assay.FileError, "no such folder", assay.Dataset, "nowhere", net, words="nowhere")
    raises(assay.InputError, "images for what takes none", assay.Dataset, GLYPHS, assay.loads(NET), words="holds")
    two = assay.loads("graph two { input x: f32[1,2]\n input y: f32[1,2]\n z: f32[1,2] = add(x, y)\n output z }\n")
    np.savez("two.npz", x=np.ones((3, 2), np.float32), y=np.zeros((3, 2), np.float32))
    check(assay.Dataset("two.npz", two, input="y")[0].tolist() == [[0, 0]] and assay.Dataset("two.npz", two, input="y", array="x")[2].tolist() == [[1, 1]], "arrays of .npz")
    raises(assay.InputError, "which input", assay.Dataset, "two.npz", two, words="input=")
    tokens = assay.loads("graph lm { input ids: i32[1,4]\n const t: f32[3,2] = [1,2,3,4,5,6]\n y: f32[1,4,2] = gather(t, ids) {axis = 0}\n output y }\n")
    with open("t.txt", "w", encoding="utf-8") as f:
        f.write("1 2 3 4 5 6 7 8 9")
    check(assay.Dataset("t.txt", tokens, stride=2)[1].tolist() == [[3, 4, 5, 6]], "a stream of tokens")
    step = assay.loads("graph lm { input id: i32[1,1]\n const t: f32[7,2] = [1,2,3,4,5,6,7,8,9,10,11,12,13,14]\n y: f32[1,1,2] = gather(t, id) {axis = 0}\n output y }\n")
    raises(assay.InputError, "whose input takes one at a time", assay.Dataset, "t.txt", step, words="one at a time, `next_tokens`")
    check([x.tolist() for x in assay.Dataset("t.txt", step, next_tokens=True)][1:3] == [[[2]], [[3]]], "and they are, when asked")
    pixels = assay.loads("graph seg { input x: f32[1,2,2]\n y: f32[1,2,2] = relu(x)\n output y }\n")
    np.save("s.npy", np.zeros((2, 2, 2), np.float32))
    np.save("m.npy", np.array([[[0, 1], [255, 2]], [[3, 3], [3, 3]]], np.uint8))
    maps = assay.Dataset("s.npy", pixels, labels="m.npy").maps()
    check(maps is not None and maps.tolist() == [[[0, 1], [-1, 2]], [[3, 3], [3, 3]]], "label maps", maps)


def answers(net, p, x):
    net.quantize(p, "tflite").save("q.assay")
    q = assay.load("q.assay")
    g = q.program("tflite").golden("g", x[0])
    device = {name: np.array(g[name]) for name in g}
    found = assay.infer_dumps("q.assay", device)
    assay.write_dumps("dumps", device, g)
    command("infer", "--model", "q.assay", "--dumps", "dumps", "-o", "found.yaml", "--json", "found.json", status=1)
    with open("found.json", encoding="utf-8") as f:
        told = json.load(f)
    told.pop("found", None)
    check("tflite" in found.presets and found.presets == told["presets"], "what dumps say, as the command", found, told)
    device.pop("x")
    raises(assay.InputError, "an input that is not dumped", assay.infer_dumps, "q.assay", device, words="'x'")
    check(assay.infer_dumps("q.assay", device, x[:1]).presets == found.presets, "given beside the dumps")
    raises(assay.InputError, "a float network", assay.infer_dumps, "net.assay", device, words="float")
    raises(assay.FileError, "no such dumps", assay.infer_dumps, "q.assay", "nowhere", words="nowhere")
    device = {name: np.array(g[name]) for name in g}
    device["act"] = np.minimum(device["act"].astype(int) + 1, 127).astype(np.int8)
    assay.write_dumps("wrong", device, g)
    assay.blame(g, "wrong", html="py-blame.html", junit="py-blame.xml")
    command("blame", "g", "wrong", "--html", "c-blame.html", "--junit", "c-blame.xml", status=1)
    check(read("py-blame.html") == read("c-blame.html") and read("py-blame.xml") == read("c-blame.xml"), "blame's pages, to the byte")


def probes():
    assay.probe("probes", ops=["conv"], formats=["text"])
    os.makedirs("outputs/conv")
    net = assay.load("probes/conv/conv.assay")
    files = {n[:-4]: np.load(f"probes/conv/inputs/{n}") for n in os.listdir("probes/conv/inputs")}
    for name, value in net.program("tflite").run(files).items():
        if name not in files:
            np.save(f"outputs/conv/{name}.npy", value)
    found = assay.infer_answers("probes", "outputs", next="next-py")
    said = command("infer", "probes", "outputs", "--next", "next-c", status=1, on="out")
    check(str(found).replace("next-py", "next-c") == said, "the next probe, as the command says", found, said)
    check(os.path.isdir("next-py") == os.path.isdir("next-c"), "and is there where it is")
    raises(assay.FileError, "a next probe that is there", assay.infer_answers, "probes", "outputs", next="probes", words="probes")


print(f"# seed {SEED}")
rescales()
units()
NETWORK, PROFILE, X = profiles()
datasets()
answers(NETWORK, PROFILE, X)
probes()
TAP.end()
