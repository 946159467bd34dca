#!/bin/sh
# The table of a node's parameters in interp/golden/README.md names all that units list, and no other.
# Usage: parameters_readme.sh SOURCE
echo 1..2
listed=$(cat "$1"/schemes/derive/*.c "$1"/schemes/prepare/*.c | tr '\n' ' ' |
    grep -oE '(derive_unit_array\([^,()]*, *|name_of\([^,()]*, *)"[a-z0-9_]+"' | grep -oE '"[a-z0-9_]+"' | tr -d '"' | sort -u)
told=$(sed -n '/^| parameter | what |/,/^$/p' "$1/interp/golden/README.md" | sed 1,2d | cut -d'|' -f2 | grep -oE '[a-z0-9_]+' | sort -u)
if [ -n "$listed" ] && [ "$listed" = "$told" ]; then
    echo "ok 1 - every parameter is in the table"
else
    printf 'not ok 1 - the table of parameters\n# units list: %s\n# README has: %s\n' "$(echo $listed)" "$(echo $told)"
fi
# Each file that lists constants has a kind, or an op, in the second table.
lines=$(sed -n '/^| op and kind | `constants` |/,/^$/p' "$1/interp/golden/README.md")
bad=
for kind in $(sed -n 's/.*VALUE(ADD_/VALUE(ADD_/p' "$1/schemes/record/record.def" | grep -oE '"[a-z-]+"' | tr -d '"'); do
    case $kind in plain | separate) continue ;; esac # no constants
    echo "$lines" | grep -q "add.*\`$kind\`" || bad="$bad $kind"
done
[ -z "$bad" ] && echo "ok 2 - constants of every kind of ADD" || echo "not ok 2 - constants of ADD:$bad"
