#!/usr/bin/env bash
# What a shell completes, and the pages of the manual: every word and every option of the tables is there.
#   completion.sh ASSAY SOURCE         TAP
set -u
. "$(dirname "$0")/tap.sh" "$1" "$2"

# What the help says: the commands, some of two words, and "COMMAND: --OPTION".
"$assay" help | sed -n 's/^  \(.\{13\}\) .*/\1/p' | sed 's/ *$//' >words
while read -r name; do
    # shellcheck disable=SC2086
    "$assay" $name --help | sed -nE "/^examples/q;s/^  (-.,|   ) (--[a-z-]+).*/$name: \2/p"
done <words >options
runs 0 "every command has options" sh -c 'sed "s/:.*//" options | uniq | diff words -'
sort -o options options

# ---- bash: the function is called as readline would ----

"$assay" completion bash >assay.bash
runs 0 "the script for bash is one" bash -n assay.bash
# shellcheck disable=SC1091
source ./assay.bash
completes() { # WORD...: the words that may stand where the last one does
    # shellcheck disable=SC2034
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _assay
    printf '%s\n' "${COMPREPLY[@]}"
}
offers() { # NAME WANTED WORD...: these words are offered, one a line, in any order
    local name=$1 wanted=$2
    shift 2
    completes "$@" | sort >out
    sort -u <<<"$wanted" >wanted
    if cmp -s out wanted; then ok "$name"; else not_ok "$name"; fi
}
offers "commands" "$(sed 's/ .*//' words)
help" assay ""
offers "commands of a beginning" "scheme
sensitivity" assay s
offers "verbs" "$("$assay" scheme --help | sed -n '/^verbs/,/^options/s/^  \([a-z]*\) .*/\1/p')" assay scheme ""
offers "the second word of a command of two" "merge
show" assay profile ""
while read -r name; do
    # shellcheck disable=SC2086
    completes assay $name -- | sed "s/^/$name: /"
done <words | sort >found
runs 0 "all options" diff options found
offers "presets after --scheme" "$("$assay" scheme list | sed 's/ .*//' | grep ^tflite)" assay golden net.onnx --scheme tflite
offers "and after -s" "npu16" assay eval -s npu
offers "values that an option chooses from" "ref
fast
both" assay run net.assay --engine ""
offers "and after its =" "ref
fast
both" assay run net.assay --engine =
offers "calibrations" "min-max
percentile
mse
kl
headroom" assay quantize net.onnx --calibration ""
offers "of a value by name" "percentile" assay quantize net.onnx --calibration "logits*" = p
offers "also where the option has an =" "kl" assay quantize net.onnx --calibration = "logits*" = k
offers "of weights those that are for weights" "min-max
percentile
mse
gptq" assay quantize net.onnx --calibrate-weights ""
offers "symmetries" "power-of-two
power-of-two-nearest" assay quantize net.onnx --symmetry p
offers "commands after help" "scheme
sensitivity" assay help s
offers "and after manual" "verify
vectors" assay manual v
offers "the second word of one after help" "merge
show" assay help profile ""
offers "options of manual itself" "-o
--output
--help" assay manual -
offers "shells" "bash
zsh" assay completion ""
offers "nothing where a file belongs" "" assay inspect ""

# ---- zsh ----

"$assay" completion zsh >_assay
if command -v zsh >out; then runs 0 "the script for zsh is one" zsh -n _assay; else skip "the script for zsh is one" "no zsh"; fi
awk -F"'" '/^    case \$name in/ { inside = 1 }
    inside && /^    \047[a-z -]*\047\*?\)$/ { name = $2 }
    inside && name && match($0, /--[a-z-]+/) { print name ": " substr($0, RSTART, RLENGTH) }' _assay | sort >found
runs 0 "zsh knows all options" diff options found
prints '--calibration=.*:_assay_by_name min-max percentile mse kl headroom ' "zsh knows calibrations" grep -e --calibration= _assay
if command -v zsh >out; then
    # _assay is called as the completion system would, whose functions here say what they are given.
    zsh_names() { # WORD...: the names that are offered for the last one
        zsh -fc '_describe() { print -l -- ${${(P)2}%%:*}; }; compadd() { print -l -- ${@:#--}; }; _arguments() { :; }
            words=("$@") CURRENT=$#; source ./_assay' zsh "$@" | sort
    }
    zsh_names assay help "" >offered
    sed 's/ .*//' words | sort -u >wanted
    runs 0 "and commands after help" diff wanted offered
    zsh_names assay manual profile "" >offered
    printf 'merge\nshow\n' >wanted
    runs 0 "and the second word of one after manual" diff wanted offered
else skip "zsh completes commands after help" "no zsh"; fi
if command -v zsh >out && python3 -c 'import os; os.openpty()' 2>out; then
    typed() { # NAME WANTED LINE: the shell's own completion makes these words of it
        prints "^$2 *\$" "$1" python3 "$source/test/cli/zsh.py" . "$3"
    }
    typed "zsh completes a calibration" "quantize n.onnx --calibration percentile" "assay quantize n.onnx --calibration p"
    typed "that of a value by name" "quantize n.onnx --calibration logits\*=kl" "assay quantize n.onnx --calibration \"logits*\"=k"
    typed "also behind an =" "quantize n.onnx --calibration=logits=headroom" "assay quantize n.onnx --calibration=logits=he"
    typed "no value by name where there is none" "quantize n.onnx --symmetry=x=power" "assay quantize n.onnx --symmetry=x=power"
else skip "zsh completes calibrations" "no zsh, or no pseudo-terminals (/dev/pts)"; fi
refused "a shell that is neither" "fish" "$assay" completion fish

# ---- manual ----

runs 0 "all pages in a folder" "$assay" manual -o man1
while read -r name; do
    sed -nE "s/^(\\\\fB\\\\-.\\\\fR, )?\\\\fB\\\\-\\\\-([a-z\\\\-]+)\\\\fR.*/$name: --\2/p" "man1/assay-${name// /-}.1"
done <words | sed 's/\\-/-/g' | sort >found
runs 0 "they have all options" diff options found
runs 0 "one alone is the same" sh -c '"$0" manual profile merge | cmp - man1/assay-profile-merge.1 && "$0" manual | cmp - man1/assay.1' "$assay"
sed -nE 's/^(assay [a-z]+( [a-z]+)?) .*/\1/p' "$source"/interp/cli/man/*.7 | sort -u | while read -r _ name; do
    grep -qxE "${name%% *}" words || echo "$name"
done >unknown
runs 0 "the prose pages name commands that there are" test ! -s unknown
if command -v groff >out; then
    runs 1 "groff has no complaint" sh -c 'groff -man -ww -Tutf8 -rLL=120n man1/*.1 "$0"/interp/cli/man/*.7 2>&1 >text | grep .' "$source"
else skip "groff has no complaint" "no groff"; fi
refused "the page of no command" "nonsense" "$assay" manual nonsense
refused "one that is misspelt" "goldn.; nearest: golden$" "$assay" manual goldn
refused "a folder and a command" "no COMMAND" "$assay" manual golden -o man2
refused "a folder that cannot be made" "nowhere" "$assay" manual -o nowhere/man1
finish
