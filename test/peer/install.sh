#!/usr/bin/env bash
# Prints the folder of node modules that holds a runtime, after installing it there if it is not, or not
# whole, or of another version (npm, network access). Fails with one line on standard error.
#
#   test/peer/install.sh [onnxruntime | litertjs | tflite29 | tflite22]
set -u
home=${ASSAY_PEER_HOME:-$HOME/.cache/assay}
file=
case "${1:-onnxruntime}" in
onnxruntime) package=onnxruntime-node version=1.30.0 modules=${ASSAY_ORT_MODULES:-$home/onnxruntime-node} ;;
litertjs) package=@litertjs/core version=2.5.3 modules=$home/litertjs file=wasm/litert_wasm_compat_internal.wasm ;;
tflite29) package=tfjs-tflite-node version=0.0.2 modules=$home/tflite29 file=cc_deps/linux_amd64/libtensorflowlite_c.so ;;
tflite22) package=node-tflite version=0.0.2 modules=$home/tflite22 file=tflite/linux_x86_64/libtensorflowlite_c.so ;;
*) echo "no runtime '$1'" >&2; exit 1 ;;
esac

# One that is a file, or one that is a module that loads.
whole() {
    if [ -n "$file" ]; then
        [ -s "$modules/node_modules/$package/$file" ] && grep -q "\"version\": \"$version\"" "$modules/node_modules/$package/package.json"
        return
    fi
    NODE_PATH=$modules/node_modules node -e '
        require(process.argv[2]);
        const found = require(process.argv[2] + "/package.json").version;
        process.exit(found === process.argv[1] ? 0 : 1)' "$version" "$package" >/dev/null 2>&1
}

command -v node >/dev/null || { echo "node is missing" >&2; exit 1; }
if ! whole; then
    mkdir -p "$modules" && exec 9>"$modules/.lock" && flock 9 || exit 1 # of two that find it missing the second waits
fi
if ! whole; then
    command -v npm >/dev/null || { echo "npm is missing" >&2; exit 1; }
    rm -rf "$modules/node_modules"
    timeout 300 npm install --silent --ignore-scripts --omit=peer --legacy-peer-deps --fetch-retries=1 --fetch-timeout=60000 \
        --prefix "$modules" "$package@$version" >/dev/null 2>&1 && whole ||
        { echo "npm cannot install $package $version" >&2; exit 1; }
fi
echo "$modules/node_modules"
