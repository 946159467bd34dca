#!/usr/bin/env bash
# The same bits as PyTorch's quantized engines: random operators (pytorch.py). Needs PyTorch for python3, or for the
# system's python3 (Debian 12: python3-torch, whose build has the engines qnnpack and onednn).
#
#   test/peer/pytorch.sh ASSAY SOURCE [--seed N] [--cases N] ...     TAP on standard output
set -u
assay=$(realpath "$1")
source=$(realpath "$2")
shift 2
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy, torch' 2>/dev/null || continue
    exec "$python" -B "$source/test/peer/pytorch.py" "$assay" "$@"
done
echo "1..0 # SKIP no python3 here has PyTorch (python3-torch)"
