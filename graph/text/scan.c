/* The scanner of the text form. */
#include "graph/text/scan.h"
#include "graph/memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

assay_status text_scan_open(assay_scanner *p, const char *text, size_t length, const char *file,
                            const assay_text_folder *constants, assay_error *err)
{
    *p = (assay_scanner){.file = file, .constants = constants, .err = err};
    p->text = malloc(length + 1);
    if (!p->text)
        return assay_out_of_memory(err);
    if (length)
        memcpy(p->text, text, length);
    p->text[length] = '\0';
    p->p = p->text;
    p->end = p->text + length;
    return ASSAY_OK;
}

void text_scan_close(assay_scanner *p)
{
    free(p->text);
    p->text = NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_name(char c)
{
    return is_word(c) || (c && strchr("./$-", c));
}

const char *text_scan_here(assay_scanner *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->p))
            ++p->p;
        if (*p->p != '#')
            return p->p;
        p->p += strcspn(p->p, "\n");
    }
}

assay_status text_scan_fail_at(assay_scanner *p, const char *at, assay_status status,
                               const char *format, ...)
{
    char text[sizeof p->err->text];
    long line = 1;
    const char *start = p->text;
    va_list args;

    for (const char *c = p->text; c < at; ++c)
        if (*c == '\n') {
            ++line;
            start = c + 1;
        }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(p->err, status, "%.100s:%ld:%ld: %.600s", p->file, line,
                      (long)(at - start) + 1, text);
}

assay_status text_scan_fail(assay_scanner *p, const char *format, ...)
{
    char text[sizeof p->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text_scan_fail_at(p, text_scan_here(p), ASSAY_ERR_INPUT, "%s", text);
}

assay_status text_scan_located(assay_scanner *p, const char *at, assay_status s,
                               const assay_error *inner)
{
    return s ? text_scan_fail_at(p, at, s, "%.600s", inner->text) : ASSAY_OK;
}

/* The next token for messages: a word, or one character. */
static const char *found(assay_scanner *p, char buf[32])
{
    const char *c = text_scan_here(p);
    int n = 1;
    if (c == p->end)
        return "the end";
    while (is_name(c[0]) && n < 24 && is_name(c[n]))
        ++n;
    if (!isprint((unsigned char)*c))
        snprintf(buf, 32, "byte 0x%02x", (unsigned char)*c);
    else
        snprintf(buf, 32, "'%.*s'", n, c);
    return buf;
}

bool text_scan_accept(assay_scanner *p, const char *token)
{
    const char *c = text_scan_here(p), *back = c;
    for (; *token; ++token) {
        if (!is_word(*token)) {
            p->p = c;
            c = text_scan_here(p);
        }
        if (*c != *token) {
            p->p = back;
            return false;
        }
        ++c;
    }
    if (is_word(token[-1]) && is_name(*c)) {
        p->p = back;
        return false;
    }
    p->p = c;
    return true;
}

assay_status text_scan_expect(assay_scanner *p, const char *token)
{
    char buf[32];
    if (text_scan_accept(p, token))
        return ASSAY_OK;
    return text_scan_fail(p, "expected '%s', found %s", token, found(p, buf));
}

assay_status text_scan_end(assay_scanner *p)
{
    char buf[32];
    if (text_scan_here(p) == p->end)
        return ASSAY_OK;
    return text_scan_fail(p, "expected the end, found %s", found(p, buf));
}

assay_status text_scan_word(assay_scanner *p, char *buf, size_t size, const char *what)
{
    const char *c = text_scan_here(p);
    char text[32];
    size_t n = 0;
    while (is_word(c[n]))
        ++n;
    if (n == 0 || n >= size)
        return text_scan_fail(p, "expected %s, found %s", what, found(p, text));
    memcpy(buf, c, n);
    buf[n] = '\0';
    p->p = c + n;
    return ASSAY_OK;
}

assay_status text_scan_string(assay_scanner *p, char **text)
{
    const char *c = text_scan_here(p);
    char buf[32];
    size_t n = 0;

    *text = NULL;
    if (*c != '"')
        return text_scan_fail(p, "expected a string, found %s", found(p, buf));
    *text = malloc(strcspn(c + 1, "\n") + 1);
    if (!*text)
        return assay_out_of_memory(p->err);
    for (++c; *c != '"'; ++c, ++n) {
        if (*c == '\\' && (c[1] == '"' || c[1] == '\\'))
            ++c;
        else if (*c == '\\' || (unsigned char)*c < 0x20) {
            free(*text);
            *text = NULL;
            return text_scan_fail(p, "the string does not end on its line, or holds a control "
                                     "character or an unknown escape");
        }
        (*text)[n] = *c;
    }
    (*text)[n] = '\0';
    p->p = c + 1;
    return ASSAY_OK;
}

assay_status text_scan_name(assay_scanner *p, char **name)
{
    const char *c = text_scan_here(p);
    char buf[32];
    size_t n = 0;

    *name = NULL;
    if (*c == '"')
        return text_scan_string(p, name);
    while (is_name(c[n]))
        ++n;
    if (n)
        *name = malloc(n + 1);
    if (n && !*name)
        return assay_out_of_memory(p->err);
    if (n) {
        memcpy(*name, c, n);
        (*name)[n] = '\0';
    }
    if (!n || !text_name_is_bare(*name)) {
        free(*name);
        *name = NULL;
        return text_scan_fail(p, "expected a name, found %s", found(p, buf));
    }
    p->p = c + n;
    return ASSAY_OK;
}

assay_status text_scan_int(assay_scanner *p, int64_t lo, int64_t hi, int64_t *v)
{
    const char *c = text_scan_here(p);
    char *end, buf[32];
    errno = 0;
    *v = strtoll(c, &end, 10);
    if (end == c || is_name(*end))
        return text_scan_fail(p, "expected an integer, found %s", found(p, buf));
    if (errno || *v < lo || *v > hi)
        return text_scan_fail(p, "%.*s is outside %lld..%lld", (int)(end - c < 24 ? end - c : 24),
                              c, (long long)lo, (long long)hi);
    p->p = end;
    return ASSAY_OK;
}

assay_status text_scan_float(assay_scanner *p, float *v)
{
    const char *end = assay_parse_float(text_scan_here(p), v);
    char buf[32];
    if (!end || is_name(*end))
        return text_scan_fail(p, "expected a number, found %s", found(p, buf));
    p->p = end;
    return ASSAY_OK;
}

assay_status text_scan_raw(assay_scanner *p, char *buf, size_t size)
{
    const char *c = text_scan_here(p);
    size_t n = strcspn(c, *c == '[' ? "]\n" : ",}\n");
    if (c[n] == ']')
        ++n;
    if (n >= size)
        return text_scan_fail(p, "an attribute's value is too long");
    memcpy(buf, c, n);
    buf[n] = '\0';
    p->p = c + n;
    return ASSAY_OK;
}

void *text_scan_grow(void *array, size_t n, size_t size)
{
    if (array && (n < 8 || (n & (n - 1))))
        return array;
    if (n > SIZE_MAX / 2 / size)
        return NULL;
    return realloc(array, (n < 8 ? 8 : n * 2) * size);
}
