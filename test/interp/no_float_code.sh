#!/bin/sh
# No floating-point instruction in the library of quantized arithmetic: no x87, MMX, SSE or AVX
# register is named in its disassembly.  Usage: no_float_code.sh libassay_integer.a
echo 1..1
if ! command -v objdump >/dev/null; then
    echo "ok 1 - no floating point in integer code # SKIP objdump is not installed"
    exit 0
fi
listing=$(objdump -d --no-show-raw-insn "$1")
if ! printf '%s' "$listing" | grep -q 'file format elf64-x86-64'; then
    echo "ok 1 - no floating point in integer code # SKIP not x86-64"
    exit 0
fi
if ! printf '%s' "$listing" | grep -q '<ref_conv>:'; then
    echo "not ok 1 - $1 does not hold the kernels"
elif found=$(printf '%s' "$listing" | grep -E '%([xyz]?mm[0-9]|st\b)|^ +[0-9a-f]+:[[:space:]]+f[a-z]' | head -5) && [ -n "$found" ]; then
    printf '%s\n' "$found" | sed 's/^/# /'
    echo "not ok 1 - floating-point instructions in $1"
else
    echo "ok 1 - no floating point in integer code"
fi
