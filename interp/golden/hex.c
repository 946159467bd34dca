/* $readmemh text; see hex.h. */
#include "interp/golden/hex.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/compare.h"

static unsigned bits_of(const assay_type *type)
{
    return type->elem.kind == ASSAY_KIND_BOOL ? 1 : type->elem.bits;
}

/* How elements lie in words: so many in a word, or a word of so many for an element. */
typedef struct layout {
    unsigned bits, word_bits;
    int64_t per_word, parts;
} layout;

static layout layout_of(unsigned bits, unsigned word_bits)
{
    layout l = {bits, word_bits ? word_bits : bits, 1, 1};
    l.per_word = l.word_bits / bits > 0 ? l.word_bits / bits : 1;
    l.parts = (bits + l.word_bits - 1) / l.word_bits;
    return l;
}

/* Words of n elements. */
static int64_t words_of(const layout *l, int64_t n)
{
    return l->parts > 1 ? n * l->parts : (n + l->per_word - 1) / l->per_word;
}

/* The lowest n bits. */
static uint64_t low(uint64_t v, unsigned n)
{
    return n < 64 ? v & ((UINT64_C(1) << n) - 1) : v;
}

/* ---- printing ---- */

uint64_t golden_hex_pattern(const assay_type *type, const void *data, int64_t i)
{
    if (type->elem.kind == ASSAY_KIND_F32) {
        uint32_t bits;
        memcpy(&bits, (const uint8_t *)data + (size_t)i * sizeof bits, sizeof bits);
        return bits;
    }
    return (uint64_t)golden_element_code(type, data, i);
}

/* Sets `bits` bits of a word of nibbles, the least significant first, from place `at` on. */
static void set_bits(unsigned char *nibble, unsigned at, uint64_t v, unsigned bits)
{
    assert(bits <= 64);
    for (unsigned b = 0; b < bits; b++)
        nibble[(at + b) / 4] = (unsigned char)(nibble[(at + b) / 4] | (v >> b & 1) << (at + b) % 4);
}

static void print_word(FILE *f, unsigned char nibble[ASSAY_HEX_MAX_BITS / 4], unsigned word_bits)
{
    for (unsigned d = (word_bits + 3) / 4; d-- > 0; nibble[d] = 0)
        fputc("0123456789abcdef"[nibble[d]], f);
    fputc('\n', f);
}

void golden_hex_print(FILE *f, const assay_type *type, const void *data, unsigned word_bits)
{
    const layout l = layout_of(bits_of(type), word_bits);
    const int64_t n = assay_shape_count(type);
    unsigned char nibble[ASSAY_HEX_MAX_BITS / 4] = {0};

    for (int64_t i = 0; i < n; i++) {
        uint64_t v = golden_hex_pattern(type, data, i);
        if (l.parts > 1) {
            for (unsigned at = 0; at < l.bits; at += l.word_bits, v >>= l.word_bits) {
                set_bits(nibble, 0, v, l.bits - at < l.word_bits ? l.bits - at : l.word_bits);
                print_word(f, nibble, l.word_bits);
            }
            continue;
        }
        set_bits(nibble, (unsigned)(i % l.per_word) * l.bits, v, l.bits);
        if (i % l.per_word == l.per_word - 1 || i == n - 1)
            print_word(f, nibble, l.word_bits);
    }
}

/* ---- reading ---- */

typedef struct reading {
    const char *name, *p;
    int line;
    int64_t words;                                /* read so far */
    uint64_t base;                                /* address of the first word */
    unsigned n_digits;                            /* of the word at hand */
    unsigned char nibble[ASSAY_HEX_MAX_BITS / 4]; /* its digits, the least significant first */
    assay_error *err;
} reading;

static bool is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned value_of(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

static assay_status fail_at(const reading *r, const char *what)
{
    return assay_fail(r->err, ASSAY_ERR_INPUT, "%s:%d: %s", r->name, r->line, what);
}

/* White space and comments. */
static void skip(reading *r)
{
    for (;;) {
        if (*r->p == '/' && r->p[1] == '/') {
            r->p += strcspn(r->p, "\n");
        } else if (*r->p == '/' && r->p[1] == '*') {
            for (r->p += 2; *r->p && !(*r->p == '*' && r->p[1] == '/'); r->p++)
                r->line += *r->p == '\n';
            r->p += *r->p ? 2 : 0;
        } else if (*r->p && strchr(" \t\r\n\f\v", *r->p)) {
            r->line += *r->p++ == '\n';
        } else {
            return;
        }
    }
}

static assay_status read_address(reading *r)
{
    uint64_t address = 0;
    r->p++;
    if (!is_digit(*r->p))
        return fail_at(r, "an address without digits");
    for (; is_digit(*r->p); r->p++)
        address = address << 4 | value_of(*r->p);
    if (r->words == 0)
        r->base = address;
    return address == r->base + (uint64_t)r->words
               ? ASSAY_OK
               : fail_at(r, "the address leaves a gap or goes back; words must follow one another");
}

/* The next word, or n_digits 0 at the end. */
static assay_status next_word(reading *r)
{
    assay_status status = ASSAY_OK;
    r->n_digits = 0;
    for (skip(r); *r->p == '@' && !status; skip(r))
        status = read_address(r);
    if (status || !*r->p)
        return status;
    const char *first = r->p;
    for (; is_digit(*r->p) || *r->p == '_'; r->p++)
        r->n_digits += *r->p != '_';
    if (*r->p && strchr("xXzZ", *r->p))
        return fail_at(r, "the device left bits undefined (x or z)");
    if (r->n_digits == 0 || (*r->p && !strchr(" \t\r\n\f\v/", *r->p)))
        return fail_at(r, "expected a word in hexadecimal digits");
    if (r->n_digits > ASSAY_HEX_MAX_BITS / 4)
        return fail_at(r, "a word of more than 1024 bits");
    for (unsigned place = r->n_digits; first < r->p; first++)
        if (*first != '_')
            r->nibble[--place] = (unsigned char)value_of(*first);
    r->words++;
    return ASSAY_OK;
}

/* Bits from `at` on of the word at hand, at most 64. */
static uint64_t get_bits(const reading *r, unsigned at, unsigned bits)
{
    uint64_t v = 0;
    assert(bits <= 64);
    for (unsigned b = 0; b < bits && (at + b) / 4 < r->n_digits; b++)
        v |= (uint64_t)(r->nibble[(at + b) / 4] >> (at + b) % 4 & 1) << b;
    return v;
}

/* Whether bits from `at` to the word's end are all zeros, or all copies of the bit below them. */
static bool is_filled(const reading *r, unsigned at, bool is_signed)
{
    bool zeros = true, ones = is_signed && get_bits(r, at - 1, 1) == 1;
    for (unsigned b = at; b < 4 * r->n_digits; b++) {
        zeros = zeros && get_bits(r, b, 1) == 0;
        ones = ones && get_bits(r, b, 1) == 1;
    }
    return zeros || ones;
}

static void store(const assay_type *type, void *data, int64_t i, uint64_t v, unsigned bits)
{
    const uint32_t word = (uint32_t)v;
    if (type->elem.kind == ASSAY_KIND_F32) {
        memcpy((uint8_t *)data + (size_t)i * sizeof word, &word, sizeof word);
        return;
    }
    v = low(v, bits);
    if (type->elem.is_signed && type->elem.kind == ASSAY_KIND_INT && bits < 64 && v >> (bits - 1))
        v |= UINT64_MAX << bits;
    assay_elem_set(type->elem, data, (size_t)i, (int64_t)v);
}

/* Elements of the word at hand, which is number `word` and the last one's if it has fewer. */
static assay_status take_word(const reading *r, const layout *l, const assay_type *type, int64_t n,
                              uint64_t *partial, void *data)
{
    const int64_t word = r->words - 1;
    if (l->parts > 1) {
        const unsigned part = (unsigned)(word % l->parts), at = part * l->word_bits;
        const unsigned bits = l->bits - at < l->word_bits ? l->bits - at : l->word_bits;
        *partial = (part ? *partial : 0) | get_bits(r, 0, bits) << at;
        if (part + 1 == l->parts)
            store(type, data, word / l->parts, *partial, l->bits);
        return is_filled(r, bits, part + 1 == l->parts && type->elem.is_signed)
                   ? ASSAY_OK
                   : fail_at(r, "bits are set above those of the element");
    }
    int64_t held = 0;
    for (; held < l->per_word && word * l->per_word + held < n; held++)
        store(type, data, word * l->per_word + held, get_bits(r, (unsigned)held * l->bits, l->bits),
              l->bits);
    return is_filled(r, (unsigned)held * l->bits, l->per_word == 1 && type->elem.is_signed)
               ? ASSAY_OK
               : fail_at(r, "bits are set above those of the elements");
}

/* The layout of words of so many digits, all of their bits if it can be, that makes n elements of
 * `words` words. False when there is none; *two when there are two that read otherwise. */
static bool find_layout(unsigned bits, unsigned digits, int64_t n, int64_t words, layout *l,
                        bool *two)
{
    *l = layout_of(bits, 4 * digits);
    const bool whole = words_of(l, n) == words;
    bool found = whole;
    for (unsigned w = 4 * digits - 1; !whole && w > 4 * digits - 4; w--) {
        const layout tried = layout_of(bits, w);
        if (words_of(&tried, n) != words)
            continue;
        *two = *two || (found && (tried.per_word != l->per_word
                                      ? n > 1
                                      : tried.parts > 1 && tried.word_bits != l->word_bits));
        if (!found)
            *l = tried;
        found = true;
    }
    if (!found && words == n && bits <= 4 * digits) { /* one a word, in words that hold more */
        *l = (layout){bits, 4 * digits, 1, 1};
        found = true;
    }
    return found;
}

/* How many words there are, and the digits of the longest. */
static assay_status measure(reading r, int64_t *words, unsigned *digits)
{
    assay_status status = next_word(&r);
    for (*digits = 0; !status && r.n_digits > 0; status = next_word(&r))
        *digits = r.n_digits > *digits ? r.n_digits : *digits;
    *words = r.words;
    return status;
}

assay_status golden_hex_parse(const char *name, const char *text, const assay_type *type,
                              unsigned word_bits, void *data, assay_error *err)
{
    reading r = {.name = name, .p = text, .line = 1, .err = err};
    const int64_t n = assay_shape_count(type);
    layout l = layout_of(bits_of(type), word_bits);
    bool two = false;
    unsigned digits;
    int64_t words;
    uint64_t partial = 0;
    assay_status status = measure(r, &words, &digits);

    if (status)
        return status;
    if (word_bits ? words_of(&l, n) != words
                  : digits > 0 && !find_layout(bits_of(type), digits, n, words, &l, &two))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: %" PRId64 " words of %u digits do not make %" PRId64
                          " elements of %u bits",
                          name, words, digits, n, bits_of(type));
    if (two)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: elements of %u bits lie in words of %u digits in more than one way; "
                          "`hex_bits` says the width of a word",
                          name, bits_of(type), digits);
    if (digits == 0 && n > 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: holds no words", name);
    for (status = next_word(&r); !status && r.n_digits > 0; status = next_word(&r))
        if ((status = take_word(&r, &l, type, n, &partial, data)))
            return status;
    return status;
}
