#!/usr/bin/env bash
# Runs the comparisons with reference outputs and real data, and puts their tables into test/tflite/README.md,
# each between its markers. Called by ./dev table.
#
#   table.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASSAY_SOURCE=$PWD ASSAY_SHARED=${ASSAY_SHARED:-$PWD/../shared}

put() { # NAME FILE: the table of FILE, lines "# | ... |", between <!-- NAME --> and <!-- end of NAME -->
    sed -n 's/^# \(|.*|\)$/\1/p' "$2" >"$work/$1"
    [ -s "$work/$1" ] || { echo "table: no table in the output of $1" >&2; exit 1; }
    sed -i -e "/^<!-- $1 -->\$/,/^<!-- end of $1 -->\$/{//!d}" -e "/^<!-- $1 -->\$/r $work/$1" test/tflite/README.md
    cat "$work/$1"
    echo
}

CMOCKA_MESSAGE_OUTPUT=TAP "$build/test/test_tflite_golden" >"$work/golden.out" 2>&1 ||
    { cat "$work/golden.out" >&2; exit 1; }
put tflite-golden "$work/golden.out"
test/tflite/tflite_twins.sh "$build/assay" . >"$work/twins.out"
! grep '^not ok' "$work/twins.out" >&2
put tflite-twins "$work/twins.out"
