#!/usr/bin/env bash
# Which arithmetic do real runtimes have? `assay probe` asks ONNX Runtime and TensorFlow Lite 2.9 and 2.2 (npm), and
# `assay infer` must name the preset of each, for every op that its contract calls bit-exact. Needs node, python3 with
# NumPy, and network access (npm) on the first run.
#
#   test/peer/probe.sh ASSAY SOURCE     TAP on standard output
set -u
. "$(dirname "$0")/../cli/tap.sh" "$@"
peer=$source/test/peer

# The preset agrees for each op that was answered, but those named; and is the one that agrees with most.
judge() { # TYPES PRESET BUT WHAT
    "$assay" infer "$1" device --json said.json >out 2>&1
    /usr/bin/python3 - "$2" "$3" <<'END'
import json, sys
preset, but = sys.argv[1], sys.argv[2].split()
said = json.load(open("said.json"))
ops = said["ops"]
wrong = [o["op"] for o in ops if preset not in o["presets"] and o["op"] not in but]
print("# %d of %d ops; %s" % (len(ops) - len([o for o in ops if preset not in o["presets"]]), len(ops),
                              "; ".join("%s: %s" % (o["op"], ", ".join(o["presets"][:3]) or "no scheme") for o in ops if preset not in o["presets"])))
sys.exit(bool(wrong) or len(ops) < 12 or preset not in said["nearest"])
END
    tell $? "$4: $2"
}

for types in s8s8 u8s8 u8u8 s16s8; do
    "$assay" probe --types $types -o $types >/dev/null || exit 2
done
if modules=$("$peer/install.sh" 2>why); then
    for types in s8s8 u8s8 u8u8; do
        rm -rf device
        for folder in "$types"/*/; do
            op=$(basename "$folder")
            NODE_PATH=$modules node "$peer/dumps.js" "$folder/$op.onnx" "$folder/golden" "device/$op" >/dev/null 2>&1 || rm -rf "device/$op"
        done
        judge $types onnxruntime "sub reduce_mean conv_transpose prelu" "ONNX Runtime, $types" # in floats there
    done
else
    echo "# SKIP onnxruntime: $(cat why)"
fi
for runtime in tflite29 tflite22; do
    [ "$(uname -m)" = x86_64 ] || { echo "# SKIP $runtime: its library is for x86-64"; continue; }
    folder=$("$peer/install.sh" $runtime 2>why) || { echo "# SKIP $runtime: $(cat why)"; continue; }
    library=$(find "$folder" -path '*linux_*64/libtensorflowlite_c.so' ! -path '*arm64*' | head -n 1)
    device() { # ENGINE TYPES
        rm -rf device
        /usr/bin/python3 "$peer/probe_tflite.py" "$library" "$1" "$2" device | sed 's/^/# not run: /'
    }
    device builtin s8s8
    case $runtime in
    tflite29)
        judge s8s8 tflite-2.9-x86 "reduce_mean gelu" "TensorFlow Lite 2.9, s8s8" # what its contract leaves out
        device xnnpack s8s8
        judge s8s8 litert-xnnpack "matmul reduce_mean rescale leaky_relu conv_transpose elu gelu" "TensorFlow Lite 2.9, XNNPACK, s8s8" # its delegate takes fewer ops than LiteRT's
        device builtin s16s8
        judge s16s8 tflite-2.9-x86 "reduce_mean sigmoid tanh" "TensorFlow Lite 2.9, s16s8"
        ;;
    tflite22) judge s8s8 tflite "reduce_mean quantize" "TensorFlow Lite 2.2, s8s8" ;;
    esac
done
[ $count -gt 0 ] || { echo "1..0 # SKIP no runtime could be installed"; exit 0; }
finish
