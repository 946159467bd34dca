/* The header of .npy, a Python dict literal that is not trusted; NumPy's element types. */
#include "graph/text/npy.h"

#include <string.h>

#define MAX_BYTES ((int64_t)1 << 40)

static const struct {
    const char *code; /* kind and size of NumPy's descr, without the byte order */
    const char *name;
    size_t size;
} types[] = {
    [ASSAY_NPY_BOOL] = {"b1", "bool", 1},  [ASSAY_NPY_I1] = {"i1", "int8", 1},
    [ASSAY_NPY_U1] = {"u1", "uint8", 1},   [ASSAY_NPY_I2] = {"i2", "int16", 2},
    [ASSAY_NPY_U2] = {"u2", "uint16", 2},  [ASSAY_NPY_I4] = {"i4", "int32", 4},
    [ASSAY_NPY_U4] = {"u4", "uint32", 4},  [ASSAY_NPY_I8] = {"i8", "int64", 8},
    [ASSAY_NPY_U8] = {"u8", "uint64", 8},  [ASSAY_NPY_F2] = {"f2", "float16", 2},
    [ASSAY_NPY_F4] = {"f4", "float32", 4}, [ASSAY_NPY_F8] = {"f8", "float64", 8},
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

size_t text_npy_type_size(assay_npy_type type)
{
    return types[type].size;
}

const char *text_npy_type_name(assay_npy_type type)
{
    return types[type].name;
}

typedef struct scanner {
    const char *p, *end;
    const char *name;
    assay_npy_header *out;
    assay_error *err;
} scanner;

static assay_status malformed(const scanner *s, const char *expected)
{
    int left = (int)(s->end - s->p < 16 ? s->end - s->p : 16);
    char found[20];
    for (int i = 0; i < left; i++)
        found[i] = s->p[i] >= ' ' && s->p[i] <= '~' ? s->p[i] : '?';
    found[left] = 0;
    return assay_fail(s->err, ASSAY_ERR_INPUT, "%s: npy header: expected %s, found \"%s\"", s->name,
                      expected, found);
}

static void skip_space(scanner *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t'))
        s->p++;
}

static bool take(scanner *s, const char *word)
{
    size_t n = strlen(word);
    skip_space(s);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return false;
    s->p += n;
    return true;
}

/* A quoted string without escapes, shorter than `max`; false when there is none. */
static bool take_string(scanner *s, char *text, size_t max)
{
    skip_space(s);
    if (s->p == s->end || (*s->p != '\'' && *s->p != '"'))
        return false;
    const char *close = memchr(s->p + 1, *s->p, (size_t)(s->end - s->p - 1));
    if (!close || (size_t)(close - s->p) > max)
        return false;
    size_t n = (size_t)(close - s->p - 1);
    memcpy(text, s->p + 1, n);
    text[n] = 0;
    s->p = close + 1;
    return true;
}

assay_npy_type text_npy_unsigned(int bits)
{
    return bits == 8    ? ASSAY_NPY_U1
           : bits == 16 ? ASSAY_NPY_U2
           : bits == 32 ? ASSAY_NPY_U4
                        : ASSAY_NPY_U8;
}

/* Raw bytes, as which ml_dtypes' small floats are stored: unsigned numbers of as many. */
static bool take_void(const char *text, assay_npy_header *out)
{
    const int bytes = strncmp(text, "|V", 2) == 0 && strlen(text) == 3 ? text[2] - '0' : 0;
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return false;
    out->type = text_npy_unsigned(8 * bytes);
    out->swap = false;
    return true;
}

static assay_status parse_descr(scanner *s)
{
    char text[16];
    const uint16_t one = 1;
    const char native = *(const unsigned char *)&one ? '<' : '>';
    if (!take_string(s, text, sizeof text))
        return malformed(s, "a simple element type such as '<f4'");
    for (int t = 0; t < TYPE_COUNT; t++) {
        if (strchr("<>|=", text[0]) && text[0] && strcmp(text + 1, types[t].code) == 0) {
            if (text[0] == '|' && types[t].size > 1)
                break;
            s->out->type = (assay_npy_type)t;
            s->out->swap = types[t].size > 1 && text[0] != '=' && text[0] != native;
            return ASSAY_OK;
        }
    }
    if (take_void(text, s->out))
        return ASSAY_OK;
    return assay_fail(s->err, ASSAY_ERR_UNSUPPORTED,
                      "%s: npy element type '%s' is not supported; expected bool, int or uint of "
                      "8 to 64 bits, or float of 16 to 64 bits",
                      s->name, text);
}

static assay_status parse_shape(scanner *s)
{
    int64_t bytes = (int64_t)types[s->out->type].size;
    bool comma = true;
    if (!take(s, "("))
        return malformed(s, "a shape such as (2, 3)");
    for (s->out->rank = 0; !take(s, ")"); comma = take(s, ",")) {
        int64_t dim = 0;
        int digits = 0;
        if (!comma)
            return malformed(s, "',' or ')' in the shape");
        if (s->out->rank == ASSAY_NPY_MAX_RANK)
            return assay_fail(s->err, ASSAY_ERR_UNSUPPORTED,
                              "%s: npy array has more than %d dimensions", s->name,
                              ASSAY_NPY_MAX_RANK);
        for (; s->p < s->end && *s->p >= '0' && *s->p <= '9' && digits < 18; digits++)
            dim = dim * 10 + (*s->p++ - '0');
        if (digits == 0 || digits == 18)
            return malformed(s, "a dimension of at most 17 digits");
        s->out->shape[s->out->rank++] = dim;
    }
    for (int i = 0; i < s->out->rank; i++)
        if (s->out->shape[i] == 0)
            bytes = 0;
    for (int i = 0; i < s->out->rank && bytes; i++) {
        if (s->out->shape[i] > MAX_BYTES / bytes)
            return assay_fail(s->err, ASSAY_ERR_LIMIT, "%s: npy array is larger than 2^40 bytes",
                              s->name);
        bytes *= s->out->shape[i];
    }
    s->out->bytes = (size_t)bytes;
    return ASSAY_OK;
}

static assay_status parse_order(scanner *s)
{
    if (take(s, "False"))
        return ASSAY_OK;
    s->out->fortran = take(s, "True");
    if (s->out->fortran)
        return ASSAY_OK;
    return malformed(s, "True or False");
}

/* The three keys may come in any order, but a shape's size needs the type: hence two rounds. */
static assay_status parse_dict(scanner *s)
{
    const scanner start = *s;
    bool seen[3] = {false, false, false};
    for (int round = 0; round < 2; round++) {
        *s = start;
        memset(seen, 0, sizeof seen);
        if (!take(s, "{"))
            return malformed(s, "'{'");
        while (!take(s, "}")) {
            static const char *const keys[3] = {"descr", "fortran_order", "shape"};
            static assay_status (*const parsers[3])(scanner *) = {parse_descr, parse_order,
                                                                  parse_shape};
            char key[16];
            int k = 0;
            skip_space(s);
            const char *at = s->p;
            if (!take_string(s, key, sizeof key) || !take(s, ":"))
                return malformed(s, "a quoted key and ':'");
            while (k < 3 && strcmp(key, keys[k]) != 0)
                k++;
            if (k == 3 || seen[k]) {
                s->p = at;
                return malformed(s, "each of descr, fortran_order and shape once");
            }
            seen[k] = true;
            assay_status status = parsers[k](s);
            if (status)
                return status;
            if (!take(s, ",") && !(skip_space(s), s->p < s->end && *s->p == '}'))
                return malformed(s, "',' or '}'");
        }
    }
    skip_space(s);
    if (!seen[0] || !seen[1] || !seen[2] || s->p != s->end)
        return malformed(s, "descr, fortran_order and shape, and nothing after them");
    s->out->fortran = s->out->fortran && s->out->rank > 1;
    return ASSAY_OK;
}

assay_status text_npy_parse_header(const void *bytes, size_t size, const char *name,
                                   assay_npy_header *out, assay_error *err)
{
    const unsigned char *b = bytes;
    memset(out, 0, sizeof *out);
    if (size < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: not an npy file", name);
    if (b[6] < 1 || b[6] > 3)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: npy version %d is not supported; expected 1, 2 or 3", name, b[6]);
    size_t start = b[6] == 1 ? 10 : 12;
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1 && size >= 12)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (start + length > ASSAY_NPY_MAX_HEADER || start + length > size)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: npy header says %zu bytes, which is beyond the file or the limit of "
                          "65535",
                          name, length);
    out->offset = start + length;
    const char *text = (const char *)b + start;
    scanner s = {text, text + length, name, out, err};
    return parse_dict(&s);
}
