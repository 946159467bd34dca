#!/usr/bin/env python3
"""Writes presets.c: every preset's text as a C array. Usage: embed.py OUT FILE.yaml ..."""
import os
import sys

out, files = sys.argv[1], sorted(sys.argv[2:])
names = [os.path.splitext(os.path.basename(f))[0] for f in files]
with open(out, "w") as c:
    c.write("/* Made by schemes/presets/embed.py from schemes/presets. */\n")
    c.write('#include <string.h>\n\n#include "schemes/data.h"\n\n')
    for i, f in enumerate(files):
        data = open(f, "rb").read()
        c.write(f"static const char text_{i}[] = {{")
        c.write(",".join(str(b if b < 128 else b - 256) for b in data))
        c.write(",0};\n")
    c.write("\nstatic const char *const names[] = {")
    c.write("".join(f'"{n}", ' for n in names) + "NULL};\n")
    c.write("static const char *const texts[] = {")
    c.write(", ".join(f"text_{i}" for i in range(len(files))) + "};\n")
    c.write("static const size_t lengths[] = {")
    c.write(", ".join(f"sizeof text_{i} - 1" for i in range(len(files))) + "};\n")
    c.write("""
const char *const *assay_scheme_presets(void)
{
    return names;
}

const char *assay_preset_text(const char *name, size_t *length)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            *length = lengths[i];
            return texts[i];
        }
    return NULL;
}
""")
