#!/usr/bin/env bash
# The matrix units of this machine's NVIDIA card beside the shipped ones: cuda/. Needs a C compiler and NumPy; without a
# driver or a card a visible skip.
#
#   test/peer/cuda.sh ASSAY SOURCE [--seed N] [--rows N] [--only NAME] [--save DIR] ...     TAP on standard output
set -u
assay=$(realpath "$1")
source=$(realpath "$2")
shift 2
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
read -ra cc <<<"${CC:-cc}"
"${cc[@]}" -O1 -o "$programs/peer_cuda" "$source"/test/peer/cuda/*.c -ldl || exit 2
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    "$python" -B "$source/test/peer/cuda/cuda.py" --program "$programs/peer_cuda" --assay "$assay" \
        --vectors "$source/test/vectors/matrix-units" "$@"
    exit
done
echo "1..0 # SKIP no python3 here has NumPy (python3-numpy)"
