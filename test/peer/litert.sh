#!/usr/bin/env bash
# The same bits as the runtimes of .tflite networks: random operators (litert.js), the networks of
# ../shared/models, and the shipped float networks as we quantize and export them, on LiteRT.js and on
# TensorFlow Lite's own libraries. Needs node, python3, and network access (npm) on the first run.
#
#   test/peer/litert.sh ASSAY SOURCE [--seed N] [--cases N] ...     TAP on standard output
set -u
assay=$(realpath "$1")
source=$(realpath "$2")
shift 2
shared=$(realpath -m "${ASSAY_SHARED:-$source/../shared}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
peer=$source/test/peer
cd "$work" || exit 2

skip() { echo "1..0 # SKIP $1"; exit 0; }
found=
for runtime in litertjs tflite29 tflite22; do
    folder=$("$peer/install.sh" $runtime 2>why) || { echo "# SKIP $runtime: $(cat why)"; continue; }
    case $runtime in
    tflite*)
        [ "$(uname -m)" = x86_64 ] || { echo "# SKIP $runtime: its library is for x86-64"; continue; }
        folder=$(find "$folder" -path '*linux_*64/libtensorflowlite_c.so' ! -path '*arm64*' | head -n 1)
        ;;
    esac
    found="$found${found:+, }\"$runtime\": \"$folder\""
done
[ -n "$found" ] || skip "no runtime could be installed"

images=$source/datasets/glyphs
for model in "$source"/datasets/models/*.onnx; do
    base=$(basename "$model" .onnx)
    "$assay" profile "$model" -d "$images/calibration" -n 16 -o "$base.yaml" -q >/dev/null &&
        "$assay" quantize "$model" -p "$base.yaml" -s tflite -o "$base.assay" >/dev/null &&
        "$assay" convert "$base.assay" -o "$base.tflite" >/dev/null 2>log && echo "$work/$base.tflite" >>files
done
find "$shared/models" -name '*.tflite' 2>/dev/null | sort >>files
ASSAY_PEER_MODULES="{$found}" node "$peer/litert.js" "$assay" --files files "$@"
