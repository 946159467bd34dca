/* Parameters and the words of their values. */
#include "schemes/mac/parameters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words_of[] = {
#define WORDS(KIND, words) [ASSAY_MAC_##KIND] = words,
    ASSAY_MAC_CHOICES(WORDS)
#undef WORDS
};

static const assay_mac_parameter parameters[] = {
#define PARAMETER(name, kind, min, max, value, doc)                                                \
    {#name, ASSAY_MAC_##kind, min, max, value, offsetof(assay_mac, name), doc},
    ASSAY_MAC_PARAMETERS(PARAMETER)
#undef PARAMETER
};
enum { N_PARAMETERS = sizeof parameters / sizeof *parameters };

const assay_mac_parameter *mac_parameters(size_t *n)
{
    *n = N_PARAMETERS;
    return parameters;
}

int64_t *mac_member(assay_mac *m, const assay_mac_parameter *p)
{
    return (int64_t *)(void *)((char *)m + p->offset);
}

assay_mac mac_defaults(void)
{
    assay_mac m = {.order = 0};
    for (int i = 0; i < N_PARAMETERS; i++)
        *mac_member(&m, &parameters[i]) = parameters[i].value;
    return m;
}

static bool parse_format(const char *text, int64_t *out)
{
    enum assay_mac_format f;
    const bool known = mac_format_parse(text, &f);
    *out = known ? (int64_t)f : *out;
    return known;
}

static bool parse_mode(const char *text, int64_t *out)
{
    enum assay_rounding mode;
    const bool known = assay_rounding_parse(text, &mode);
    *out = known ? (int64_t)mode : *out;
    return known;
}

static bool parse_number(const assay_mac_parameter *p, const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    if (p->kind == ASSAY_MAC_PATTERN) {
        const uint64_t v = strtoull(text, &end, 0);
        *out = (int64_t)v;
        return end != text && *end == '\0' && errno == 0 && !strchr(text, '-');
    }
    const long long v = strtoll(text, &end, 0);
    if (end == text || *end != '\0' || errno != 0 || v < p->min || v > p->max)
        return false;
    *out = v;
    return true;
}

static bool parse_choice(const char *words, const char *text, int64_t *out)
{
    const size_t length = strlen(text);
    for (int64_t i = 0; words; i++) {
        const char *end = strchr(words, '|');
        const size_t n = end ? (size_t)(end - words) : strlen(words);
        if (n == length && memcmp(words, text, n) == 0) {
            *out = i;
            return true;
        }
        words = end ? end + 1 : NULL;
    }
    return false;
}

bool mac_parse(const assay_mac_parameter *p, const char *text, int64_t *out)
{
    switch (p->kind) {
    case ASSAY_MAC_FORMAT:
        return parse_format(text, out);
    case ASSAY_MAC_MODE_OR_NONE:
    case ASSAY_MAC_INT_OR_NONE:
        if (strcmp(text, "none") == 0) {
            *out = ASSAY_MAC_NONE;
            return true;
        }
        return p->kind == ASSAY_MAC_MODE_OR_NONE ? parse_mode(text, out)
                                                 : parse_number(p, text, out);
    case ASSAY_MAC_MODE:
        return parse_mode(text, out);
    case ASSAY_MAC_INT:
    case ASSAY_MAC_PATTERN:
        return parse_number(p, text, out);
    default:
        return parse_choice(words_of[p->kind], text, out);
    }
}

#define NAME(ID, name, bits, exponent, fraction, bias, specials) name,
static const char *const format_names[] = {ASSAY_MAC_FLOATS(NAME)};
#undef NAME
#define NAME(ID, name, text, rule, ieee, addend) text,
static const char *const rounding_names[] = {ASSAY_ROUNDINGS(NAME)};
#undef NAME

/* A description, then n names with commas between them. */
static const char *list(const char *what, const char *const *names, size_t n, const char *end,
                        char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "%s", what);
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", names[i]);
    if (used < size)
        snprintf(out + used, size - used, "%s", end);
    return out;
}

const char *mac_expected(const assay_mac_parameter *p, char *out, size_t size)
{
    const char *none =
        p->kind == ASSAY_MAC_MODE_OR_NONE || p->kind == ASSAY_MAC_INT_OR_NONE ? ", or none" : "";
    switch (p->kind) {
    case ASSAY_MAC_FORMAT:
        return list("a format: ", format_names, ASSAY_MAC_FORMATS, "", out, size);
    case ASSAY_MAC_MODE:
    case ASSAY_MAC_MODE_OR_NONE:
        return list("a rounding: ", rounding_names, ASSAY_ROUND_COUNT, none, out, size);
    case ASSAY_MAC_INT:
    case ASSAY_MAC_INT_OR_NONE:
        snprintf(out, size, "an integer from %lld to %lld%s", (long long)p->min, (long long)p->max,
                 none);
        return out;
    case ASSAY_MAC_PATTERN:
        return "a pattern of the format out, as 0x7fc00000";
    default:
        snprintf(out, size, "one of %s", words_of[p->kind]);
        return out;
    }
}

/* The i-th word of a choice. */
static void print_choice(const char *words, int64_t i, char *out, size_t size)
{
    for (; i > 0; i--)
        words = strchr(words, '|') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(words, "|"), words);
}

static void print_order(const assay_mac *m, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "[");
    for (int64_t i = 0; i < m->order && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%d", i > 0 ? ", " : "", m->places[i]);
    if (n < size)
        snprintf(out + n, size - n, "]");
}

void mac_print(const assay_mac_parameter *p, const assay_mac *m, char *out, size_t size)
{
    assay_mac copy = *m;
    const int64_t v = *mac_member(&copy, p);
    if (v == ASSAY_MAC_NONE || (p->kind == ASSAY_MAC_ORDER && v == 0))
        snprintf(out, size, "none");
    else if (p->kind == ASSAY_MAC_ORDER)
        print_order(m, out, size);
    else if (p->kind == ASSAY_MAC_FORMAT)
        snprintf(out, size, "%s", mac_layout_of((enum assay_mac_format)v)->name);
    else if (p->kind == ASSAY_MAC_MODE || p->kind == ASSAY_MAC_MODE_OR_NONE)
        snprintf(out, size, "%s", assay_rounding_name((enum assay_rounding)v));
    else if (p->kind == ASSAY_MAC_PATTERN)
        snprintf(out, size, "0x%llx", (unsigned long long)v);
    else if (p->kind == ASSAY_MAC_INT || p->kind == ASSAY_MAC_INT_OR_NONE)
        snprintf(out, size, "%lld", (long long)v);
    else
        print_choice(words_of[p->kind], v, out, size);
}

int64_t mac_choices(const assay_mac_parameter *p)
{
    const char *words = words_of[p->kind];
    int64_t n = words != NULL;
    for (; words && *words; words++)
        n += *words == '|';
    return n;
}
