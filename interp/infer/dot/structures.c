/* The nesting of a unit's sums, from the rows that show little else; see task.h. */
#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "graph/memory.h"
#include "interp/infer/dot/moves.def"
#include "interp/infer/dot/task.h"

static const size_t nested[] = {
#define NESTED(parameter) offsetof(assay_mac, parameter),
    INFER_DOT_NESTED(NESTED)
#undef NESTED
};
/* CHANGED: parameters of a nesting that are not at their defaults, at most. */
enum { N_NESTED = sizeof nested / sizeof *nested, MASKS = 64, CHANGED = 3 };
enum { RELATED = INFER_DOT_RUNGS + INFER_DOT_CROSSED };

typedef struct walk {
    infer_dot_task *t;
    infer_dot_rows rows;  /* the ladder, and some rows of large numbers that cancel */
    size_t ladder;        /* the first rows */
    int64_t key[RELATED]; /* the device's answers to them */
    infer_dot_starts *by_rows, *by_relations;
    size_t hot;
} walk;

/* ---- rows ---- */

/* A number's place among the numbers of the results' format. */
static int64_t key_of(const infer_dot_task *t, uint64_t pattern)
{
    const int bits = mac_layout_of((enum assay_mac_format)t->o->out)->bits;
    assert(bits > 0 && bits <= 64);
    const uint64_t sign = (uint64_t)1 << (bits - 1);
    return pattern & sign ? -(int64_t)(pattern & ~sign) : (int64_t)pattern;
}

static void choose_rows(walk *w)
{
    infer_dot_task *t = w->t;
    size_t masks = 0;
    infer_dot_rows_open(&w->rows, t->o);
    for (size_t i = 0; i < t->log.n; i++) {
        const bool mask = t->log.probe[i] == DOT_MASKS && masks < MASKS;
        const bool rung =
            t->log.probe[i] == DOT_LADDER && i < infer_dot_rungs(&t->log) + INFER_DOT_CROSSED;
        masks += mask;
        if (rung)
            w->key[w->ladder++] = key_of(t, t->log.answer[i]);
        if (mask || rung)
            infer_dot_rows_copy(&w->rows, &t->log, i);
    }
    if (w->rows.short_of_memory)
        t->status = assay_out_of_memory_for(t->err, "rows");
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Pairs of the ladder's rows of which m's answers are not in the same order as the device's; at
 * least `bound` where there are as many. How sums are nested shows in it, however they round. */
static double relations(walk *w, const assay_mac *m, double bound)
{
    int64_t key[RELATED + INFER_DOT_CHUNK];
    uint64_t out[INFER_DOT_CHUNK];
    size_t wrong = 0;
    for (size_t i = 0; i < w->ladder && (double)wrong < bound; i++) {
        if (i % INFER_DOT_CHUNK == 0) {
            const size_t n = infer_dot_answers(w->t, m, &w->rows, i, out);
            for (size_t j = 0; j < n; j++)
                key[i + j] = key_of(w->t, out[j]);
        }
        for (size_t j = 0; j < i; j++)
            wrong += compare(key[i], key[j]) != compare(w->key[i], w->key[j]);
    }
    return (double)wrong;
}

/* ---- records ---- */

/* A hash of m's answers to the rows. */
static uint64_t print_of(walk *w, const assay_mac *m)
{
    uint64_t out[INFER_DOT_CHUNK], print = 0;
    for (size_t first = 0; first < w->rows.n; first += INFER_DOT_CHUNK) {
        const size_t n = infer_dot_answers(w->t, m, &w->rows, first, out);
        print = XXH64(out, n * sizeof *out, print);
    }
    return print;
}

static void measure(walk *w, const assay_mac *m)
{
    infer_dot_task *t = w->t;
    if (!infer_dot_takes(t, m))
        return;
    const double rows = infer_dot_worst(w->by_rows), pairs = infer_dot_worst(w->by_relations),
                 against = infer_dot_against(t, m, &w->rows, rows, &w->hot),
                 unlike = relations(w, m, pairs);
    if (against >= rows && unlike >= pairs)
        return;
    const uint64_t print = print_of(w, m);
    infer_dot_start(w->by_rows, m, against, print);
    infer_dot_start(w->by_relations, m, unlike, print);
}

/* Whether a value makes a difference where those before it in the list are as in m. */
static bool matters(const assay_mac *m, size_t parameter, int64_t value)
{
    if (parameter == offsetof(assay_mac, instruction))
        return value == 0 || m->start == ASSAY_MAC_START_ZERO;
    if (parameter == offsetof(assay_mac, align_bits))
        return value == ASSAY_MAC_NONE || value == 24 || value == m->align_bits;
    if (parameter == offsetof(assay_mac, lanes) || parameter == offsetof(assay_mac, chains))
        return value <= 4 || (value & (value - 1)) == 0;
    return true;
}

static void visit(walk *w, const assay_mac *m, int depth, int changed)
{
    int64_t value[INFER_DOT_VALUES];
    if (infer_dot_is_late(w->t) || changed > CHANGED)
        return;
    if (depth == N_NESTED) {
        measure(w, m);
        return;
    }
    const assay_mac_parameter *p = infer_dot_at(nested[depth]);
    const size_t n = infer_dot_values(w->t, m, p, value);
    for (size_t i = 0; i < n; i++) {
        assay_mac next = *m;
        infer_dot_set(&next, p, value[i]);
        if (matters(m, nested[depth], value[i]) && *mac_member(&next, p) == value[i])
            visit(w, &next, depth + 1,
                  changed + (p->value != ASSAY_MAC_MUST && value[i] != p->value));
    }
}

void infer_dot_structures(infer_dot_task *t, const assay_mac *from, infer_dot_starts *by_rows,
                          infer_dot_starts *by_relations)
{
    walk w = {.t = t, .by_rows = by_rows, .by_relations = by_relations};
    assay_mac m = *from;
    m.order = m.instruction = 0;
    m.exact_group = m.chains = m.lanes = 1;
    m.k_order = ASSAY_MAC_ASCENDING;
    m.split_k = 1;
    m.promote = m.scale_place == ASSAY_MAC_AT_TERM ? 0 : m.promote;
    mac_drop_unread(&m);
    choose_rows(&w);
    visit(&w, &m, 0, 0);
    infer_dot_rows_free(&w.rows);
}
