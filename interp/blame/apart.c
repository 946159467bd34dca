/* Inputs that tell two full explanations of a node apart: the smallest accumulator of which they
 * give different codes, or that there is none; of ops without weights see grid.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"
#include "interp/blame/faults.h"
#include "interp/blame/grid.h"

enum { MAX_RESCALES = 4000000, MAX_PAIRS = 3 };

typedef struct apart {
    blame_search *s;
    blame_case c[2];
    blame_built b[2];
    int64_t channels, bound; /* no accumulator is greater in magnitude */
} apart;

/* Scales may differ: they act behind the sum. */
static bool same_codes(const blame_case *a, const blame_case *b, int i)
{
    const assay_qparams *p = &a->in[i].q, *q = &b->in[i].q;
    if (a->data[i] != b->data[i] || a->constant[i] != b->constant[i] ||
        !assay_elem_equal(a->in[i].elem, b->in[i].elem) || !assay_shape_equal(&a->in[i], &b->in[i]))
        return false;
    if (i >= 2) /* a bias has no zero point */
        return true;
    if (p->granularity != q->granularity || p->count != q->count ||
        !p->zero_point != !q->zero_point)
        return false;
    return !p->zero_point ||
           memcmp(p->zero_point, q->zero_point, p->count * sizeof *p->zero_point) == 0;
}

static bool same_operands(const blame_case *a, const blame_case *b)
{
    for (int i = 0; i < a->n_in; i++)
        if (!same_codes(a, b, i))
            return false;
    return a->n_in == b->n_in;
}

/* Whether the two differ only in what becomes of an accumulator. */
static bool same_sums(const blame_case *a, const blame_case *b)
{
    return same_operands(a, b) && memcmp(&a->attr, &b->attr, sizeof a->attr) == 0 &&
           memcmp(&a->record.accumulator, &b->record.accumulator, sizeof a->record.accumulator) ==
               0 &&
           memcmp(&a->record.blocks, &b->record.blocks, sizeof a->record.blocks) == 0 &&
           a->scheme == b->scheme;
}

static int64_t reach_of(const assay_type *t)
{
    const int64_t z = t->q.zero_point ? t->q.zero_point[0] : 0;
    const int64_t up = assay_elem_max(t->elem) - z, down = z - assay_elem_min(t->elem);
    return up > down ? up : down;
}

/* The greatest magnitude that an accumulator can have, of any input. */
static bool find_bound(apart *k)
{
    blame_case *c = &k->c[0];
    const int64_t n = assay_shape_count(&c->in[1]);
    int32_t *w = blame_codes_of(c, 1);
    const bool has_bias = c->n_in > 2 && c->in[2].elem.kind != ASSAY_KIND_NONE;
    k->channels = c->in[1].dim[0];
    if (!w || k->channels < 1 || (has_bias && !c->constant[2]))
        return false;
    for (int64_t o = 0; o < k->channels; o++) {
        const assay_qparams *q = &c->in[1].q;
        const int32_t z = q->zero_point ? q->zero_point[q->granularity == ASSAY_Q_AXIS ? o : 0] : 0;
        int64_t sum = 0;
        for (int64_t i = o * (n / k->channels); i < (o + 1) * (n / k->channels); i++)
            sum += llabs((int64_t)w[i] - z) * reach_of(&c->in[0]);
        if (has_bias)
            sum += llabs(assay_elem_get(c->in[2].elem, c->data[2], (size_t)o));
        k->bound = sum > k->bound ? sum : k->bound;
    }
    return true;
}

static bool open_pair(apart *k, const blame_finding *a, const blame_finding *b)
{
    const blame_finding *f[2] = {a, b};
    blame_story story = {.changed = 1};
    const assay_node *n = k->s->n;
    if ((n->op != ASSAY_OP_CONV && n->op != ASSAY_OP_FC) || !a->family->edit || !b->family->edit)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!blame_search_case(k->s, 0, &k->c[i]) ||
            !f[i]->family->edit(k->s, f[i]->i, &k->c[i], &story) || !k->c[i].constant[1] ||
            k->c[i].in[1].q.granularity == ASSAY_Q_NONE)
            return false;
        k->c[i].plain = true;
    }
    return k->c[0].scheme && k->c[0].scheme->record && same_sums(&k->c[0], &k->c[1]) &&
           find_bound(k) && !blame_case_build(&k->c[0], &k->b[0], NULL) &&
           !blame_case_build(&k->c[1], &k->b[1], NULL);
}

/* The first channel whose codes of an accumulator differ; -1: none. */
static int64_t differs_at(const apart *k, int64_t acc, int64_t *row, int32_t *codes[2])
{
    for (int64_t o = 0; o < k->channels; o++)
        row[o] = acc;
    for (int i = 0; i < 2; i++)
        k->b[i].program->scheme->vt->requantize(k->b[i].program->unit[0], row, (size_t)k->channels,
                                                0, codes[i]);
    for (int64_t o = 0; o < k->channels; o++)
        if (codes[0][o] != codes[1][o])
            return o;
    return -1;
}

static void say_apart(const apart *k, const blame_finding *b, char *text, size_t size)
{
    const int64_t max = MAX_RESCALES / k->channels;
    const int64_t end = k->bound < max ? k->bound : max;
    int64_t *row = calloc((size_t)k->channels + 16, sizeof *row);
    int32_t *codes[2] = {calloc((size_t)k->channels + 16, sizeof *codes[0]),
                         calloc((size_t)k->channels + 16, sizeof *codes[0])};
    int64_t o = -1, acc = 0;
    for (int64_t m = 0; m <= end && o < 0 && row && codes[0] && codes[1]; m++)
        for (int sign = 0; sign < 2 && o < 0; sign++)
            o = differs_at(k, acc = sign ? -m : m, row, codes);
    if (o >= 0)
        snprintf(text, size,
                 "accumulator %" PRId64 " of channel %" PRId64
                 " would tell it (code %d) from %.24s, %.120s (code %d)",
                 acc, o, codes[0][o], b->story.class, b->story.detail, codes[1][o]);
    else if (row && codes[0] && codes[1])
        snprintf(text, size, "no accumulator %s%" PRId64 " tells it from %.24s, %.120s: all tried",
                 end == k->bound ? "that these weights can give, up to +-" : "up to +-", end,
                 b->story.class, b->story.detail);
    free(row);
    free(codes[0]);
    free(codes[1]);
}

static bool is_new_class(const blame_finding *found, int j)
{
    for (int i = 0; i < j; i++)
        if (strcmp(found[i].story.class, found[j].story.class) == 0)
            return false;
    return true;
}

/* Other classes first, then other values of the same. */
void blame_say_apart(blame_search *s, const blame_finding *found, int n, blame_fault *f)
{
    for (int j = 1, pass = 0; pass < 2; j = 1, pass++)
        for (; j < n && found[j].full && f->n_apart < MAX_PAIRS; j++) {
            apart k = {.s = s};
            if (is_new_class(found, j) != (pass == 0) ||
                strcmp(found[j].story.detail, found[0].story.detail) == 0)
                continue;
            char *text = f->apart[f->n_apart];
            if (open_pair(&k, &found[0], &found[j]))
                say_apart(&k, &found[j], text, sizeof f->apart[0]);
            else
                blame_grid_say(s, &found[0], &found[j], text, sizeof f->apart[0]);
            f->n_apart += text[0] != 0;
            blame_case_drop(&k.b[0]);
            blame_case_drop(&k.b[1]);
        }
}
