#!/usr/bin/env bash
# TFLite's recurrent operators in TensorFlow Lite 2.9 (npm, network access on the first run) and here: recurrent.py.
#
#   test/peer/recurrent.sh ASSAY SOURCE [--seed N] [--cases N] [--only KIND] [--keep DIR]     TAP on standard output
set -u
assay=$(realpath "$1")
peer=$(realpath "$2")/test/peer
shift 2
skip() { echo "1..0 # SKIP $1"; exit 0; }
[ "$(uname -m)" = x86_64 ] || skip "TensorFlow Lite's library is for x86-64"
folder=$("$peer/install.sh" tflite29 2>&1) || skip "$folder"
exec /usr/bin/python3 "$peer/recurrent.py" "$assay" "$folder/tfjs-tflite-node/cc_deps/linux_amd64/libtensorflowlite_c.so" "$@"
