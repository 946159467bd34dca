#!/usr/bin/env bash
# Fuzzes the ONNX importer with libFuzzer under ASan and UBSan. Seeds: ONNX's node tests (Debian's
# libonnx-testdata) and, where ../shared is there, the quantized operators of golden/onnx. Called by
# ./dev fuzz. The corpus is kept in BUILD/fuzz-onnx; a finding ends the run, with exit status 1 and the file
# that caused it.
#
#   onnx.sh BUILD SECONDS
set -euo pipefail
build=$(realpath "$1") seconds=$2
cd "$(dirname "$0")/../.."
work=$build/fuzz-onnx shared=${ASSAY_SHARED:-../shared}
mkdir -p "$work/seeds" "$work/corpus"
find /usr/share/libonnx-testdata "$shared/golden/onnx/ops" -name model.onnx -size -17k 2>/dev/null | while read -r f; do
    cp "$f" "$work/seeds/$(basename "$(dirname "$f")").onnx"
done
flags=(-std=c11 -O1 -g -w -I. -I"$build/graph/onnx" -D_GNU_SOURCE)
clang "${flags[@]}" -fsanitize=fuzzer,address,undefined graph/*.c graph/core/*.c graph/files/*.c graph/text/*.c graph/layout/*.c graph/onnx/*/*.c "$build/graph/onnx/onnx.pb-c.c" \
    test/fuzz/fuzz_onnx.c -o "$work/libfuzzer" -I"$build" -lprotobuf-c -ljansson -lxxhash -lm
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
"$work/libfuzzer" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$work/found-" "$work/corpus" "$work/seeds" 2>&1 | tail -n 40
