/* Steps that are shared: a shift or a quotient, rounded; a code; a rescale. */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/memory.h"
#include "graph/memory.h"
#include "schemes/explain/explain.h"

void explain_say_shift(explain_trace *t, const char *name, int64_t v, unsigned bits,
                       enum assay_rounding mode)
{
    const int64_t to = assay_round_shift(v, bits, mode);
    char a[ASSAY_EXPLAIN_BITS], b[ASSAY_EXPLAIN_BITS], binary[64];
    const char *digits = assay_explain_bits(v, bits, a), *rest = strchr(digits, '.');
    explain_say(t, name, "%" PRId64 " / 2^%u = %.9g -> %" PRId64 ", %s", v, bits,
                ldexp((double)v, -(int)bits), to, assay_rounding_name(mode));
    snprintf(binary, sizeof binary, "%s, binary", name);
    explain_say(t, binary, "%s -> %s, cut off: %s", digits, assay_explain_bits(to, 0, b),
                rest ? rest : "nothing");
}

void explain_say_quotient(explain_trace *t, const char *name, int64_t v, int64_t d,
                          enum assay_rounding mode)
{
    char binary[64];
    const int64_t to = assay_round_div(v, d, mode);
    char a[ASSAY_EXPLAIN_BITS], b[ASSAY_EXPLAIN_BITS], c[ASSAY_EXPLAIN_BITS];
    explain_say(t, name, "%" PRId64 " / %" PRId64 " = %.9g -> %" PRId64 ", %s", v, d,
                (double)v / (double)d, to, assay_rounding_name(mode));
    snprintf(binary, sizeof binary, "%s, binary", name);
    explain_say(t, binary, "%s / %s -> %s, cut off: %" PRId64 " of %" PRId64,
                assay_explain_bits(v, 0, a), assay_explain_bits(d, 0, b),
                assay_explain_bits(to, 0, c), v - to * d, d);
}

void explain_say_code(explain_trace *t, int64_t code)
{
    char digits[ASSAY_EXPLAIN_BITS];
    explain_say(t, "code", "%" PRId64, code);
    explain_say(t, "code, binary", "%s", assay_explain_bits(code, 0, digits));
}

double explain_real(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

double explain_real64(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- rescales ---- */

/* A line of assay_explain_steps: its name ends where its column does, or at the last pair of
 * blanks before a longer one's text. */
static void say_line(explain_trace *t, const char *line)
{
    const size_t column = 2 + ASSAY_EXPLAIN_NAME;
    const char *text = strlen(line) > column && line[column - 1] == ' ' ? line + column
                       : strstr(line + 2, "  ")                         ? strstr(line + 2, "  ") + 2
                                                                        : line + 2;
    size_t n = (size_t)(text - line) - 2;
    while (n > 0 && line[2 + n - 1] == ' ')
        n--;
    if (strncmp(line + 2, "in binary", n) == 0 && t->n > 0) {
        char *name = NULL;
        if (asprintf(&name, "%s, binary", t->step[t->n - 1].name) < 0)
            name = NULL;
        explain_add(t, name, strdup(text));
        return;
    }
    explain_add(t, strndup(line + 2, n), strdup(text));
}

void explain_say_rescale(explain_trace *t, const assay_unit *u, const explain_rescale *r)
{
    assay_single o;
    file_memory text = {0};
    FILE *f = file_memory_open(&text);
    assay_single_of_unit(&o, u, r->r, r->channel);
    if (f) {
        assay_explain_steps_in_binary(f, &o, r->acc);
        putc('\0', f);
    }
    if (!file_memory_close(f)) {
        t->short_of_memory = true;
    } else {
        char *rest = NULL;
        for (char *line = strtok_r(text.text, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest))
            say_line(t, line);
    }
    free(text.text);
}
