#!/usr/bin/env bash
# Weights in llama.cpp's blocks, checked by the NumPy model.
#
#   weights_model.sh ASSAY SOURCE
set -eu
if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP python3-numpy is not installed"
    exit 0
fi
exec /usr/bin/python3 "$2/test/twin/weights_model.py" "$1"
