#!/usr/bin/env bash
# Fuzzes the TFLite importer under ASan and UBSan, from the small networks that test_tflite_export
# and test_tflite_export_lstm write. Called by ./dev fuzz. The corpus is kept in BUILD/fuzz-tflite; a finding ends the run, with
# exit status 1 and the file that caused it.
#
#   tflite.sh libfuzzer|afl BUILD SECONDS
set -euo pipefail
engine=$1 build=$(realpath "$2") seconds=$3
cd "$(dirname "$0")/../.."
work=$build/fuzz-tflite
mkdir -p "$work/seeds" "$work/corpus"
for writer in test_tflite_export test_tflite_export_lstm; do
    ASSAY_SEEDS=$work/seeds ASSAY_SOURCE=$PWD "$build/test/$writer" >"$work/seeds.log" 2>&1 ||
        { cat "$work/seeds.log" >&2; exit 2; }
done
sources=(graph/*.c graph/core/*.c graph/files/*.c graph/text/*.c graph/layout/*.c graph/tflite/*/*.c test/fuzz/fuzz_tflite.c)
flags=(-std=c11 -O1 -g -I. -D_GNU_SOURCE)
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

case $engine in
libfuzzer)
    clang "${flags[@]}" -fsanitize=fuzzer,address,undefined "${sources[@]}" -o "$work/libfuzzer" -lxxhash -lm
    "$work/libfuzzer" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="$work/found-" "$work/corpus" "$work/seeds" 2>&1 | tail -n 40
    ;;
afl)
    export AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1
    export AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
    driver=$(dirname "$(find /usr/lib/afl /usr/local/lib/afl -name libAFLDriver.a 2>/dev/null | head -n 1)")
    afl-clang-fast "${flags[@]}" "${sources[@]}" "$driver/libAFLDriver.a" -o "$work/afl" -lxxhash -lm -lstdc++
    afl-fuzz -i "$work/seeds" -o "$work/out" -V "$seconds" -t 60000 -m none -- "$work/afl" >"$work/afl.log"
    grep -E '^(run_time|execs_done|saved_crashes|saved_hangs)' "$work/out/default/fuzzer_stats"
    ! grep -qE '^saved_(crashes|hangs) *: [1-9]' "$work/out/default/fuzzer_stats"
    ;;
*) echo "tflite.sh: libfuzzer or afl, not '$engine'" >&2; exit 2 ;;
esac
