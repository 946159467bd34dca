#!/bin/sh
# The archive that is installed: one object, in which only what assay.h declares is global; so a
# program may have functions and libraries with the names that we use inside (check_*, onnx_*, ONNX's own
# messages).
#
#   archive.sh OUT WHOLE.a OBJCOPY AR COMPILER...
set -eu
out=$1 whole=$2 objcopy=$3 ar=$4
shift 4
rm -f "$out" "$out.o"
"$@" -nostdlib -r -Wl,-d -o "$out.o" -Wl,--whole-archive "$whole" -Wl,--no-whole-archive
"$objcopy" --wildcard --localize-hidden --localize-symbol='.gomp_critical_user_*' "$out.o"
"$ar" rcs "$out" "$out.o"
rm -f "$out.o"
