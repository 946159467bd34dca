#!/usr/bin/env bash
# Prints the folder of node modules that holds ONNX Runtime, after installing it there if it is not
# (npm, network access). Fails with one line on standard error.
set -u
modules=${ASSAY_ORT_MODULES:-$HOME/.cache/assay/onnxruntime-node}
command -v node >/dev/null || { echo "node is missing" >&2; exit 1; }
if [ ! -d "$modules/node_modules/onnxruntime-node" ]; then
    npm install --silent --ignore-scripts --prefix "$modules" onnxruntime-node@1.30.0 >/dev/null 2>&1 ||
        { echo "npm cannot install onnxruntime-node" >&2; exit 1; }
fi
echo "$modules/node_modules"
