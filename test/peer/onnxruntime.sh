#!/usr/bin/env bash
# The same bits as ONNX Runtime: random operators and networks (onnxruntime.js), and what we export: the
# golden networks, and the shipped float networks quantized under several presets. Needs node, and
# network access (npm) on the first run; ONNX Runtime is kept in ~/.cache/assay.
#
#   test/peer/onnxruntime.sh ASSAY SOURCE [--seed N] [--cases N] ...     TAP on standard output
set -u
assay=$(realpath "$1")
source=$(realpath "$2")
shift 2
shared=$(realpath "${ASSAY_SHARED:-$source/../shared}")
nets=$shared/golden/onnx/nets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "# ONNX Runtime from npm, then the models that Assay writes for it; results as they come"
skip() { echo "1..0 # SKIP $1"; exit 0; }
modules=$("$source/test/peer/install.sh" 2>"$work/why") || skip "$(cat "$work/why")"
cd "$work" || exit 2

add() { # NAME INPUT: NAME.onnx is to be compared on that input, which may be an image
    "$assay" golden "$1.onnx" -s onnxruntime -i "$2" -o "$1" >/dev/null 2>log ||
        { sed 's/^/# /' log; echo "Bail out! $1"; exit 1; }
    echo "$work/$1.onnx $work/$(echo "$1"/tensors/0000_*)" >>exported
    echo "# wrote $1.onnx"
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
for model in "$shared"/models/*.tflite; do
    name=$(basename "$model" .tflite) # channels last; random inputs
    case $name in *lstm* | *float* | *fp32* | pretrainedResnet | dtln*) continue ;; esac # state; floats
    "$assay" convert "$model" -o "$name.onnx" >/dev/null 2>&1 && echo "$work/$name.onnx" >>exported
done
"$assay" convert "$source/test/peer/written.assay" -o written.onnx >/dev/null && echo "$work/written.onnx" >>exported
NODE_PATH=$modules node "$source/test/peer/onnxruntime.js" "$assay" --exported exported "$@" 2>log
status=$?
[ "$status" -lt 2 ] || sed 's/^/# /' log
exit "$status"
