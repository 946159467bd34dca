#!/usr/bin/python3
"""The Python package beside the command: the same schemes, files and bits; exceptions; memory; threads.

  package.py LIBRARY ASSAY        TAP
"""
import gc
import glob
import json
import os
import threading
import time
import weakref

from support import NET, RANDOM, SEED, TAP, check, command, np, raises, read, samples

import assay


def schemes():
    listed = [line.split()[0] for line in command("scheme", "list").splitlines()]
    units = [n for n in listed if n not in assay.presets()]  # arithmetic of matrix units: code, no record
    check(assay.presets() + units == listed and all(assay.Scheme(n).name == n for n in units), "the presets are those of the command", listed)
    listed = assay.presets()
    s = assay.Scheme("tflite")
    check(s.text in command("scheme", "show", "tflite") and s.digest in command("scheme", "show", "tflite"), "a scheme's text and digest")
    check(s["accumulator"]["bits"] == "32" and s["rescale"]["round"] == ["31 half-away", "half-away"] or isinstance(s["rescale"]["round"], list), "its parameters")
    check(all(assay.Scheme.from_dict(assay.Scheme(p).to_dict()).digest == assay.Scheme(p).digest for p in listed), "every preset through a dict and back")
    narrow = s.edit({"accumulator": {"bits": 20, "overflow": "saturate-at-end"}}, name="narrow")
    check(narrow.name == "narrow" and [d.parameter for d in s.diff(narrow)] == ["accumulator.bits", "accumulator.overflow"], "edited, and what differs",
          s.diff(narrow))
    check(s == assay.Scheme("tflite") and s != narrow and len({s, assay.Scheme("tflite"), narrow}) == 2, "equal where the digests are")
    raises(assay.InputError, "an edit that makes no sense", s.edit, {"accumulator": {"bits": 1000}}, words="bits")
    raises(assay.SchemeError, "no such scheme", assay.Scheme, "tflight", words="tflight")
    line = command("scheme", "check", "tflight", status=2).strip()
    try:
        assay.Scheme("tflight")
    except assay.AssayError as e:
        said = str(e).replace("`presets`", "`assay scheme list`").replace("`units`", "`assay scheme list --units`")
        check(line == f"assay: {said}" != f"assay: {e}", "the exception is the command's line, which names options instead of settings", line, str(e))


def rows():
    acc = RANDOM.integers(-(2 ** 20), 2 ** 20, 200)
    scale = np.exp(RANDOM.uniform(-9, -1, 200))
    zero = RANDOM.integers(-128, 128, 200)
    for name, values in (("acc", acc.astype(np.int32)), ("scale", scale), ("zp", zero.astype(np.int32))):
        np.save(f"{name}.npy", values)
    for name in ("tflite", "xnnpack-qs8", "npu16", "onnxruntime", "gemmlowp"):
        s = assay.Scheme(name)
        command("scheme", "apply", name, "--type", "i8", "--acc", "acc.npy", "--scale", "scale.npy", "--zp", "zp.npy", "--errors", "e.npy", "-o", "out.npy")
        codes, refused = s.apply(acc, scale=scale, zero_point=zero, type="i8", refused=True)
        check(np.array_equal(codes, np.load("out.npy")) and np.array_equal(refused, np.load("e.npy") != 0), f"rows of {name} as the command's")
    command("scheme", "derive", "tflite", "--scale", "scale.npy", "--multiplier", "m.npy", "--shift", "h.npy")
    m, h, _ = assay.Scheme("tflite").derive(scale)
    check(np.array_equal(m, np.load("m.npy")) and np.array_equal(h, np.load("h.npy")), "multipliers and shifts as the command's")
    s = assay.Scheme("tflite")
    check(s.apply(acc.reshape(2, 100), scale=0.01).shape == (2, 100), "rows keep their shape, numbers are stretched")
    check(np.array_equal(s.apply(acc, multiplier=m, shift=h), s.apply(acc, scale=scale)), "a multiplier and a shift are the scale")
    raises(assay.InputError, "a row needs one factor", s.apply, acc, words="a row is an accumulator")
    raises(assay.InputError, "accumulators are integers", s.apply, 0.5, scale=1.0, words="integers")
    raises(assay.InputError, "an accumulator beyond 2^47", s.apply, 2 ** 50, scale=1.0, words="acc, row 0")
    raises(assay.SchemeError, "a row that the target refuses", assay.Scheme("npu16").apply, [5, 5], scale=[0.5, 1e30], words="row 1")


def networks():
    with open("net.assay", "w", encoding="utf-8") as f:
        f.write(NET)
    net = assay.load("net.assay")
    check(str(net.inputs["x"]) == "f32[1,2,6,6]" and list(net.outputs) == ["out"] and [n.op for n in net.nodes][0] == "conv", "a network's inputs, outputs and nodes")
    check(assay.loads(NET).text() == net.text() and assay.loads(net.text()).digest == net.digest, "from memory the same, and from its own text")
    w = net.constant("w")
    check(w.shape == (3, 2, 3, 3) and not w.flags.writeable and w.flags.owndata is False, "a constant is a view")
    net.save("net.onnx")
    check(assay.loads(read("net.onnx"), "net.onnx").outputs["out"].shape == (1, 3, 1, 1), "ONNX out, and in from memory")
    raises(assay.InputError, "what is no network", assay.loads, b"\x07\x07 nothing", "junk", words="junk")
    raises(assay.InputError, "an empty one", assay.loads, b"", words="empty")
    raises(assay.FileError, "a file that is not there", assay.load, "nowhere.onnx", words="nowhere.onnx")
    raises(OSError, "which is an OSError", assay.load, "nowhere.onnx")
    raises(assay.InputError, "no such constant", net.constant, "x", words="'x'")
    raises(assay.InputError, "a shape for no input", assay.load, "net.onnx", shapes={"y": (1, 2)}, words="y=")
    del net
    gc.collect()
    check(abs(float(w[0, 0, 0, 1]) - 0.841) < 1e-3, "a view outlives its network")


def profiles(x):
    net = assay.load("net.assay")
    for k, sample in enumerate(x):
        np.save(f"x{k}.npy", sample)
    command("profile", "net.assay", *sum((["-i", f"x{k}.npy"] for k in range(len(x))), []), "-o", "command.yaml")
    whole = assay.Profile.of(net, preprocessing="", dataset="", whole=len(x))
    seen = []
    whole.observe(x, threads=1, progress=lambda done, total: seen.append((done, total)))
    whole.save("whole.yaml")
    check(read("whole.yaml") == read("command.yaml"), "a profile is the command's, to the byte")
    check(seen == [(k + 1, len(x)) for k in range(len(x))], "progress is told")
    parts = [assay.Profile.of(net, preprocessing="", dataset="", whole=len(x)) for _ in range(2)]
    cut = len(x) // 3
    parts[0].observe(x[cut:, 0], first=cut)
    parts[1].observe({"x": x[:cut]})
    raises(assay.InputError, "a part is missing", net.quantize, parts[0], "tflite", words="sample")
    raises(assay.InputError, "a sample twice", parts[1].observe, x[:1], first=0)
    parts[0].merge(parts[1])
    parts[0].save("merged.yaml")
    check(read("merged.yaml") == read("command.yaml"), "parts merge to the same bytes, what was refused has left no trace")
    raises(assay.InputError, "a sample of another shape", whole.observe, x[:, :, :, :3], words="'x'")
    again = assay.Profile.load("command.yaml")
    low, high = again.ranges["x"]
    check(again.samples == len(x) and low == x.min() and high == x.max(), "and read back")
    values = {v["name"]: v for v in again.to_dict()["values"]}
    check(sum(values["x"]["counts"]) == x.size, "every element is in a bin")
    return net, again


def coded_weights():
    text = ("graph g { input x: f32[1,4] const w: u4[2,4] q(axis=1,block=2,[0.5,0.25,1,2],[8,8,7,9]) = [0,9,3,15,1,2,8,7]\n"
            " r: f32[2,4] = dequantize(w) y: f32[1,2] = fc(x, r) output y }")
    x = RANDOM.integers(-8, 8, (4, 1, 4)).astype(np.float32)  # sums are exact: the order of the two does not matter
    x[0, 0] = (-8, 7, 3, -1)
    coded = assay.loads(text)
    raises(assay.InputError, "codes that are not made numbers", assay.Profile.of, coded, words="with decode")
    net = assay.loads(text, decode=True)
    rounded = text.replace(" y: f32[1,2] = fc(x", " h: f32[1,4] = cast(x) {to=f16} y: f32[1,2] = fc(h")
    kept = [assay.loads(rounded, decode=True, keep_narrow=narrow, canonical=canonical).text() for narrow, canonical in ((False, True), (True, True), (False, False))]
    check(["cast" in k for k in kept] == [False, True, True] and not any("dequantize" in k and "f32[2,4] = dequantize" in k for k in kept[:2]),
          "decoded as the other options say", kept)
    profile = assay.Profile.of(net)
    profile.observe(x)
    check(net.quantize(profile, "tflite").is_quantized and (assay.Program(net).run(x[0])["y"] == assay.Program(coded, "tflite").run(x[0])["y"]).all(), "weights held as codes, made numbers")


def packed_weights(net, q):
    command("quantize", "net.assay", "--weights", "q8_0", "-o", "packed.assay", "--json", "packed.json")
    packed = net.pack_weights("q8_0")
    check(packed.report == json.loads(read("packed.json")) and packed.text() == assay.load("packed.assay").text(), "weights in blocks, as the command's", packed.report)
    raises(assay.InputError, "no such blocks", net.pack_weights, "q4_1", words="expected q4_0")
    raises(assay.InputError, "weights in blocks of a quantized network", q.pack_weights, "q8_0", words="whose weights are floats")


def programs(net, profile, x):
    q = net.quantize(profile, "tflite")
    packed_weights(net, q)
    coded_weights()
    command("quantize", "net.assay", "-p", "command.yaml", "-s", "tflite", "-o", "q.assay")
    check(q.text() == assay.load("q.assay").text() and q.is_quantized and q.quantized_for == "tflite", "quantized as by the command")
    check(q.report["float"] == [] and q.report["integer"] == 2 and q.report["ranges"][0]["method"] == "min-max", "with a report", q.report)
    mixed = net.quantize(profile, "tflite", keep_float=["global*"], calibration=["mse"], precision={"conv": "i8"}, per_tensor=True, symmetry="symmetric")
    command("quantize", "net.assay", "-p", "command.yaml", "-s", "tflite", "--keep-float", "global*", "--calibration", "mse", "--precision", "conv=i8",
            "--per-tensor", "--symmetry", "symmetric", "-o", "mixed.assay")
    check(mixed.text() == assay.load("mixed.assay").text() and mixed.report["float"][0]["op"] == "global_avg_pool", "with every option as by the command")
    raises(assay.InputError, "a method that is none", net.quantize, profile, "tflite", calibration="median", words="median")
    raises(assay.InputError, "codes need a profile", net.quantize, None, "tflite", words="needs a profile")
    units = net.quantize(None, "hopper-fp8")  # a scheme of matrix units, whose scales come from the values
    command("quantize", "net.assay", "-s", "hopper-fp8", "-o", "units.assay")
    check(units.text() == assay.load("units.assay").text() and units.report["float"] == [], "for matrix units as by the command", units.report)
    patterns = [v for v in units.program("hopper-fp8").run(x[0]).values() if v.dtype == np.uint8]
    check(patterns, "patterns of small floats are unsigned arrays")
    results = {engine: q.program("tflite", engine=engine).run(x[0], accumulators=engine == "ref") for engine in ("ref", "fast", "both")}
    ref = results["ref"]
    check(all(np.array_equal(ref[n], r[n]) for r in results.values() for n in ref), "engines give the same bits")
    check(list(ref)[0] == "x" and ref["act"].dtype == np.int8 and not ref["act"].flags.writeable, "every tensor by name, in order of execution")
    check(list(ref.accumulators) == ["act", "out"] or "act" in ref.accumulators, "accumulators", list(ref.accumulators))
    t = ref.type("act")
    check(np.abs(ref.real("act") - net.program().run(x[0])["act"]).max() < 3 * float(t.scale[0]), "real values of codes are near the floats")
    check(list(ref.outputs) == ["out:f32"] and ref.outputs["out"].dtype == np.float32 and ref["out"].dtype == np.int8 and
          q.outputs["out"].dtype == np.float32, "an output computed as codes is found by its name", ref.outputs)
    raises(KeyError, "what is no output is not", ref.outputs.__getitem__, "act")
    few = q.program("tflite", keep_all=False).run({"x": x[0]})
    check(len(few) == 2 and np.array_equal(few[list(few)[1]], ref[list(few)[1]]), "without keep_all inputs and outputs alone")
    raises(assay.InputError, "an integer network without a scheme", q.program, words="scheme")
    raises(assay.InputError, "no such engine", q.program, "tflite", engine="slow", words="slow")
    raises(assay.InputError, "an input of another shape", q.program("tflite").run, x[0][:, :, :2], words="shape")
    raises(assay.InputError, "an input of another type", q.program("tflite").run, x[0].astype(np.int32), words="int32")
    raises(assay.InputError, "no such input", q.program("tflite").run, {"y": x[0]}, words="'x' is not given")
    check(q.program("tflite").contract["exact"] and net.program().contract is None, "the contract")
    better = net.quantize(profile, "tflite", integer_io=True).optimize("tflite")
    check(better.report["nodes"] <= better.report["nodes_before"] and isinstance(better.certificate, dict), "rewritten, with a certificate")
    return q


def measures(net, profile, q, x):
    labels = RANDOM.integers(0, 3, len(x))
    np.save("x.npy", x[:, 0])
    np.save("labels.npy", labels.astype(np.int32))
    data = ("-d", "x.npy", "--labels", "labels.npy", "-q", "--json", "-")
    judged = ("net.assay", "-p", "command.yaml", "-s", "tflite", *data)
    program, floating = q.program("tflite"), net.program()
    said = assay.evaluate(program, x, labels, reference=floating)
    check(said == {k: v for k, v in json.loads(command("eval", *judged)).items() if k != "scheme"}, "accuracy beside the float network, as the command's", said)
    best = [int(program.run(s)["out"].argmax()) for s in x]
    check(said.predictions.tolist() == best and abs(said["top1"] - 100 * np.mean(np.array(best) == labels)) < 1e-9, "by the classes that are predicted", said)
    alone = assay.evaluate(program, x, threads=1)
    check(alone["outputs"] == said["outputs"] and "top1" not in alone and "sqnr_db" not in alone, "without labels, alone", alone)
    raises(assay.InputError, "a label beyond the classes", assay.evaluate, program, x, labels + 3, words="label")
    raises(assay.InputError, "labels of other samples", assay.evaluate, program, x, labels[1:], words="labels")
    seen = []
    costs = assay.sensitivity(net, profile, "tflite", x, labels, progress=lambda done, total: seen.append((done, total)))
    check(costs == json.loads(command("sensitivity", *judged)) and seen[-1][0] < seen[-1][1], "what each node costs, as the command says", costs, seen)
    check(assay.sensitivity(net, profile, "tflite", x, labels, keep_float=["conv"])["nodes"][0]["node"] != "conv", "with options of quantizing")
    lines = []
    tuned = assay.tune(net, profile, "tflite", x, labels, target_sqnr=200, max_float=1, log=lines.append)
    told = json.loads(command("tune", *judged, "--target-sqnr", "200", "--max-float", "1", "-o", "tuned.assay", status=1, on="out"))
    check(tuned.report == told and tuned.text() == assay.load("tuned.assay").text() and len(lines) >= told["trials"], "tuned, as by the command", tuned.report, told)
    wider = assay.tune(net, profile, "tflite", x, labels, target_sqnr=45, max_float=0, wide="i16")
    told = json.loads(command("tune", *judged, "--target-sqnr", "45", "--max-float", "0", "--wide", "i16", "-o", "tuned.assay", on="out"))
    check(wider.report == told and told["options"]["precision"] and wider.text() == assay.load("tuned.assay").text(), "widened, as by the command", wider.report, told)
    raises(assay.InputError, "a wider type that is none", assay.tune, net, profile, "tflite", x, labels, wide="f32", words="wide")
    raises(assay.InputError, "codes cannot be judged", assay.tune, net, profile, "tflite", x, labels, integer_io=True, words="integer_io")


def memory(q, x):
    program = q.program("tflite")
    kept = [program.run(s)["act"] for s in x[:4]]
    copies = [k.copy() for k in kept]
    del program
    gc.collect()
    again = [q.program("tflite").run(s) for s in x] and None
    check(again is None and all(np.array_equal(a, b) for a, b in zip(kept, copies)), "arrays outlive run, program and later runs")
    run = q.program("tflite").sequence()
    first = run.step(x[0])["act"]
    same = np.array_equal(first, copies[0])
    run.step(x[1])
    check(same and np.array_equal(first, copies[1]), "a sequence's arrays hold the newest step, as said")
    for _ in range(30):  # cycles: their parts go in any order, what borrows must go first
        hold = {"program": q.program("tflite")}
        hold.update(run=hold["program"].sequence(), net=hold["program"].network, self=hold)
        hold["out"] = hold["run"].step(x[0])
        del hold
    check(gc.collect() > 0, "cycles of them go in good order")
    check(kept[0].base is not None and not kept[0].flags.owndata, "and none is a copy")


def threads(q, x):
    program = q.program("tflite")
    want = [program.run(s)["out"].copy() for s in x]
    got = assay.run_many(program, list(x) * 8, threads=4)
    check(all(np.array_equal(r["out"], want[i % len(x)]) for i, r in enumerate(got)), "many threads run one program")
    # The library waits for a command that waits for this thread: were the lock held, neither would end.
    errors = []

    def ask():
        try:
            assay.infer("touch asked; while [ ! -e go ]; do sleep 0.01; done; exit 3; :", kind="multiplier", type="i8", timeout=60)
        except assay.AssayError as e:
            errors.append(str(e))

    other = threading.Thread(target=ask)
    other.start()
    while not os.path.exists("asked") and other.is_alive():
        time.sleep(0.005)
    with open("go", "w", encoding="utf-8"):
        pass
    other.join()
    check(errors and "exit status 3" in errors[0], "other threads run while the library does", errors)


def golden(q, x):
    program = q.program("tflite")
    g = program.golden("golden", list(x[:2]), accumulators=True, formats="npy,hex")
    command("golden", "q.assay", "-s", "tflite", "-i", "x0.npy", "-i", "x1.npy", "--accumulators", "--format", "npy,hex", "-o", "command")
    check(g.manifest["digest"] == assay.Golden("command").manifest["digest"], "a bundle has the command's digest")
    check("good" in command("verify", "golden") and g.verify().good and g.verify(engine="both").good and g.verify(replay=False).good, "it is good, for both")
    check(g.samples == [0, 1] and np.array_equal(g["act"], program.run(x[0])["act"]) and np.array_equal(g.read("act", 1), program.run(x[1])["act"]), "read back, by sample")
    check(np.array_equal(g.read("act", accumulators=True), program.run(x[0], accumulators=True).accumulators["act"]), "accumulators too")
    raises(assay.FileError, "a folder that is there", program.golden, "golden", x[0], words="exists")
    raises(KeyError, "no such tensor", lambda: g["nothing"])
    raises(assay.InputError, "a sample that is wrong leaves no folder", program.golden, "half", [x[0], x[0][:, :1]])
    check(not glob.glob("half*") and not glob.glob(".half*"), "none at all", os.listdir("."))
    file = glob.glob("golden/tensors/s00001/*act*.npy")[0]
    data = bytearray(read(file))
    data[-1] ^= 1
    with open(file, "wb") as f:
        f.write(data)
    bad = assay.Golden("golden").verify()
    check(not bad.good and bad.files_bad and any("act" in line for line in bad.faults), "a changed byte is found", bad)


def devices(q, x):
    g = q.program("tflite").golden("reference", x[0])
    device = {name: np.array(g[name]) for name in g}
    check(assay.diff(g, device).same and assay.blame(g, device).clean, "a device that is right")
    device["act"] = np.minimum(device["act"].astype(int) + 1, 127).astype(np.int8)
    steps = []
    d, b = assay.diff(g, device), assay.blame(g, device, progress=lambda *step: steps.append(step))
    check(steps and steps == sorted(steps) and steps[-1][0] <= steps[-1][1], "blame tells how far it is", steps[-3:])
    check(not d.same and d.first == "act" and "DIFFERENT" in str(d) and d.tensors[0]["name"], "where one differs")
    check(assay.diff(g, device, max_lsb=1).same and assay.diff(g, device, tensors={"act": {"max_lsb": 1}}).same, "within a threshold")
    check(not b.clean and b.faults[0]["node"] == "conv", "who is to blame", b.report)
    assay.write_dumps("dumps", device, g)
    check(str(assay.diff("reference", "dumps")) == str(d) and command("diff", "reference", "dumps", status=1) == "", "from folders, too")
    inside = assay.explain(g, "conv", device)
    check(str(inside) == command("explain", "reference", "dumps", "conv") and inside.report["trace"]["steps"], "an element worked through, as the command does", inside)
    check(assay.explain("reference", "conv[0,0,0,0]", sample=0).report["replayed"] == int(g["act"][0, 0, 0, 0]), "without a device, too")
    raises(assay.InputError, "no such node", assay.explain, g, "nothing", device, words="nothing")
    capsule = assay.capsule(g, device, "conv", "capsule")
    said = command("capsule", "reference", "dumps", "conv", "-o", "twin")
    check(str(capsule).replace("capsule", "twin") == said and not assay.blame("capsule/golden", "capsule/device").clean, "a capsule, as the command's", capsule, said)
    check(capsule.report["node"] == "conv" and 0 < capsule.report["differing"] <= capsule.report["elements"], "and what it holds", capsule.report)
    raises(assay.InputError, "a capsule of no node", assay.capsule, g, device, "nobody", "none", words="nobody")
    assay.report("page.html", g, d, b, model_explorer="node-data")
    command("diff", "reference", "dumps", "--json", "diff", status=1), command("blame", "reference", "dumps", "--json", "blame", status=1)
    command("report", "reference", "diff", "blame", "-o", "twin.html", "--model-explorer", "twin-data")
    same = all(open(f"{a}/{f}").read() == open(f"{b}/{f}").read() for a, b in (("node-data", "twin-data"),) for f in os.listdir(b))
    check(open("page.html").read() == open("twin.html").read() and same, "a report, as the command's")
    raises(assay.InputError, "a report of what is none", assay.report, None, {"a": 1}, words="not a golden bundle")
    raises(assay.InputError, "a report of nothing", assay.report, "page.html", words="0 files")
    raises(assay.InputError, "no such tensor", assay.diff, g, {"nothing": np.zeros(3)}, words="nothing")
    raises(assay.InputError, "no such measure", assay.diff, g, device, tensors={"act": {"lsb": 1}}, words="lsb")
    assay.assert_bits(device, g, max_lsb=1)
    raises(AssertionError, "assert_bits says diff and blame", assay.assert_bits, device, g, words="first at #")


def asking(q, x):
    def unit(rows):  # one product, one shift that rounds half up, saturated; bounded rows it does not have
        product = rows["acc"].astype(np.int64) * rows["multiplier"]
        half = np.where(rows["shift"] > 0, 1 << np.maximum(rows["shift"].astype(np.int64) - 1, 0), 0)
        return np.clip(((product + half) >> rows["shift"]) + rows["zp"], rows.get("lo", -128), rows.get("hi", 127))

    start = time.perf_counter()
    told = []
    found = assay.infer(unit, kind="multiplier", type="i8", multiplier=(0, 65535), shift=(1, 24), acc_bits=24, progress=lambda *step: told.append(step))
    print(f"# rows asked in {time.perf_counter() - start:.1f} s")
    check(found.verdict in ("unique", "class") and "half-up" in found.scheme_text and found.scheme().name, "a function asked by rows is found", found)

    check(told[-1] == (found.report["rows"], 20000) and told == sorted(told), "and how far it is, told", told[-3:])

    tflite = assay.Scheme("tflite")

    def scales(r):
        return tflite.apply(r["acc"], in_scale=r["in_scale"], weight_scale=r["weight_scale"], out_scale=r["out_scale"], zero_point=r["zp"],
                            lo=r.get("lo"), hi=r.get("hi"), type="i8", refused=True)

    few = assay.infer(scales, kind="scale", type="i8", budget=50)
    check(few.verdict == "class" and few.report["rows"] <= 50, "a budget that is soon spent leaves a class, and ends", few)

    held = []

    def broken(rows):
        held.extend(map(weakref.ref, rows.values()))
        raise ZeroDivisionError("in the oracle")

    raises(ZeroDivisionError, "an oracle's own exception", assay.infer, broken, kind="multiplier", type="i8", words="in the oracle")
    raises(assay.InputError, "a kind that is none", assay.infer, unit, kind="rows", type="i8", words="kind")
    arm = assay.MatrixUnit("arm-fmmla-f32")

    def dots(rows):
        return arm.dot(rows["a"], rows["b"], c=rows["c"])

    found = assay.infer_dot(dots, a="f32", b="f32", acc="f32", k=8, budget=400, seconds=1)
    check(found.verdict == "class" and "arm-fmmla-f32" in found.presets and found.report["rows"] <= 400, "a function asked by dot products is found", found)
    x = np.arange(16, dtype=np.uint32).reshape(2, 8) + 0x3f800000
    check((found.unit().dot(x, x) == arm.dot(x, x)).all(), "and its unit computes as it does")
    raises(TypeError, "which is no scheme", found.scheme, words="a matrix unit")
    raises(ZeroDivisionError, "an oracle of dot products and its own exception", assay.infer_dot, broken, a="f16", b="f16", acc="f32", k=4, words="in the oracle")
    gc.collect()
    check(held and all(r() is None for r in held), "and what an oracle held that raised is let go", held)
    raises(assay.InputError, "a format that is none", assay.infer_dot, dots, a="f17", b="f16", acc="f32", k=4, words="'f17'")
    raises(assay.InputError, "a scale without its block", assay.infer_dot, dots, a="f16", b="f16", acc="f32", k=4, scale="e8m0", words="scale_block")
    raises(assay.InputError, "a unit's text that is none", assay.MatrixUnit.from_text, "unit: x\n", words="text")
    assay.probe("probes", ops=["sigmoid"], formats=["onnx"])
    check(os.path.exists("probes/sigmoid/sigmoid.onnx"), "probes are written")
    raises(assay.InputError, "probes of no op", assay.probe, "none", ops=["nothing"], words="nothing")
    start = time.perf_counter()
    said = assay.infer_answers("reference", "reference/tensors", schemes=["tflite", "xnnpack-qs8"], only=True)
    print(f"# answers judged in {time.perf_counter() - start:.1f} s")
    check("tflite" in said.presets and "tflite" in said.text, "a network's own answers are tflite", said)


def main():
    print(f"# ASSAY_SEED={SEED}")
    x = samples(9)
    schemes()
    rows()
    networks()
    net, profile = profiles(x)
    q = programs(net, profile, x)
    measures(net, profile, q, x)
    memory(q, x)
    threads(q, x)
    golden(q, x)
    devices(q, x)
    asking(q, x)
    check(assay.__version__ in command("--version") and "to_dict" in dir(assay.Scheme) and all(getattr(assay, n).__doc__ for n in assay.__all__), "all that is public is documented")


main()
TAP.end()
