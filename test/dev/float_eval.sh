#!/bin/sh
# A compiler that computes floats in a wider type is refused with the reason (graph/core/float_eval.h).
#   float_eval.sh SOURCE COMPILER...
source=$1
shift
echo 1..2
try() { printf '#include "graph/core/graph.h"\n' | "$@" -std=c11 -I"$source" -D_GNU_SOURCE -x c -fsyntax-only -; }
if try "$@" 2>/dev/null; then echo "ok 1 - floats in their own width pass"; else
    echo "not ok 1 - floats in their own width pass"
fi
if ! echo 'int x;' | "$@" -mfpmath=387 -x c -fsyntax-only - 2>/dev/null; then
    echo "ok 2 - a wider type is refused # SKIP this compiler has none"
elif said=$(try "$@" -mfpmath=387 2>&1) || ! printf '%s' "$said" | grep -q 'floats are computed in a wider type.*-mfpmath=sse'; then
    printf '%s\n' "$said" | sed 's/^/# /'
    echo "not ok 2 - a wider type is refused"
else
    echo "ok 2 - a wider type is refused"
fi
