#!/usr/bin/env python3
"""report.py ASSAY: the page of `assay report` and its data for Model Explorer.

The page is read by html.parser: every tag is closed, every link leads to something, nothing is asked of a network, no name
of a stranger's bundle is markup, and the same files give the same bytes. A Chromium, where there is one, loads it without a message.
"""
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from support import TAP, check, npy, read, write

ASSAY = os.path.realpath(sys.argv[1])
EMPTY = {"meta", "link", "br", "img", "input", "hr"}
SEED = int(os.environ.get("ASSAY_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
RANDOM = random.Random(SEED)
CASES = int(os.environ.get("CASES", "60"))
LABELS = [i * i % 5 for i in range(8)]
HOSTILE = "\"><script>alert('x')</script>&amp;\\' onload=x \x01\u202e"


def assay(status, *args):
    run = subprocess.run([ASSAY, *args], capture_output=True, timeout=120, check=False, text=True)
    if run.returncode != status:
        raise SystemExit(f"Bail out! assay {' '.join(args)}: {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout + run.stderr


class Page(html.parser.HTMLParser):
    """A page's open tags, faults, anchors, links, scripts, headings and text."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.ids, self.links, self.scripts, self.outside = [], [], [], [], 0, []
        self.heads, self.words, self.tags = [], [], {}
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.feed(self.text)
        self.close()
        self.faults += [f"<{t}> is not closed" for t in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.scripts += tag == "script"
        for name, value in attrs:
            self.faults += [f"{tag} {name}"] if name.startswith("on") else []
            if name == "id":
                self.ids.append(value)
            elif name == "href" and value.startswith("#"):
                self.links.append(value[1:])
            elif name in ("src", "href", "action", "data", "srcset", "xlink:href") and not value.startswith("data:image/bmp;base64,"):
                self.outside.append(value)
            elif name == "style" and "url(" in value:
                self.outside.append(value)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> in {self.open[-3:]}")
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)
        if self.open and self.open[-1] in ("h2", "h3", "h4"):
            self.heads.append(data)


def prepare():
    """A network with a way around, profiled, quantized, and its bundle; a device that differs."""
    write("f.assay", b"graph f {\n input x: f32[1,2,6,6]\n"
          b" const w: f32[2,2,3,3] = [" + b",".join(b"%d.%d" % (i % 3 - 1, i * 7 % 10) for i in range(36)) + b"]\n"
          b" const b: f32[2] = [0.5,-0.5]\n"
          b" y: f32[1,2,6,6] = conv(x, w, b) {layout=nchw, kernel=[3,3], pad_begin=[1,1], pad_end=[1,1]}\n"
          b" r: f32[1,2,6,6] = relu(y)\n z: f32[1,2,6,6] = add(r, x)\n output z\n}\n")
    npy("d.npy", "<f4", (8, 2, 6, 6), [(i * 7 % 13 - 6) / 3 for i in range(8 * 72)])
    assay(0, "profile", "f.assay", "-d", "d.npy", "-q", "-o", "p.yaml")
    assay(0, "quantize", "f.assay", "-p", "p.yaml", "-s", "tflite", "-o", "q.assay")
    assay(0, "golden", "q.assay", "-s", "tflite", "-d", "d.npy", "-n", "3", "-o", "good")
    assay(0, "golden", "q.assay", "-s", "tflite", "-d", "d.npy", "-n", "2", "--digests-only", "-o", "digests")
    shutil.copytree("good", "bad")
    folder = "bad/tensors/s00000"
    for name in os.listdir(folder):
        if "_conv_" in name:
            data = read(f"{folder}/{name}")
            write(f"{folder}/{name}", data[:-1] + bytes([data[-1] ^ 1]))
    assay(1, "diff", "good", "bad", "--json", "diff.json")
    assay(1, "blame", "good", "bad", "-q", "--json", "blame.json")
    assay(0, "sensitivity", "f.assay", "-p", "p.yaml", "-s", "tflite", "-d", "d.npy", "-q", "--json", "sens.json")
    npy("one.npy", "<f4", (1, 2, 6, 6), [(i * 7 % 13 - 6) / 3 for i in range(72)])
    assay(0, "run", "q.assay", "-s", "tflite", "-i", "one.npy", "-i", "one.npy", "--json", "run.json")
    write("c.assay", b"graph c {\n input x: f32[1,4]\n const w: f32[5,4] = [" + b",".join(b"%d.%d" % (i % 5 - 2, i * 3 % 10) for i in range(20)) +
          b"]\n y: f32[1,5] = fc(x, w)\n output y\n}\n")
    npy("e.npy", "<f4", (8, 4), [(i * 7 % 13 - 6) / 3 for i in range(32)])
    npy("l.npy", "<i4", (8,), LABELS)
    assay(0, "profile", "c.assay", "-d", "e.npy", "-q", "-o", "c.yaml")
    assay(0, "eval", "c.assay", "-p", "c.yaml", "-s", "tflite", "-d", "e.npy", "-q", "--labels", "l.npy", "--json", "eval.json")


def sound(name, page, scripts=2):
    check(not page.faults, f"{name}: every tag is closed, no attribute is a script", page.faults[:5])
    lost = sorted(set(page.links) - set(page.ids))
    check(not lost and len(set(page.ids)) == len(page.ids), f"{name}: links lead to something, which is there once", lost[:5])
    urls = set(re.findall(r"https?:[^\s\"'<>]*", page.text)) - {"http://www.w3.org/2000/svg"}
    check(not page.outside and not urls and "@import" not in page.text, f"{name}: nothing from outside", page.outside[:3], urls)
    check(page.scripts == scripts, f"{name}: its own scripts alone", page.scripts)


def whole():
    files = ("good", "p.yaml", "eval.json", "run.json", "sens.json", "diff.json", "blame.json")
    said = assay(0, "report", *files, "-o", "r.html")
    check(said == "r.html: 7 chapters\n", "says what it wrote", said)
    page = Page("r.html")
    sound("of everything", page)
    assay(0, "report", *files, "-o", "again.html")
    check(read("r.html") == read("again.html"), "the same files give the same bytes")
    boxes = re.findall(rb'</title><rect (x="[^"]*" y="[^"]*" width="[^"]*" height="[^"]*") rx="\d+"/>(<svg [^>]*>)?', read("r.html"))
    check(len(boxes) == 5 and all(b"<svg " + box + b">" == words for box, words in boxes), "a box of the drawing clips its words", boxes)
    strips = [float(h) for h in re.findall(rb'<svg viewBox="0 [0-9.]+ [0-9.]+ ([0-9.]+)" style="--w', read("r.html"))]
    check(strips and max(strips) * 0.75 <= 240 * 96 / 25.4 / 4, "the drawing is cut into strips of a quarter of a page, which fill it when printed", strips)
    run = subprocess.run([ASSAY, "report", *files, "-o", "-"], capture_output=True, check=False)
    check(run.returncode == 0 and run.stdout == read("r.html"), "on standard output alone", run.stderr)
    text = " ".join(page.words)
    chapters = [h for h in page.heads if h.strip() in ("golden bundle", "profile", "eval", "run", "sensitivity", "diff", "blame")]
    check(len(chapters) == 7, "a chapter a file", page.heads)
    manifest = json.loads(read("good/manifest.json"))
    names = {t["name"] for t in manifest["tensors"]}
    check(len([i for i in page.ids if re.fullmatch(r"c1t\d+", i)]) == len(names), "each tensor once, of all samples", names)
    check(page.tags["img"] == len(names), "each with a picture", page.tags["img"])
    multiplier = next(n["parameters"]["multiplier"] for n in manifest["nodes"] if n["op"] == "conv")
    check(", ".join(map(str, multiplier)) in text, "the integers of a unit", multiplier)
    check("3 samples" in text and "Memory plan" in text and "bit-exact" in text, "samples, plan, contract")
    check(all(w in text for w in ("own", "inherited", "different", "SQNR of quantization, isolated, dB", "time, share")), "measures of nodes")
    times = json.loads(read("run.json"))
    nodes = [(n["name"], n["op"], n["outputs"][0]) for n in manifest["nodes"]]
    check([(n["node"], n["op"], n["value"]) for n in times["nodes"]] == nodes and times["samples"] == 2 and
          abs(sum(n["ms"] for n in times["nodes"]) - times["ms"]) < 1e-6 * times["ms"] and all(n["ms"] > 0 for n in times["nodes"]), "run --json: times of nodes", times)
    return text


def statistics(text):
    """The counts of a tensor are those of its elements in all samples."""
    manifest = json.loads(read("good/manifest.json"))
    data = [b"".join(read(os.path.join("good", t["file"]))[-72:] for t in manifest["tensors"] if t["name"] == name)
            for name in sorted({t["name"] for t in manifest["tensors"] if t["op"] == "add"})]
    codes = [b - 256 if b > 127 else b for b in data[0]]
    low, high = (f"{100 * codes.count(c) / len(codes):.3g} %" for c in (-128, 127))
    want = f"{len(codes)} in 3 samples;"
    check(want in text and f"at the least code {low} , at the greatest {high}".replace(" ,", ",") in text, "counts", want, low, high)
    check(f"{min(codes)} to {max(codes)}, as reals" in text, "least and greatest code", min(codes), max(codes))


def classes(text):
    """What eval says of each class: the labels, and as many right answers as top-1 has."""
    said = json.loads(read("eval.json"))
    rows = {r["class"]: r for r in said["classes"]}
    check({c: r["samples"] for c, r in rows.items() if r["samples"]} == {c: LABELS.count(c) for c in LABELS}, "by class: the labels", rows)
    check(abs(sum(r["right"] for r in rows.values()) * 12.5 - said["top1"]) < 1e-9 and abs(sum(r["float_right"] for r in rows.values()) * 12.5 - said["float_top1"]) < 1e-9 and
          sum(r["answered"] for r in rows.values()) == 8 and all(r["right"] <= min(r["samples"], r["answered"]) for r in rows.values()), "right and answered", said)
    check("By class" in text, "on the page")


def alone():
    """Each file alone; a bundle of digests; what is left out."""
    for name in ("good", "digests", "p.yaml", "eval.json", "run.json", "sens.json", "diff.json", "blame.json"):
        assay(0, "report", name, "-o", "one.html")
        sound(name, Page("one.html"))
    assay(0, "report", "good", "good", "-o", "one.html")
    sound("twice the same", Page("one.html"))
    assay(0, "report", "good", "--value", "no such*", "-o", "one.html")
    page = Page("one.html")
    check("img" not in page.tags, "--value leaves tensors out", page.tags)


def hostile():
    """Names that are markup, in a bundle and in JSON."""
    shutil.copytree("good", "evil")
    manifest = json.loads(read("good/manifest.json"))
    name = manifest["nodes"][1]["outputs"][0]
    text = json.dumps(manifest).replace(json.dumps(name), json.dumps(HOSTILE + "</style>]]>-->"))
    write("evil/manifest.json", text.replace('"conv"', json.dumps("co<i>nv")).encode())
    for kind in ("blame", "diff"):
        report = json.loads(read(f"{kind}.json"))
        write(f"evil-{kind}.json", json.dumps(report).replace(json.dumps(name), json.dumps(HOSTILE)).replace('"own"', '"o<u>wn"').encode())
    assay(0, "report", "evil", "evil-blame.json", "evil-diff.json", "-o", "evil<&>.html")
    page = Page("evil<&>.html")
    sound("hostile names", page)
    check("alert('x')" in " ".join(page.words) and not {"i", "u"} & set(page.tags), "are text", page.tags)


def places(o, path=()):
    """Every entry below the top of a JSON."""
    for key, value in (o.items() if isinstance(o, dict) else enumerate(o) if isinstance(o, list) else ()):
        yield path + (key,)
        yield from places(value, path + (key,))


def mutated(text):
    """The JSON with one entry that is something else, or is not there."""
    o = json.loads(text)
    *path, last = RANDOM.choice(list(places(o)))
    at = o
    for key in path:
        at = at[key]
    other = RANDOM.choice((None, True, -1, 0, 1 << 62, 1e300, "", "x\u0000<&>" * 9, [], {}, [[]], ["x", 1, None], {"x": {"x": []}}))
    if RANDOM.random() < 0.2 and isinstance(at, dict):
        del at[last]
    else:
        at[last] = other
    return json.dumps(o)


def damaged():
    """Files that are not as they were written: a sound page, or one line."""
    shutil.copytree("good", "strange")
    bad, sound_pages = [], 0
    for n in range(CASES):
        which = RANDOM.choice(("strange/manifest.json", "blame.json", "diff.json", "sens.json", "run.json", "eval.json"))
        text = mutated(read("good/manifest.json" if "strange" in which else which))
        path = which if "strange" in which else "strange.json"
        write(path, text.encode())
        run = subprocess.run([ASSAY, "report", "strange" if "manifest" in path else "good", "strange.json" if path == "strange.json" else "diff.json",
                              "-o", "strange.html"], capture_output=True, text=True, timeout=120, check=False)
        if run.returncode == 0:
            page = Page("strange.html")
            sound_pages += 1
            good = not page.faults and not page.outside and page.scripts == 2 and not set(page.links) - set(page.ids)
        else:
            good = run.returncode == 2 and run.stderr.count("\n") == 1
        if not good:
            bad.append((which, run.returncode, run.stderr[:200]))
            write(f"{n}.json", text.encode())
        if path != "strange.json":
            write(path, read("good/manifest.json"))
    check(not bad and sound_pages > CASES / 3, f"{CASES} damaged files (seed {SEED}): {sound_pages} sound pages, others refused in a line", bad[:3])


def refused(name, pattern, *args):
    run = subprocess.run([ASSAY, "report", *args], capture_output=True, check=False, text=True)
    check(run.returncode == 2 and run.stderr.count("\n") == 1 and re.search(pattern, run.stderr), name, run.returncode, run.stderr)


def refusals():
    write("some.txt", b"hello\n")
    write("some.json", b'{"a": 1}')
    write("list.json", b"[1, 2]")
    write("half.json", b'{"scheme": "tflite",')
    write("empty", b"")
    os.mkdir("folder")
    for path in ("some.txt", "some.json", "list.json", "empty"):
        refused(f"{path} is none of these", rf"^assay: {path}: not a golden bundle, a profile", path, "-o", "no.html")
    refused("half a JSON", r"half.json: .*: line 1", "half.json", "-o", "no.html")
    refused("a folder without a manifest", "folder.*manifest", "folder", "-o", "no.html")
    refused("a file that is not there", "nowhere: cannot open: No such file", "good", "nowhere", "-o", "no.html")
    refused("no output", "pass -o", "good")
    refused("nothing by node", "need a golden bundle", "eval.json", "--model-explorer", "data")
    check(not os.path.exists("no.html") and not os.path.exists("data"), "and nothing is written")
    before = read("good/manifest.json"), read("eval.json"), sorted(os.listdir("good"))
    os.symlink("eval.json", "link.json")
    os.symlink("good", "linked")
    for path in ("eval.json", "./good/../eval.json", "link.json", os.path.abspath("eval.json")):
        refused(f"a page over {path}", "would be written over 'eval.json'", "good", "eval.json", "-o", path)
    for path in ("good/manifest.json", "good/page.html", "linked/page.html", "good/tensors/page.html"):
        refused(f"a page at {path}", "would be written into 'good'", "eval.json", "good", "-o", path)
    refused("node data in a bundle", "would be written into 'good'", "good", "eval.json", "blame.json", "--model-explorer", "good/data")
    check(before == (read("good/manifest.json"), read("eval.json"), sorted(os.listdir("good"))), "and nothing is spoiled")
    assay(0, "report", "good", "-o", "good.html")
    shutil.copytree("good", "torn")
    first = sorted(os.listdir("torn/tensors/s00000"))[0]
    write(f"torn/tensors/s00000/{first}", b"no array")
    refused("a tensor that cannot be read", "0000_input_x.npy: not an npy file", "torn", "-o", "no.html")


def explorer():
    assay(0, "report", "good", "blame.json", "diff.json", "sens.json", "--model-explorer", "data")
    files = sorted(os.listdir("data"))
    blame = {n["name"]: n for n in json.loads(read("blame.json"))["nodes"]}
    got = json.loads(read("data/verdict_of_blame.json"))["results"]
    check({k: v["value"] for k, v in got.items()} == {k: n["verdict"] for k, n in blame.items()}, "node data: verdicts", got)
    sens = {n["value"]: n["isolated_db"] for n in json.loads(read("sens.json"))["nodes"]}
    got = json.loads(read("data/sqnr_of_quantization_isolated_db.json"))["results"]
    check({k: v["value"] for k, v in got.items()} == sens, "node data: numbers", got, sens)
    good = all(re.fullmatch(r"#[0-9a-f]{6}", v.get("bgColor", "#000000")) and isinstance(v["value"], (int, float, str))
               for f in files for v in json.loads(read(f"data/{f}"))["results"].values())
    check(good and len(files) >= 8, "node data: a file a measure, values and colours", files)
    refused("a folder that is there", "data", "good", "--model-explorer", "data")


def fields(data):
    """(number, value) of a protobuf message: numbers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        number, wire = divmod(varint(), 8)
        size = {1: 8, 5: 4}.get(wire)
        if wire == 0:
            yield number, varint()
        else:
            size = varint() if size is None else size
            yield number, data[at:at + size]
            at += size


def viewers():
    """A quantized network as ONNX says where the parameters of each tensor are (GraphProto.quantization_annotation), which Netron shows."""
    assay(0, "convert", "q.assay", "-o", "q.onnx")
    model = dict(fields(read("q.onnx")))
    check(model[2] == b"assay", "who wrote it", model[2])
    graph = list(fields(model[7]))
    constants = {v.decode() for k, t in graph if k == 5 for n, v in fields(t) if n == 8}
    notes = {}
    for note in (list(fields(v)) for k, v in graph if k == 14):
        name = next(v for k, v in note if k == 1).decode()
        notes[name] = {e[1].decode(): e[2].decode() for e in (dict(fields(v)) for k, v in note if k == 2)}
    tensors = json.loads(read("good/manifest.json"))["tensors"]
    outputs = {t["name"].removesuffix(":f32") for t in tensors if t["name"].endswith(":f32")}  # graph/core/outputs.h
    codes = {t["name"] + ":codes" * (t["name"] in outputs) for t in tensors if "scale" in t}
    check(codes <= set(notes), "each tensor of codes is annotated", codes - set(notes))
    check(all(n["SCALE_TENSOR"] in constants and n.get("ZERO_POINT_TENSOR", n["SCALE_TENSOR"]) in constants for n in notes.values()) and
          any("ZERO_POINT_TENSOR" in n for n in notes.values()), "with constants of the network", notes, constants)


TRIAL = """<script>const q=document.querySelector('input[type=search]');q.value='CONV';q.dispatchEvent(new Event('input'));
document.querySelector('button[aria-label=larger]').click();document.querySelectorAll('th')[3].click();
document.title=[document.querySelectorAll('.n.hit').length,document.querySelectorAll('.n.off').length,document.querySelector('output').value,
document.querySelectorAll('table.nodes tbody tr:not(.off)').length].join(' ')</script></body>"""


def load(chromium, path):
    run = subprocess.run([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
                          f"--user-data-dir={os.getcwd()}/browser", "--virtual-time-budget=2000", "--dump-dom", f"file://{os.getcwd()}/{path}"],
                         capture_output=True, text=True, timeout=100, check=False)
    return run.returncode, run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def browser():
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not chromium:
        check(True, "loads in Chromium without a message # SKIP there is no chromium")
        return
    status, page, said = load(chromium, "r.html")
    check(status == 0 and not said, "loads in Chromium without a message", said[:3], status)
    check('type="search"' in page and ">fit</button>" in page, "its script adds search and zoom", page[:200])
    write("trial.html", read("r.html").replace(b"</body>", TRIAL.encode()))
    status, page, said = load(chromium, "trial.html")
    nodes = json.loads(read("good/manifest.json"))["nodes"]
    hits = sum(any("conv" in w.lower() for w in (n["name"], n["op"], *n["outputs"])) for n in nodes)
    title = re.search("<title>(.*?)</title>", page).group(1).split()
    check(status == 0 and not said and title == [str(hits), str(len(nodes) + 1 - hits), str(hits), "found", str(hits)] and hits > 0,
          "which find nodes, in the drawing and in the table", title, hits, said[:3])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        text = whole()
        statistics(text)
        classes(text)
        alone()
        hostile()
        damaged()
        refusals()
        explorer()
        viewers()
        browser()
    TAP.end()


if __name__ == "__main__":
    main()
