/* Encodings against rows; see encoding.h. */
#include "interp/infer/encoding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/infer/modes.h"
#include "schemes/derive/derive.h"
#include "schemes/round.h"

enum { MAX_FOUND = 6000, CORE = 7 };

/* A row with its R, exact and in each formation. */
typedef struct evidence {
    double exact, real[INFER_FORMATIONS];
    const infer_row *row;
} evidence;

/* A search over encodings; rows of one accumulator and zero point are adjacent, sorted by R. */
typedef struct search {
    infer_task *t;
    evidence *row;
    size_t n;
    size_t *pair; /* n_pairs: the answers of pair[i] and its successor differ; nearest R first */
    size_t n_pairs;
    struct cell *cell;     /* room for n cells */
    double core;           /* the least R of the core */
    uint64_t like, *known; /* the cores of out->like and out->known */
    infer_modes modes;     /* of multipliers */
    infer_encodings *out;
    bool short_of_memory;
} search;

typedef struct cell {
    int64_t multiplier, shift, pre, answer;
} cell;

static int by_row(const void *a, const void *b)
{
    const evidence *x = a, *y = b;
    if (x->row->acc != y->row->acc)
        return x->row->acc < y->row->acc ? -1 : 1;
    if (x->row->zp != y->row->zp)
        return x->row->zp < y->row->zp ? -1 : 1;
    return (x->exact > y->exact) - (x->exact < y->exact);
}

static bool same_group(const evidence *a, const evidence *b)
{
    return a->row->acc == b->row->acc && a->row->zp == b->row->zp;
}

static int form_of(const infer_rule *k)
{
    for (int f = 0; f < INFER_FORMATIONS; f++)
        if (infer_formations[f] == k->scale)
            return f;
    return 0; /* power-of-two */
}

/* False: the device answered this R, and the rule refuses it. */
static bool cell_of(const infer_rule *k, int form, const evidence *e, cell *c)
{
    char why[256];
    assay_encoded x;
    memset(c, 0, sizeof *c);
    c->answer = e->row->answer;
    if (!derive_encode(k, e->real[form], &x, why, sizeof why)) {
        c->shift = INT64_MAX;
        return c->answer == INFER_REFUSED;
    }
    derive_place_encoded(k, &x, &c->multiplier, &c->shift, &c->pre);
    return true;
}

static bool same_cell(const cell *a, const cell *b)
{
    return a->multiplier == b->multiplier && a->shift == b->shift && a->pre == b->pre;
}

static int by_cell(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    if (x->shift != y->shift)
        return x->shift < y->shift ? -1 : 1;
    if (x->multiplier != y->multiplier)
        return x->multiplier < y->multiplier ? -1 : 1;
    if (x->pre != y->pre)
        return x->pre < y->pre ? -1 : 1;
    return (x->answer > y->answer) - (x->answer < y->answer); /* refusals first */
}

/* A refusal may be due to R or to what follows, so it contradicts nothing here. */
static bool differ(int64_t a, int64_t b)
{
    return a != b && a != INFER_REFUSED && b != INFER_REFUSED;
}

static bool parts_pairs(search *s, const infer_rule *k, int form)
{
    for (size_t i = 0; i < s->n_pairs; i++) {
        cell a, b;
        const size_t at = s->pair[i];
        if (cell_of(k, form, &s->row[at], &a) && cell_of(k, form, &s->row[at + 1], &b) &&
            !same_cell(&a, &b))
            continue;
        s->pair[i] = s->pair[i / 2];
        s->pair[i / 2] = s->pair[0];
        s->pair[0] = at;
        return false;
    }
    return true;
}

static uint64_t hash(uint64_t h, const cell *c)
{
    rows_random r = {h ^ (uint64_t)c->multiplier * UINT64_C(0xff51afd7ed558ccd) ^
                     ((uint64_t)c->shift * 131 + (uint64_t)c->pre)};
    return rows_next(&r);
}

static void hash_core(const search *s, const infer_rule *k, const evidence *row, const cell *c,
                      uint64_t *core)
{
    if (fabs(row->exact) >= s->core && !infer_is_edge(k, row->exact))
        *core = hash(*core, c);
}

static uint64_t core_by(const search *s, const infer_rule *k)
{
    uint64_t core = 0;
    for (size_t i = 0; i < s->n; i++) {
        cell c;
        cell_of(k, form_of(k), &s->row[i], &c);
        hash_core(s, k, &s->row[i], &c, &core);
    }
    return core;
}

/* Counts the cells of a group of rows; false: two rows of one cell have different answers. */
static bool count_group(search *s, const infer_rule *k, int form, size_t from, size_t to,
                        infer_encoding *e)
{
    for (size_t i = from; i < to; i++) {
        if (!cell_of(k, form, &s->row[i], &s->cell[i]))
            return false;
        e->image = hash(e->image, &s->cell[i]);
        hash_core(s, k, &s->row[i], &s->cell[i], &e->core);
    }
    qsort(s->cell + from, to - from, sizeof *s->cell, by_cell);
    e->cells++;
    for (size_t i = from + 1; i < to; i++) {
        const bool same = same_cell(&s->cell[i], &s->cell[i - 1]);
        if (same && differ(s->cell[i].answer, s->cell[i - 1].answer))
            return false;
        e->cells += !same;
    }
    return true;
}

static void keep(search *s, const infer_encoding *e)
{
    infer_encodings *l = s->out;
    if (l->like && e->core != s->like)
        return;
    for (size_t i = 0; i < l->n_known; i++)
        if (s->known[i] == e->core)
            return;
    for (size_t i = 0; i < l->n && !l->like; i++)
        if (l->item[i].image == e->image)
            return;
    if (!assay_make_room(&l->item, &l->room, l->n + 1, sizeof *l->item)) {
        s->short_of_memory = true;
        return;
    }
    l->item[l->n] = *e;
    l->item[l->n].place = l->n;
    l->n++;
}

/* Whether no row contradicts it. */
static bool try_encoding(search *s, const infer_rule *k)
{
    infer_encoding e = {.rule = *k};
    const int form = form_of(k);
    if (s->out->n >= MAX_FOUND) {
        s->out->cut = true;
        return false;
    }
    if (!parts_pairs(s, k, form))
        return false;
    for (size_t from = 0, to; from < s->n; from = to) {
        for (to = from + 1; to < s->n && same_group(&s->row[from], &s->row[to]);)
            to++;
        if (!count_group(s, k, form, from, to, &e))
            return false;
    }
    keep(s, &e);
    return true;
}

/* ---- families of encodings ---- */

static void try_reduced(search *s, infer_rule *k)
{
    for (int32_t bits = 1; bits < k->multiplier_bits; bits++)
        for (int how = 0; how < 2; how++) {
            k->reduced_bits = bits;
            k->reduced_overflow = how ? ASSAY_REDUCED_RENORMALISE : ASSAY_REDUCED_CAP;
            try_encoding(s, k);
        }
    k->reduced_bits = 0;
    k->reduced_overflow = ASSAY_REDUCED_CAP;
}

/* Tries limits of shifts. An encoding with limits below the core has the same core as the one
 * without. */
static void try_limit(search *s, infer_rule *k, bool in_core)
{
    if (try_encoding(s, k) && in_core)
        try_reduced(s, k);
}

static void try_bounded(search *s, infer_rule *k)
{
    const int core = s->t->live_lo + infer_core_of(s->t);
    for (int e = s->t->live_lo; e <= s->t->live_hi + 2;
         e++) { /* beyond this every R gives next to 0 */
        k->shift_max = k->multiplier_bits - 1 - e;
        k->beyond_shift_max = ASSAY_SMALL_UNNORMAL;
        try_limit(s, k, e >= core);
        k->beyond_shift_max = ASSAY_SMALL_GENERATOR;
        if (k->shift_max == 62)
            try_limit(s, k, e >= core);
        k->beyond_shift_max = ASSAY_SMALL_DENORMAL;
        for (int m = 0; m < s->modes.n; m++) {
            k->denormal_round = s->modes.mode[m];
            try_limit(s, k, e >= core);
        }
    }
    k->denormal_round = ASSAY_ROUND_TRUNC;
    k->shift_max = INFER_MAX_SHIFT;
    k->beyond_shift_max = ASSAY_SMALL_REFUSE;
}

int infer_core_of(const infer_task *t)
{
    const int max = (t->live_hi - t->live_lo) / 3;
    return t->powers ? 0 : max < CORE ? max : CORE;
}

/* Tries multipliers of each width; of those with one image the first is kept. */
static void try_multipliers(search *s, infer_rule k, bool bounded, bool reduced)
{
    static const int32_t first[] = {31, 24, 16, 15};
    k.encoding = ASSAY_ENCODE_MULTIPLIER;
    for (int32_t i = 0; i < 36; i++) {
        k.multiplier_bits = i < 4 ? first[i] : i - 3;
        if (infer_is_single(&k) && k.multiplier_bits > 24)
            continue;
        for (int m = 0; m < s->modes.n; m++) {
            k.multiplier_round = s->modes.mode[m];
            for (int renormalise = 1; renormalise >= 0; renormalise--) {
                k.multiplier_renormalise = renormalise;
                if (bounded)
                    try_bounded(s, &k);
                else if (reduced)
                    try_reduced(s, &k);
                else
                    try_encoding(s, &k);
            }
        }
    }
}

static void try_all(search *s, bool bounded)
{
    infer_rule k;
    infer_plain_rule(&k);
    infer_take_encoding(&k, &s->t->encoder);
    k.shift_min = -INFER_MAX_SHIFT;
    k.below_shift_min = ASSAY_LARGE_REFUSE;
    k.shift_max = INFER_MAX_SHIFT;
    k.beyond_shift_max = ASSAY_SMALL_REFUSE;
    k.reduced_bits = 0;
    if (s->t->powers && !bounded) {
        infer_rule shift = k;
        shift.scale = ASSAY_FORM_POW2;
        shift.encoding = ASSAY_ENCODE_SHIFT;
        try_encoding(s, &shift);
    }
    const int n = s->t->powers ? 1 : INFER_FORMATIONS;
    for (int f = 0; f < n; f++) {
        k.scale = s->t->powers ? ASSAY_FORM_POW2 : infer_formations[f];
        infer_rule glow = k;
        glow.encoding = ASSAY_ENCODE_GLOW;
        glow.negative_scale = 0;
        if (!bounded && !s->t->powers)
            try_encoding(s, &glow);
        try_multipliers(s, k, bounded, false);
    }
    for (int f = 0; f < n && !bounded && !s->t->powers; f++) {
        k.scale = infer_formations[f];
        try_multipliers(s, k, false, true);
    }
}

/* ---- the rows ---- */

static bool is_evidence(const infer_task *t, const infer_row *r)
{
    const double real = infer_real(r);
    if (r->bounded || real == 0)
        return false;
    const int e = infer_exponent(real);
    return e >= t->live_lo && e <= t->live_hi &&
           (t->encoder.exponent_by_log || !infer_is_near_power(r));
}

static int by_cells(const void *a, const void *b)
{
    const infer_encoding *x = a, *y = b;
    const bool limited = x->rule.shift_max < INFER_MAX_SHIFT;
    if (limited != (y->rule.shift_max < INFER_MAX_SHIFT))
        return limited ? 1 : -1;
    if (x->cells != y->cells)
        return x->cells < y->cells ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static void take_rows(search *s)
{
    infer_rule k;
    infer_plain_rule(&k);
    for (size_t i = 0; i < s->t->log.n; i++) {
        const infer_row *r = &s->t->log.row[i];
        if (!is_evidence(s->t, r))
            continue;
        evidence *e = &s->row[s->n++];
        e->row = r;
        e->exact = infer_real(r);
        for (int f = 0; f < INFER_FORMATIONS; f++) {
            k.scale = infer_formations[f];
            e->real[f] = derive_form_scale(&k, r->in, r->weight, r->out, true);
        }
    }
    qsort(s->row, s->n, sizeof *s->row, by_row);
    for (size_t i = 0; i + 1 < s->n; i++)
        if (same_group(&s->row[i], &s->row[i + 1]) &&
            differ(s->row[i].row->answer, s->row[i + 1].row->answer))
            s->pair[s->n_pairs++] = i;
}

assay_status infer_find_encodings(infer_task *t, bool bounded, infer_encodings *out,
                                  assay_error *err)
{
    const size_t room = t->log.n + 1;
    search s = {.t = t,
                .modes = infer_magnitude_modes(),
                .out = out,
                .core = ldexp(1, t->live_lo + infer_core_of(t))};
    s.row = malloc(room * sizeof *s.row);
    s.pair = malloc(room * sizeof *s.pair);
    s.cell = malloc(room * sizeof *s.cell);
    s.known = malloc((out->n_known + 1) * sizeof *s.known);
    s.short_of_memory = !s.row || !s.pair || !s.cell || !s.known;
    if (!s.short_of_memory) {
        take_rows(&s);
        s.like = out->like ? core_by(&s, out->like) : 0;
        for (size_t i = 0; i < out->n_known; i++)
            s.known[i] = core_by(&s, &out->known[i]);
        try_all(&s, bounded);
        if (out->n > 1)
            qsort(out->item, out->n, sizeof *out->item, by_cells);
    }
    free(s.row);
    free(s.pair);
    free(s.cell);
    free(s.known);
    return s.short_of_memory ? assay_out_of_memory_for(err, "encodings") : ASSAY_OK;
}

void infer_encodings_free(infer_encodings *l)
{
    free(l->item);
    *l = (infer_encodings){0};
}
