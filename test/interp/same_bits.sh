#!/usr/bin/env bash
# Same digests whoever compiles and however many threads run: gcc and clang, -O0 and -O3, 1 and 2
# threads, over the shipped networks under five presets. Builds four times (minutes); TAP.
#
#   same_bits.sh SOURCE [WORK]     builds stay in WORK for the next time
set -eu
source=$(realpath "$1")
work=${2:-$(mktemp -d)}
mkdir -p "$work"
[ $# -gt 1 ] || trap 'rm -rf "$work"' EXIT
images=$source/datasets/glyphs
count=0

# Every digest that the command line prints for what one binary computes on so many threads.
digests() { # ASSAY THREADS OUT
    local assay=$1 threads=$2 out=$3 net model scheme
    rm -rf "$out"
    mkdir -p "$out"
    export OMP_NUM_THREADS=$threads
    for net in plain_cnn res_dsconv; do
        model=$source/datasets/models/$net.onnx
        # One profile serves all: the C library's functions may differ.
        [ -f "$work/$net.yaml" ] ||
            "$assay" profile "$model" -d "$images/calibration" -q -j 1 -o "$work/$net.yaml" >/dev/null
        for scheme in tflite tflite-single glow-interp glow-cpu npu16; do
            "$assay" golden "$model" -p "$work/$net.yaml" -s $scheme -d "$images/test" -n 8 -q \
                --accumulators -o "$out/$net-$scheme" 2>/dev/null >"$out/line"
            echo "$net $scheme $(grep -o 'digest [0-9a-f]*' "$out/line")"
            "$assay" eval "$model" -p "$work/$net.yaml" -s $scheme -d "$images/test" -n 256 -q \
                -j "$threads" --json "$out/eval.json" >/dev/null 2>&1
            grep '"outputs"' "$out/eval.json"
        done
    done
}

first=
for cc in gcc clang; do
    for level in 0 3; do
        build=$work/$cc-O$level
        [ -d "$build" ] || CC=$cc meson setup "$build" "$source" -Doptimization=$level -Ddebug=false \
            -Dwerror=false >/dev/null
        ninja -C "$build" assay >"$build.log" || {
            tail -n 40 "$build.log" >&2
            exit 2
        }
        for threads in 1 2; do
            count=$((count + 1))
            digests "$build/assay" $threads "$work/out" >"$work/$cc-O$level-$threads.txt"
            [ -n "$first" ] || first=$work/$cc-O$level-$threads.txt
            name="$cc -O$level, $threads threads: $(wc -l <"$first") digests"
            if cmp -s "$first" "$work/$cc-O$level-$threads.txt" && [ -s "$first" ]; then
                echo "ok $count - $name"
            else
                echo "not ok $count - $name"
                diff "$first" "$work/$cc-O$level-$threads.txt" | sed 's/^/# /' || true
            fi
        done
    done
done
echo "1..$count"
