#!/bin/sh
# The table of presets in schemes/README.md says what the presets say.
# Usage: scheme_readme.sh ASSAY SOURCE
echo 1..1
if python3 "$2/schemes/presets/table.py" "$1" | grep -vxF -f "$2/schemes/README.md" | sed 's/^/# /' |
    grep .; then
    echo "not ok 1 - the table in schemes/README.md is old; make it again with presets/table.py"
else
    echo "ok 1 - the table of presets in schemes/README.md"
fi
