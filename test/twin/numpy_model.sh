#!/usr/bin/env bash
# Golden bundles of the shipped networks, and of one with every kind of node, under every preset that the NumPy model knows, checked.
#
#   numpy_model.sh ASSAY SOURCE
set -eu
assay=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP python3-numpy is not installed"
    exit 0
fi
bundles() { # NAME MODEL CALIBRATION TEST
    "$assay" profile "$2" -d "$3" -n 64 -q -o "$work/p.yaml" >&2
    for scheme in glow-interp glow-cpu tflite tflite-single npu16; do
        "$assay" golden "$2" -p "$work/p.yaml" -s $scheme -d "$4" -n 1 --accumulators -q \
            -o "$work/$1-$scheme" >&2
    done
}

for net in plain_cnn res_dsconv; do
    bundles $net "$source/datasets/models/$net.onnx" "$source/datasets/glyphs/calibration" \
        "$source/datasets/glyphs/test"
done
/usr/bin/python3 "$source/test/twin/numpy_model_net.py" "$work/kinds"
bundles kinds "$work/kinds.assay" "$work/kinds.npy" "$work/kinds.npy"
exec /usr/bin/python3 "$source/test/twin/numpy_model.py" "$work"/plain_cnn-* "$work"/res_dsconv-* "$work"/kinds-*
