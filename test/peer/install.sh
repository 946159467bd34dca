#!/usr/bin/env bash
# Prints the folder of node modules that holds ONNX Runtime, after installing it there if it is not, or
# not whole, or of another version (npm, network access). Fails with one line on standard error.
set -u
version=1.30.0
modules=${ASSAY_ORT_MODULES:-$HOME/.cache/assay/onnxruntime-node}

whole() {
    NODE_PATH=$modules/node_modules node -e '
        require("onnxruntime-node");
        const found = require("onnxruntime-node/package.json").version;
        process.exit(found === process.argv[1] ? 0 : 1)' "$version" >/dev/null 2>&1
}

command -v node >/dev/null || { echo "node is missing" >&2; exit 1; }
if ! whole; then
    command -v npm >/dev/null || { echo "npm is missing" >&2; exit 1; }
    rm -rf "$modules/node_modules"
    timeout 300 npm install --silent --ignore-scripts --fetch-retries=1 --fetch-timeout=60000 \
        --prefix "$modules" "onnxruntime-node@$version" >/dev/null 2>&1 && whole ||
        { echo "npm cannot install onnxruntime-node $version" >&2; exit 1; }
fi
echo "$modules/node_modules"
