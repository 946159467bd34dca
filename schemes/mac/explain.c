/* One dot product, step by step. */
#include "schemes/mac/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/memory.h"
#include "graph/memory.h"
#include "schemes/mac/terms.h"

typedef struct page {
    FILE *to;
    const assay_mac *m;
    bool without_terms;
} page;

/* 128 bits in hexadecimal. */
static void print_digits(FILE *to, assay_uint128 x)
{
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    if (high != 0)
        fprintf(to, "0x%" PRIx64 "%016" PRIx64, high, low);
    else
        fprintf(to, "0x%" PRIx64, low);
}

static void print_integer(FILE *to, assay_int128 n)
{
    fputs(n < 0 ? "-" : "", to);
    print_digits(to, (assay_uint128)(n < 0 ? -n : n));
}

static void print_term(FILE *to, const mac_term *t)
{
    fputs(t->negative ? "-" : "", to);
    if (t->kind != ASSAY_MAC_NUMBER)
        fputs(t->kind == ASSAY_MAC_INF ? "Inf" : "NaN", to);
    else if (t->significand == 0)
        fputs("0", to);
    else {
        print_digits(to, t->significand);
        fprintf(to, " * 2^%d, exponent %d", t->exponent, t->unit);
    }
}

static void print_pattern(const page *p, uint64_t pattern)
{
    const assay_mac_layout *l = mac_layout_of((enum assay_mac_format)p->m->out);
    const assay_mac_value v = mac_decode((enum assay_mac_format)p->m->out, pattern);
    const mac_term t = mac_term_of(&v);
    fprintf(p->to, "0x%0*" PRIx64 " (", l->bits / 4, pattern);
    print_term(p->to, &t);
    fputs(")", p->to);
}

/* Prints the terms and, where they are aligned for one sum (in lanes: each lane's own), what is
 * left of each. */
static void print_terms(const page *p, const mac_seen *s)
{
    const size_t joined = p->m->accumulator == ASSAY_MAC_ACC_JOINED;
    const bool one = p->m->align_bits != ASSAY_MAC_NONE && p->m->lanes == 1 &&
                     mac_special(s->term, s->n_terms + joined).kind == ASSAY_MAC_NUMBER;
    int unit = 0;
    const bool aligned = one && mac_greatest(p->m, s->term, s->n_terms + joined, 1, &unit);
    const int grid = aligned ? unit - (int)p->m->align_bits : 0;
    if (aligned)
        fprintf(p->to, "  greatest exponent %d: cut to multiples of 2^%d\n", unit, grid);
    for (size_t i = 0; i < s->n_terms + joined; i++) {
        if (i < s->n_terms)
            fprintf(p->to, "  term %-4zu ", i);
        else
            fprintf(p->to, "  running   ");
        print_term(p->to, &s->term[i]);
        if (aligned && s->term[i].significand != 0) {
            fputs(" -> ", p->to);
            print_integer(p->to, mac_cut(&s->term[i], grid, p->m->align_cut));
        }
        fputs("\n", p->to);
    }
}

static void see(void *to, const mac_seen *s)
{
    const page *p = to;
    switch (s->event) {
    case MAC_STEP:
        fprintf(p->to, "step over %zu ... %zu", s->first, s->first + s->n - 1);
        if (p->m->phases > 1)
            fprintf(p->to, ", phase %d", s->phase);
        fputs(", from ", p->to);
        print_pattern(p, s->before);
        fputs("\n", p->to);
        if (!p->without_terms)
            print_terms(p, s);
        break;
    case MAC_CHAINS:
        fprintf(p->to, "end of the instruction over %zu ... %zu, to the accumulator ", s->first,
                s->first + s->n - 1);
        print_pattern(p, s->before);
        fputs("\n", p->to);
        break;
    case MAC_OPERAND:
        fprintf(p->to, "instruction over %zu ... %zu: NaN, as its first operand that is one\n",
                s->first, s->first + s->n - 1);
        break;
    case MAC_PROMOTED:
        fprintf(p->to, "promoted %zu ... %zu, to ", s->first, s->first + s->n - 1);
        print_pattern(p, s->before);
        fputs("\n", p->to);
        break;
    case MAC_PART:
        fprintf(p->to, "part %zu of %zu, to ", s->first + 1, s->n);
        print_pattern(p, s->before);
        fputs("\n", p->to);
        break;
    }
    fputs("  gives ", p->to);
    print_pattern(p, s->after);
    fputs("\n", p->to);
}

assay_status mac_explain(FILE *to, const assay_mac *m, const assay_mac_rows *rows, assay_error *err)
{
    page p = {.to = to, .m = m};
    const mac_watch watch = {see, &p};
    uint64_t d = 0;
    return mac_dot_watched(m, rows, &d, &watch, err);
}

/* Turns events into lines for `say`. */
typedef struct speech {
    page page;
    mac_say_fn *say;
    void *to;
    bool short_of_memory;
} speech;

static void see_and_say(void *to, const mac_seen *s)
{
    speech *k = to;
    file_memory text = {0};
    k->page.to = file_memory_open(&text);
    if (k->page.to) {
        see(&k->page, s);
        putc('\0', k->page.to);
    }
    char *rest = NULL;
    if (!file_memory_close(k->page.to))
        k->short_of_memory = true;
    else
        for (char *line = strtok_r(text.text, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest))
            k->say(k->to, line);
    free(text.text);
}

assay_status mac_explain_unit(const assay_unit *u, const assay_dot *d, int32_t *out,
                              mac_say_fn *say, void *to, assay_error *err)
{
    speech k = {.page = {.m = &mac_node(u)->mac, .without_terms = d->k > ASSAY_MAC_SAID},
                .say = say,
                .to = to};
    const mac_watch watch = {see_and_say, &k};
    const assay_status s = mac_unit_dot_watched(u, d, out, &watch, err);
    return !s && k.short_of_memory ? assay_out_of_memory(err) : s;
}
