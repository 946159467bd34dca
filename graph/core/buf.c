/* Text buffer, and floats as text that round-trips. */
#include "graph/core/buf.h"
#include "graph/memory.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"

#define QUIET_NAN UINT32_C(0x7fc00000)

void assay_buf_free(assay_buf *b)
{
    free(b->text);
    *b = (assay_buf){0};
}

/* Room for n more bytes and a NUL. */
static bool reserve(assay_buf *b, size_t n)
{
    size_t need = b->length + n + 1, capacity = b->capacity ? b->capacity : 256;
    char *text;

    if (b->failed || need < n)
        return false;
    if (need <= b->capacity)
        return true;
    while (capacity < need)
        capacity *= 2;
    text = realloc(b->text, capacity);
    if (!text) {
        b->failed = true;
        return false;
    }
    b->text = text;
    b->capacity = capacity;
    return true;
}

void assay_buf_add(assay_buf *b, const char *bytes, size_t n)
{
    if (!reserve(b, n))
        return;
    assert(b->length + n < b->capacity);
    memcpy(b->text + b->length, bytes, n);
    b->length += n;
    b->text[b->length] = '\0';
}

void assay_buf_printf(assay_buf *b, const char *format, ...)
{
    va_list args, again;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    if (n >= 0 && reserve(b, (size_t)n)) {
        vsnprintf(b->text + b->length, (size_t)n + 1, format, again);
        b->length += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void assay_buf_float(assay_buf *b, float value)
{
    char text[32];

    if (isnan(value)) {
        if (bits_of(value) == QUIET_NAN)
            assay_buf_printf(b, "nan");
        else
            assay_buf_printf(b, "nan(0x%08x)", (unsigned)bits_of(value));
        return;
    }
    for (int digits = 6; digits <= 9; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    assay_buf_add(b, text, strlen(text));
}

const char *assay_parse_float(const char *text, float *value)
{
    char *end;
    uint32_t bits = QUIET_NAN;

    if (strncmp(text, "nan", 3) == 0) {
        const char *p = text + 3;
        if (*p == '(') {
            unsigned long long payload = strtoull(p + 1, &end, 16);
            if (end == p + 1 || *end != ')' || payload > UINT32_MAX)
                return NULL;
            bits = (uint32_t)payload;
            p = end + 1;
        }
        memcpy(value, &bits, sizeof bits);
        return isnan(*value) ? p : NULL;
    }
    if (isspace((unsigned char)*text))
        return NULL;
    *value = strtof(text, &end);
    return end == text ? NULL : end;
}

assay_status assay_buf_status(const assay_buf *b, assay_error *err)
{
    return b->failed ? assay_out_of_memory(err) : ASSAY_OK;
}
