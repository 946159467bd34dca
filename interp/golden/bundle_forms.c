/* One tensor as .npy, raw bytes, $readmemh text and a C array. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/constant.h"
#include "interp/golden/bundle.h"
#include "interp/golden/compare.h"
#include "interp/golden/files.h"
#include "interp/golden/hex.h"

static const struct {
    enum assay_form form;
    const char *name, *extension;
} forms_known[] = {{ASSAY_FORM_NPY, "npy", "npy"},
                   {ASSAY_FORM_RAW, "raw", "bin"},
                   {ASSAY_FORM_HEX, "hex", "hex"},
                   {ASSAY_FORM_C, "c", "h"}};

enum { N_FORMS = sizeof forms_known / sizeof *forms_known };

const char *assay_form_extension(enum assay_form form)
{
    int i = 0;
    while (forms_known[i].form != form)
        i++;
    return forms_known[i].extension;
}

const char *assay_form_name(enum assay_form form)
{
    int i = 0;
    while (forms_known[i].form != form)
        i++;
    return forms_known[i].name;
}

unsigned assay_form_find(const char *name, size_t length)
{
    for (int i = 0; i < N_FORMS; i++)
        if (strlen(forms_known[i].name) == length &&
            strncmp(forms_known[i].name, name, length) == 0)
            return forms_known[i].form;
    return 0;
}

const char *assay_dtype_name(assay_elem e)
{
    return assay_npy_type_name(assay_elem_npy(e));
}

static void print_raw(FILE *f, const assay_type *type, const void *data)
{
    const int64_t n = assay_shape_count(type);
    const size_t width = assay_elem_size(type->elem);

    for (int64_t i = 0; i < n; i++) {
        uint8_t bytes[8];
        const uint64_t v = assay_hex_pattern(type, data, i);
        for (size_t b = 0; b < width; b++)
            bytes[b] = (uint8_t)(v >> (8 * b));
        fwrite(bytes, 1, width, f);
    }
}

static void print_c(FILE *f, const char *stem, const assay_type *type, const void *data)
{
    const int64_t n = assay_shape_count(type);
    const bool is_float = type->elem.kind == ASSAY_KIND_F32;

    fprintf(f, "/* shape:");
    for (int d = 0; d < type->rank; d++)
        fprintf(f, " %" PRId64, type->dim[d]);
    fprintf(f, "%s */\n#include <stdint.h>\nstatic const ",
            is_float ? "; IEEE binary32 bit patterns" : "");
    if (is_float || type->elem.kind == ASSAY_KIND_BOOL)
        fprintf(f, "%s t_", is_float ? "uint32_t" : "uint8_t");
    else
        fprintf(f, "%s_t t_", assay_dtype_name(type->elem));
    for (const char *p = assay_base_name(stem); *p; p++) {
        const bool word =
            (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        fputc(word ? *p : '_', f);
    }
    fprintf(f, "[%" PRId64 "] = {", n > 0 ? n : 1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(f, "%s", i % 16 == 0 ? "\n    " : " ");
        if (is_float)
            fprintf(f, "0x%08" PRIx64 ",", assay_hex_pattern(type, data, i));
        else
            fprintf(f, "%" PRId64 ",", assay_element_code(type, data, i));
    }
    fprintf(f, "%s};\n", n > 0 ? "\n" : "0");
}

static assay_npy npy_of(const assay_type *type, const void *data)
{
    assay_npy a = {.type = assay_elem_npy(type->elem), .rank = type->rank};
    memcpy(a.shape, type->dim, (size_t)type->rank * sizeof *a.shape);
    a.data = (void *)(uintptr_t)data;
    return a;
}

assay_status assay_form_render(enum assay_form form, const char *stem, unsigned hex_bits,
                               const assay_type *type, const void *data, unsigned char **bytes,
                               size_t *size, assay_error *err)
{
    const assay_npy a = npy_of(type, data);
    char *text = NULL;
    void *npy;
    FILE *f;

    *bytes = NULL;
    if (form == ASSAY_FORM_NPY) {
        assay_status status = assay_npy_write_memory(&a, &npy, size, err);
        *bytes = status == ASSAY_OK ? npy : NULL;
        return status;
    }
    f = open_memstream(&text, size);
    if (f && form == ASSAY_FORM_RAW)
        print_raw(f, type, data);
    else if (f && form == ASSAY_FORM_HEX)
        assay_hex_print(f, type, data, hex_bits);
    else if (f)
        print_c(f, stem, type, data);
    if (!f || (ferror(f) | fclose(f)) != 0) {
        free(text);
        return assay_fail(err, ASSAY_ERR_MEMORY, "%s: out of memory", stem);
    }
    *bytes = (unsigned char *)text;
    return ASSAY_OK;
}

assay_status assay_form_write(const char *stem, unsigned forms, unsigned hex_bits,
                              const assay_type *type, const void *data, assay_error *err)
{
    const assay_npy a = npy_of(type, data);
    assay_status status = ASSAY_OK;
    char path[4096];

    for (int i = 0; i < N_FORMS && status == ASSAY_OK; i++) {
        const enum assay_form form = forms_known[i].form;
        unsigned char *bytes = NULL;
        size_t size;
        if (!(forms & form))
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s.%s", stem, forms_known[i].extension) >=
            sizeof path)
            return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", stem);
        if (form == ASSAY_FORM_NPY) { /* no copy: bundles are made of many */
            status = assay_npy_write_file(path, &a, err);
            continue;
        }
        status = assay_form_render(form, stem, hex_bits, type, data, &bytes, &size, err);
        if (status == ASSAY_OK)
            status = assay_bytes_write(path, bytes, size, err);
        free(bytes);
    }
    return status;
}
