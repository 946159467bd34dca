#!/usr/bin/env bash
# ONNX Runtime as the device of networks quantized for tflite: `assay blame` must say that the scheme is another, and
# which; beside the golden of the preset onnxruntime the device is clean. The shipped networks, and those of
# ../shared/models where they are. Needs node, and network access (npm) on the first run.
#
#   test/peer/blame.sh ASSAY SOURCE     TAP on standard output
set -u
models=$(realpath "${ASSAY_SHARED:-$2/../shared}")/models
. "$(dirname "$0")/../cli/tap.sh" "$@"
modules=$("$source/test/peer/install.sh" 2>why) || { echo "1..0 # SKIP $(cat why)"; exit 0; }

# Every tensor of NAME.assay in ONNX Runtime, from the input of the bundle NAME.
dump() { # NAME
    "$assay" convert "$1.assay" -o "$1.onnx" >/dev/null && rm -rf device &&
        NODE_PATH=$modules node "$source/test/peer/dumps.js" "$1.onnx" "$1" device >/dev/null
}

names_scheme() { # reads out: every fault is of another scheme, onnxruntime among those that explain it
    /usr/bin/python3 -c '
import json
faults = json.load(open("out"))["faults"]
good = len(faults) > 1 and all(f["class"] == "scheme" and " onnxruntime" in f["detail"].split(";")[0] for f in faults)
raise SystemExit(not good)'
}

try() { # NAME INPUT: NAME.assay
    "$assay" golden "$1.assay" -s tflite -i "$2" -o "$1" >/dev/null && dump "$1" || { tell 1 "$1 runs"; return; }
    "$assay" blame "$1" device --json out -q
    [ $? = 1 ] && names_scheme
    tell $? "$1, of tflite: another scheme, onnxruntime"
    "$assay" golden "$1.assay" --as-is -s onnxruntime -i "$2" -o "$1-theirs" >/dev/null || { tell 1 "$1 runs"; return; }
    "$assay" blame "$1-theirs" device --json out -q
    tell $? "$1, of onnxruntime: clean"
}

images=$source/datasets/glyphs
image=$(find "$images/test" -name '*.png' | sort | head -n 1)
for name in plain_cnn res_dsconv; do
    "$assay" profile "$source/datasets/models/$name.onnx" -d "$images/calibration" -n 16 -q -o $name.yaml >/dev/null
    "$assay" quantize "$source/datasets/models/$name.onnx" -p $name.yaml -s tflite -o $name.assay >/dev/null
    try $name "$image"
done
for name in kws_ref_model vww_96_int8 ad01_int8 pretrainedResnet_quant mobilenet_v1_0.25_128_quant str_ww_ref_model; do
    [ -f "$models/$name.tflite" ] || { skip $name "no $models"; continue; }
    "$assay" convert "$models/$name.tflite" -o $name.assay >/dev/null
    /usr/bin/python3 -c '
import re, sys, numpy
kind, dims = re.search(r"^input .* ([iu]8)\[([\d,]+)\]", open(sys.argv[1]).read(), re.M).groups()
codes = numpy.random.default_rng(7).integers(0, 256, [int(d) for d in dims.split(",")])
numpy.save("x.npy", codes.astype(numpy.uint8).view(numpy.uint8 if kind == "u8" else numpy.int8))' <("$assay" inspect $name.assay)
    try $name x.npy
done
finish
