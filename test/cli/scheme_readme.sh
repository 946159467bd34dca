#!/bin/sh
# The table of presets in schemes/README.md says what the presets say.
# Usage: scheme_readme.sh ASSAY SOURCE
echo 1..1
rows=$(python3 "$2/schemes/presets/table.py" "$1") && [ -n "$rows" ] || {
    echo "not ok 1 - presets/table.py makes no table"
    exit
}
if printf '%s\n' "$rows" | grep -vxF -f "$2/schemes/README.md" | sed 's/^/# /' | grep .; then
    echo "not ok 1 - the table in schemes/README.md is old; make it again with presets/table.py"
else
    echo "ok 1 - the table of presets in schemes/README.md"
fi
