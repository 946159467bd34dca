/* One tensor as .npy, raw bytes, $readmemh text and a C array. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/npy.h"
#include "interp/golden/bundle.h"
#include "interp/golden/compare.h"

static const struct {
    size_t width;
    bool is_signed;
    assay_npy_type npy;
    const char *name;
    const char *c_type;
} containers[] = {
    {1, true, ASSAY_NPY_I1, "int8", "int8_t"},   {1, false, ASSAY_NPY_U1, "uint8", "uint8_t"},
    {2, true, ASSAY_NPY_I2, "int16", "int16_t"}, {2, false, ASSAY_NPY_U2, "uint16", "uint16_t"},
    {4, true, ASSAY_NPY_I4, "int32", "int32_t"}, {4, false, ASSAY_NPY_U4, "uint32", "uint32_t"},
    {8, true, ASSAY_NPY_I8, "int64", "int64_t"},
};

static size_t container(assay_elem e)
{
    size_t i = 0;
    while (i + 1 < sizeof containers / sizeof *containers &&
           (containers[i].width != assay_elem_size(e) || containers[i].is_signed != e.is_signed))
        i++;
    return i;
}

const char *assay_dtype_name(assay_elem e)
{
    if (e.kind == ASSAY_KIND_F32)
        return "float32";
    if (e.kind == ASSAY_KIND_BOOL)
        return "bool";
    return containers[container(e)].name;
}

static assay_status write_npy(const char *path, const assay_type *type, const void *data,
                              assay_error *err)
{
    assay_npy a = {.rank = type->rank};

    if (type->elem.kind == ASSAY_KIND_F32)
        a.type = ASSAY_NPY_F4;
    else if (type->elem.kind == ASSAY_KIND_BOOL)
        a.type = ASSAY_NPY_BOOL;
    else
        a.type = containers[container(type->elem)].npy;
    memcpy(a.shape, type->dim, (size_t)type->rank * sizeof *a.shape);
    a.data = (void *)(uintptr_t)data;
    return assay_npy_write_file(path, &a, err);
}

/* Bit pattern of element i. */
static uint64_t pattern(const assay_type *type, const void *data, int64_t i)
{
    if (type->elem.kind == ASSAY_KIND_F32) {
        uint32_t bits;
        memcpy(&bits, (const uint8_t *)data + (size_t)i * sizeof bits, sizeof bits);
        return bits;
    }
    return (uint64_t)assay_element_code(type, data, i);
}

static void write_raw(FILE *f, const assay_type *type, const void *data)
{
    const int64_t n = assay_shape_count(type);
    const size_t width = assay_elem_size(type->elem);

    for (int64_t i = 0; i < n; i++) {
        uint8_t bytes[8];
        const uint64_t v = pattern(type, data, i);
        for (size_t b = 0; b < width; b++)
            bytes[b] = (uint8_t)(v >> (8 * b));
        fwrite(bytes, 1, width, f);
    }
}

/* Words of word_bits bits (a multiple of the element's bits), element 0 in the least significant
 * place, one word a line; element codes are truncated to their own bits (two's complement). */
static void write_hex(FILE *f, const assay_type *type, const void *data, unsigned word_bits)
{
    const unsigned bits = type->elem.kind == ASSAY_KIND_BOOL ? 1 : type->elem.bits;
    const int64_t n = assay_shape_count(type);
    const int64_t per_word = word_bits / bits;
    const int64_t digits = (word_bits + 3) / 4;
    char line[1024 / 4 + 1];

    for (int64_t first = 0; first < n; first += per_word) {
        memset(line, 0, sizeof line);
        for (int64_t k = 0; k < per_word && first + k < n; k++)
            for (unsigned b = 0; b < bits; b++) {
                const int64_t at = k * bits + b;
                if (pattern(type, data, first + k) >> b & 1)
                    line[digits - 1 - at / 4] = (char)(line[digits - 1 - at / 4] | 1 << at % 4);
            }
        for (int64_t d = 0; d < digits; d++)
            fputc("0123456789abcdef"[(unsigned char)line[d]], f);
        fputc('\n', f);
    }
}

static void write_c(FILE *f, const char *stem, const assay_type *type, const void *data)
{
    const char *slash = strrchr(stem, '/');
    const int64_t n = assay_shape_count(type);
    const bool is_float = type->elem.kind == ASSAY_KIND_F32;

    fprintf(f, "/* shape:");
    for (int d = 0; d < type->rank; d++)
        fprintf(f, " %" PRId64, type->dim[d]);
    fprintf(f, "%s */\n#include <stdint.h>\nstatic const %s t_",
            is_float ? "; IEEE binary32 bit patterns" : "",
            is_float                             ? "uint32_t"
            : type->elem.kind == ASSAY_KIND_BOOL ? "uint8_t"
                                                 : containers[container(type->elem)].c_type);
    for (const char *p = slash ? slash + 1 : stem; *p; p++) {
        const bool word =
            (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        fputc(word ? *p : '_', f);
    }
    fprintf(f, "[%" PRId64 "] = {", n > 0 ? n : 1);
    for (int64_t i = 0; i < n; i++) {
        fprintf(f, "%s", i % 16 == 0 ? "\n    " : " ");
        if (is_float)
            fprintf(f, "0x%08" PRIx64 ",", pattern(type, data, i));
        else
            fprintf(f, "%" PRId64 ",", assay_element_code(type, data, i));
    }
    fprintf(f, "%s};\n", n > 0 ? "\n" : "0");
}

static assay_status write_text(const char *stem, const char *extension, unsigned hex_bits,
                               const assay_type *type, const void *data, assay_error *err)
{
    char path[4096];
    FILE *f;
    bool bad;

    if ((size_t)snprintf(path, sizeof path, "%s.%s", stem, extension) >= sizeof path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: the path is too long", stem);
    f = fopen(path, "wb");
    if (!f)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    if (extension[0] == 'b')
        write_raw(f, type, data);
    else if (extension[0] == 'h' && extension[1] == 'e')
        write_hex(f, type, data, hex_bits);
    else
        write_c(f, stem, type, data);
    bad = ferror(f) != 0;
    errno = 0;
    if (fclose(f) != 0 || bad)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path,
                          errno ? strerror(errno) : "write error");
    return ASSAY_OK;
}

assay_status assay_form_write(const char *stem, unsigned forms, unsigned hex_bits,
                              const assay_type *type, const void *data, assay_error *err)
{
    const unsigned bits = type->elem.kind == ASSAY_KIND_BOOL ? 1 : type->elem.bits;
    assay_status status = ASSAY_OK;
    char path[4096];

    if (hex_bits == 0 || hex_bits < bits)
        hex_bits = bits;
    hex_bits -= hex_bits % bits;
    if (hex_bits > 1024)
        return assay_fail(err, ASSAY_ERR_LIMIT, "a $readmemh word of %u bits: at most 1024",
                          hex_bits);
    if ((size_t)snprintf(path, sizeof path, "%s.npy", stem) >= sizeof path)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: the path is too long", stem);
    if (forms & ASSAY_FORM_NPY)
        status = write_npy(path, type, data, err);
    if (status == ASSAY_OK && (forms & ASSAY_FORM_RAW))
        status = write_text(stem, "bin", hex_bits, type, data, err);
    if (status == ASSAY_OK && (forms & ASSAY_FORM_HEX))
        status = write_text(stem, "hex", hex_bits, type, data, err);
    if (status == ASSAY_OK && (forms & ASSAY_FORM_C))
        status = write_text(stem, "h", hex_bits, type, data, err);
    return status;
}
