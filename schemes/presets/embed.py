#!/usr/bin/env python3
"""Writes the texts of YAML files as C arrays, and the two functions that give names and texts.

Usage: embed.py OUT HEADER NAMES_FUNCTION TEXT_FUNCTION FILE.yaml ..."""
import os
import sys

out, header, names_function, text_function = sys.argv[1:5]
files = sorted(sys.argv[5:])
names = [os.path.splitext(os.path.basename(f))[0] for f in files]
with open(out, "w") as c:
    c.write("/* Made by schemes/presets/embed.py. */\n")
    c.write(f'#include <string.h>\n\n#include "{header}"\n\n')
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
    c.write(f"""
const char *const *{names_function}(void)
{{
    return names;
}}

const char *{text_function}(const char *name, size_t *length)
""")
    c.write("""{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) {
            *length = lengths[i];
            return texts[i];
        }
    return NULL;
}
""")
