/* One tensor in the formats of format.def. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/files/memory.h"
#include "graph/memory.h"
#include "graph/text/constant.h"
#include "interp/golden/bundle.h"
#include "interp/golden/compare.h"
#include "interp/golden/hex.h"

const char *golden_dtype_name(assay_elem e)
{
    return text_npy_type_name(text_elem_npy(e));
}

/* An array to print: elements of a type in C order; stem is its file's path without extension. */
typedef struct dumped {
    const char *stem;
    unsigned hex_bits;
    const assay_type *type;
    const void *data;
} dumped;

static void print_raw(FILE *f, const dumped *d)
{
    const int64_t n = assay_shape_count(d->type);
    const size_t width = assay_elem_size(d->type->elem);

    for (int64_t i = 0; i < n; i++) {
        uint8_t bytes[8];
        const uint64_t v = golden_hex_pattern(d->type, d->data, i);
        for (size_t b = 0; b < width; b++)
            bytes[b] = (uint8_t)(v >> (8 * b));
        fwrite(bytes, 1, width, f);
    }
}

static void print_hex(FILE *f, const dumped *d)
{
    golden_hex_print(f, d->type, d->data, d->hex_bits);
}

static void print_c(FILE *f, const dumped *d)
{
    const assay_type *type = d->type;
    const int64_t n = assay_shape_count(type);
    const bool is_float = type->elem.kind == ASSAY_KIND_F32;

    fprintf(f, "/* shape:");
    for (int i = 0; i < type->rank; i++)
        fprintf(f, " %" PRId64, type->dim[i]);
    fprintf(f, "%s */\n#include <stdint.h>\nstatic const ",
            is_float ? "; IEEE binary32 bit patterns" : "");
    if (is_float || type->elem.kind == ASSAY_KIND_BOOL)
        fprintf(f, "%s t_", is_float ? "uint32_t" : "uint8_t");
    else
        fprintf(f, "%s_t t_", golden_dtype_name(type->elem));
    for (const char *p = file_base_name(d->stem); *p; p++) {
        const bool word =
            (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        fputc(word ? *p : '_', f);
    }
    fprintf(f, "[%" PRId64 "] = {", n > 0 ? n : 1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(f, "%s", i % 16 == 0 ? "\n    " : " ");
        if (is_float)
            fprintf(f, "0x%08" PRIx64 ",", golden_hex_pattern(type, d->data, i));
        else
            fprintf(f, "%" PRId64 ",", golden_element_code(type, d->data, i));
    }
    fprintf(f, "%s};\n", n > 0 ? "\n" : "0");
}

static assay_npy npy_of(const assay_type *type, const void *data)
{
    assay_npy a = {.type = text_elem_npy(type->elem), .rank = type->rank};
    memcpy(a.shape, type->dim, (size_t)type->rank * sizeof *a.shape);
    a.data = (void *)(uintptr_t)data;
    return a;
}

#define print_npy NULL /* by graph/text/npy.h */
static const struct {
    const char *name, *extension;
    void (*print)(FILE *f, const dumped *d);
} formats[] = {
#define DUMP(ID, name, extension, what) {#name, extension, print_##name},
    ASSAY_DUMPS(DUMP)
#undef DUMP
};
#undef print_npy

static int index_of(enum assay_dump_format format)
{
    int i = 0;
    while (i < ASSAY_DUMP_COUNT && 1 << i != (int)format)
        i++;
    assert(i < ASSAY_DUMP_COUNT);
    return i;
}

const char *golden_dump_extension(enum assay_dump_format format)
{
    return formats[index_of(format)].extension;
}

const char *golden_dump_name(enum assay_dump_format format)
{
    return formats[index_of(format)].name;
}

unsigned golden_dump_find(const char *name, size_t length)
{
    for (int i = 0; i < ASSAY_DUMP_COUNT; i++)
        if (strlen(formats[i].name) == length && strncmp(formats[i].name, name, length) == 0)
            return 1U << i;
    return 0;
}

assay_status golden_dump_render(enum assay_dump_format format, const char *stem, unsigned hex_bits,
                                const assay_type *type, const void *data, unsigned char **bytes,
                                size_t *size, assay_error *err)
{
    const assay_npy a = npy_of(type, data);
    const dumped d = {stem, hex_bits, type, data};
    file_memory text = {0};
    void *npy;
    FILE *f;

    *bytes = NULL;
    if (format == ASSAY_DUMP_NPY) {
        assay_status status = text_npy_write_memory(&a, &npy, size, err);
        *bytes = !status ? npy : NULL;
        return status;
    }
    f = file_memory_open(&text);
    if (f)
        formats[index_of(format)].print(f, &d);
    if (!file_memory_close(f)) {
        free(text.text);
        return assay_out_of_memory_for(err, "%s", stem);
    }
    *bytes = (unsigned char *)text.text;
    *size = text.length;
    return ASSAY_OK;
}

assay_status golden_dump_write(const char *stem, unsigned wanted, unsigned hex_bits,
                               const assay_type *type, const void *data, assay_error *err)
{
    const assay_npy a = npy_of(type, data);
    assay_status status = ASSAY_OK;
    char path[4096];

    for (int i = 0; i < ASSAY_DUMP_COUNT && !status; i++) {
        const enum assay_dump_format format = (enum assay_dump_format)(1 << i);
        unsigned char *bytes = NULL;
        size_t size;
        if (!(wanted & format))
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s.%s", stem, formats[i].extension) >= sizeof path)
            return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", stem);
        if (format == ASSAY_DUMP_NPY) { /* no copy: bundles are made of many */
            status = text_npy_put(path, &a, err);
            continue;
        }
        status = golden_dump_render(format, stem, hex_bits, type, data, &bytes, &size, err);
        if (!status)
            status = file_bytes_write(path, bytes, size, err);
        free(bytes);
    }
    return status;
}

assay_status golden_dump_npy(const char *path, const assay_type *type, const void *data,
                             assay_error *err)
{
    const assay_npy a = npy_of(type, data);
    return text_npy_write_file(path, &a, err);
}
