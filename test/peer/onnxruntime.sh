#!/usr/bin/env bash
# What we export runs in ONNX Runtime to our bits: the golden networks, and the shipped float networks
# quantized under several presets. Needs node, and network access (npm) on the first run.
#
#   test/peer/onnxruntime.sh ASSAY SOURCE     TAP on standard output
set -u
assay=$(realpath "$1")
source=$(realpath "$2")
nets=${ASSAY_SHARED:-$source/../shared}/golden/onnx/nets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() { echo "1..0 # SKIP $1"; exit 0; }
modules=$("$source/test/peer/install.sh" 2>"$work/why") || skip "$(cat "$work/why")"
cd "$work" || exit 2
list=()

add() { # NAME INPUT [OPTIONS]: what NAME.onnx gives under the preset onnxruntime is to be compared
    local name=$1 input=$2
    shift 2
    "$assay" golden "$name.onnx" -s onnxruntime -i "$input" -o "$name" "$@" >/dev/null 2>log ||
        { sed 's/^/# /' log; echo "Bail out! $name"; exit 1; }
    list+=("$work/$name.onnx" "$work/$(echo "$name"/tensors/0000_*)" "$work/$(ls -d "$name"/tensors/* | tail -n 1)")
}

for model in "$nets"/*_q*.onnx; do
    name=$(basename "$model" .onnx)
    x=$nets/${name%%_*}_x.npy
    batch=$(head -c 128 "$x" | grep -ao "'shape': ([0-9]*" | grep -o '[0-9]*$')
    "$assay" convert "$model" --batch "$batch" -s onnxruntime -o "$name.onnx" >/dev/null && add "$name" "$x"
done
images=$source/datasets/glyphs
for model in "$source"/datasets/models/*.onnx; do
    base=$(basename "$model" .onnx)
    "$assay" profile "$model" -d "$images/calibration" -n 16 -o "$base.yaml" -q >/dev/null
    for preset in onnxruntime tflite npu16 tosa-double; do
        "$assay" quantize "$model" -p "$base.yaml" -s $preset -o "$base-$preset.onnx" >/dev/null
        add "$base-$preset" "$(find "$images/test" -name '*.png' | sort | sed -n 5p)"
    done
done
NODE_PATH=$modules exec node "$source/test/peer/onnxruntime.js" "${list[@]}"
