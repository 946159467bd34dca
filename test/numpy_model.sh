#!/usr/bin/env bash
# Golden bundles of the shipped networks under every preset that the NumPy model knows, checked.
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
for net in plain_cnn res_dsconv; do
    model=$source/datasets/models/$net.onnx
    "$assay" profile "$model" -d "$source/datasets/glyphs/calibration" -n 64 -q -o "$work/p.yaml" >&2
    for scheme in glow-interp glow-cpu tflite tflite-single npu16; do
        "$assay" golden "$model" -p "$work/p.yaml" -s $scheme -d "$source/datasets/glyphs/test" -n 1 \
            --accumulators -q -o "$work/$net-$scheme" >&2
    done
done
exec /usr/bin/python3 "$source/test/numpy_model.py" "$work"/plain_cnn-* "$work"/res_dsconv-*
