/* Boxes of rows: two rules shown to be equal, or told apart; see boxes.h. */
#include "interp/infer/boxes.h"

#include <assert.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/infer/passage.h"
#include "interp/infer/questions.h"
#include "schemes/round.h"

enum { FEW = 400, MANY = 20000, ROOM = 1024 };

typedef struct teller {
    const infer_engine *e;
    const infer_options *o;
    const infer_rule *rule[2];
    infer_model model[2];
    infer_row *row; /* a row on which the rules differ */
    rows_random random;
    /* boxes that wait, from `first` on; boxes looked at, and how many may be at one shift */
    size_t first, n, looked, max;
    infer_box box[ROOM];
} teller;

/* ---- single rows ---- */

static bool is_before(const teller *t)
{
    return t->rule[0]->zero_point == ASSAY_STAGE_BEFORE;
}

/* Whether the rules differ on the row with this operand and zero point, if there is such a row. */
static bool differs(teller *t, assay_int128 x, int64_t m, int32_t shift, int64_t zp)
{
    const assay_int128 acc = x + (is_before(t) ? zp : 0);
    if (acc != apply_saturate128(acc, (unsigned)t->o->acc_bits))
        return false;
    infer_row row = {.acc = (int64_t)acc, .zp = (int32_t)zp, .multiplier = m, .shift = shift};
    for (int bounded = 0; bounded < 2; bounded++) {
        row.bounded = bounded;
        row.lo = (int32_t)assay_elem_min(t->o->type);
        row.hi = (int32_t)assay_elem_max(t->o->type);
        t->e->t->work += 2;
        if (infer_answer(&t->model[0], &row) != infer_answer(&t->model[1], &row)) {
            *t->row = row;
            return true;
        }
    }
    return false;
}

static bool differs_somewhere(teller *t, assay_int128 x, int64_t m, int32_t shift)
{
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const int64_t zp[] = {lo, hi, lo + (hi - lo + 1) / 2, rows_between(&t->random, lo, hi)};
    for (size_t i = 0; i < sizeof zp / sizeof *zp; i++)
        if (differs(t, x, m, shift, zp[i]))
            return true;
    return false;
}

static int bits_of(assay_int128 v)
{
    int bits = 0;
    for (v = v < 0 ? -v : v; v > 0; v >>= 1)
        bits++;
    return bits;
}

/* A number in the span that differs from its lower end in a few bits. */
static assay_int128 plain_one(teller *t, infer_span s)
{
    int bits = 0;
    while (bits < 66 && s.lo + ((assay_int128)1 << bits) <= s.hi)
        bits++;
    if (bits == 0)
        return s.lo;
    assay_int128 v = s.lo;
    for (int64_t n = rows_between(&t->random, 1, 3); n > 0; n--) {
        const assay_int128 p = (assay_int128)1 << rows_between(&t->random, 0, bits - 1);
        v += v + p <= s.hi ? p : 0;
    }
    return v;
}

static bool is_point(const infer_box *b)
{
    return b->x.lo == b->x.hi && b->m.lo == b->m.hi;
}

static bool holds(infer_span s, assay_int128 v)
{
    return v >= s.lo && v <= s.hi;
}

/* Whether the rules differ at this corner, or at a row next to it on either axis or both. */
static bool differs_at(teller *t, const infer_box *b, bool high_x, bool high_m)
{
    for (int i = 0; i < (is_point(b) ? 1 : 4); i++) {
        const assay_int128 x = high_x ? b->x.hi - (i & 1) : b->x.lo + (i & 1);
        const assay_int128 m = high_m ? b->m.hi - (i >> 1) : b->m.lo + (i >> 1);
        if (holds(b->x, x) && holds(b->m, m) && differs_somewhere(t, x, (int64_t)m, b->shift))
            return true;
    }
    return false;
}

/* Products next to a power of two or to a tie, where registers overflow and roundings change. */
static bool differs_near(teller *t, const infer_box *b)
{
    const assay_int128 x = plain_one(t, b->x);
    if (x == 0)
        return false;
    const int min = bits_of(b->m.lo) < bits_of(b->m.hi) ? bits_of(b->m.lo) : bits_of(b->m.hi);
    const int size = bits_of(x) + min + (int)rows_between(&t->random, -1, 1);
    assert(size < 127);
    assay_int128 product = (assay_int128)1 << (size > 0 ? size : 0);
    if (b->shift > 0 && b->shift < 100 && rows_next(&t->random) & 1) {
        const assay_int128 halves = 2 * rows_between(&t->random, 0, 300) + 1;
        product = halves << (b->shift - 1);
    }
    if ((x < 0) != (b->m.lo < 0))
        product = -product;
    for (int d = -1; d <= 1; d++)
        if (holds(b->m, product / x + d) &&
            differs_somewhere(t, x, (int64_t)(product / x + d), b->shift))
            return true;
    return false;
}

/* Tries the corners of a box and some rows inside it. */
static bool differs_in(teller *t, const infer_box *b)
{
    for (int i = 0; i < (is_point(b) ? 1 : 4); i++)
        if (differs_at(t, b, i & 1, i & 2))
            return true;
    for (int i = 0; i < (is_point(b) ? 0 : 2); i++)
        if (differs_near(t, b) ||
            differs_somewhere(t, plain_one(t, b->x), (int64_t)plain_one(t, b->m), b->shift))
            return true;
    return false;
}

/* Whether the rules give one code to a single operand and multiplier, whatever the zero point. */
static enum infer_told tell_point(teller *t, const infer_box *b)
{
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    if (t->o->type.bits > 8)
        return INFER_UNTOLD;
    for (int64_t zp = lo; zp <= hi; zp++)
        if (differs(t, b->x.lo, (int64_t)b->m.lo, b->shift, zp))
            return INFER_APART;
    return INFER_ALIKE;
}

/* ---- splitting ---- */

/* The last number of the lower part: halves by bit length, then by value. */
static assay_int128 middle(infer_span s)
{
    const int a = bits_of(s.lo), b = bits_of(s.hi);
    if (a < b)
        return ((assay_int128)1 << (a + (b - a) / 2)) - 1;
    if (b < a)
        return -((assay_int128)1 << (b + (a - b) / 2));
    return s.lo + (s.hi - s.lo) / 2;
}

static bool put(teller *t, const infer_box *b)
{
    if (b->x.lo > b->x.hi || b->m.lo > b->m.hi)
        return true;
    if (t->n == ROOM)
        return false;
    t->box[t->n++] = *b;
    return true;
}

static bool part_at(teller *t, const infer_box *b, bool by_x, assay_int128 last)
{
    infer_box low = *b, high = *b;
    if (by_x) {
        low.x.hi = last;
        high.x.lo = last + 1;
    } else {
        low.m.hi = last;
        high.m.lo = last + 1;
    }
    return put(t, &low) && put(t, &high);
}

static bool is_wide_by_x(const infer_box *b)
{
    const int x = bits_of(b->x.lo) - bits_of(b->x.hi), m = bits_of(b->m.lo) - bits_of(b->m.hi);
    if (x != 0 || m != 0)
        return (x < 0 ? -x : x) >= (m < 0 ? -m : m);
    const assay_int128 u = b->x.lo < 0 ? -b->x.lo : b->x.lo, v = b->m.lo < 0 ? -b->m.lo : b->m.lo;
    return (b->x.hi - b->x.lo) * (v + 1) >= (b->m.hi - b->m.lo) * (u + 1);
}

static bool part(teller *t, const infer_box *b)
{
    const bool by_x = b->m.lo == b->m.hi || (b->x.lo < b->x.hi && is_wide_by_x(b));
    return part_at(t, b, by_x, middle(by_x ? b->x : b->m));
}

/* Splits a box where the operands that a rule refuses meet the others. */
static bool part_refused(teller *t, const infer_box *b, infer_span taken)
{
    return part_at(t, b, true, b->x.lo < taken.lo ? taken.lo - 1 : taken.hi);
}

/* ---- one box ---- */

typedef enum refusal { NONE, SOME, ALL } refusal;

static refusal refusal_of(const infer_passage *p, infer_span x)
{
    if (x.lo > p->taken.hi || x.hi < p->taken.lo)
        return ALL;
    return x.lo < p->taken.lo || x.hi > p->taken.hi ? SOME : NONE;
}

/* Whether the bits in which wrapped values may differ are dropped at the end; for rules with the
 * same end and the same stages before the product. */
static bool same_low_bits(const teller *t, const infer_passage p[2])
{
    const infer_span any = {-((assay_int128)1 << 100), (assay_int128)1 << 100};
    const infer_rule *a = t->rule[0], *b = t->rule[1];
    const bool same_left =
        p[0].left == p[1].left && (p[0].left == 0 || a->left_shift == b->left_shift);
    int64_t one, other;
    return infer_same_place(a, &p[0], b, &p[1]) && infer_low_bits(a, &p[0], same_left, &one) &&
           infer_low_bits(b, &p[1], same_left, &other) &&
           (p[0].shift + p[0].left <= 0 || memcmp(&a->round, &b->round, sizeof a->round) == 0) &&
           infer_keeps_low(a, one < other ? one : other) && infer_same_end(t->o, a, b, any);
}

static bool same_codes(const teller *t, const infer_passage p[2])
{
    infer_span v = p[0].value;
    int64_t one, other;
    if (infer_same_value(t->rule[0], &p[0], t->rule[1], &p[1])) {
        v.lo = p[1].value.lo > v.lo ? p[1].value.lo : v.lo;
        v.hi = p[1].value.hi < v.hi ? p[1].value.hi : v.hi;
        return infer_same_end(t->o, t->rule[0], t->rule[1], v);
    }
    if (t->rule[0]->store == t->rule[1]->store &&
        infer_is_pinned(t->o, t->rule[0], p[0].value, &one) &&
        infer_is_pinned(t->o, t->rule[1], p[1].value, &other) && one == other)
        return true;
    return same_low_bits(t, p);
}

static enum infer_told parted(bool room)
{
    return room ? INFER_ALIKE : INFER_UNTOLD;
}

/* INFER_ALIKE: the rules are equal on this box, or its parts were added to the boxes that wait. */
static enum infer_told look(teller *t, const infer_box *b)
{
    infer_passage p[2];
    for (int i = 0; i < 2; i++)
        infer_pass(t->rule[i], b, &p[i]);
    if (!p[0].placed || !p[1].placed)
        return parted(part_at(t, b, false, middle(b->m)));
    const refusal r[2] = {refusal_of(&p[0], b->x), refusal_of(&p[1], b->x)};
    for (int i = 0; i < 2; i++)
        if (r[i] == SOME)
            return parted(part_refused(t, b, p[i].taken));
    if (r[0] == ALL && r[1] == ALL)
        return INFER_ALIKE;
    if (r[0] == r[1] && same_codes(t, p))
        return INFER_ALIKE;
    if (differs_in(t, b))
        return INFER_APART;
    return is_point(b) ? tell_point(t, b) : parted(part(t, b));
}

/* ---- one shift, then all shifts ---- */

static enum infer_told tell_shift(teller *t, int32_t shift)
{
    const infer_engine *e = t->e;
    const assay_int128 max = infer_acc_max(e->t);
    infer_span x = {-max - 1, max};
    if (is_before(t)) {
        x.lo -= assay_elem_max(t->o->type);
        x.hi -= assay_elem_min(t->o->type);
    }
    const assay_int128 m[3][2] = {{e->multiplier_lo, e->multiplier_hi < -1 ? e->multiplier_hi : -1},
                                  {0, 0},
                                  {e->multiplier_lo > 1 ? e->multiplier_lo : 1, e->multiplier_hi}};
    t->first = t->n = t->looked = 0;
    for (int i = 0; i < 3; i++)
        if (i != 1 || (e->multiplier_lo <= 0 && e->multiplier_hi >= 0)) {
            const infer_span by = {m[i][0], m[i][1]};
            put(t, &(infer_box){{x.lo, -1}, by, shift});
            put(t, &(infer_box){{0, x.hi}, by, shift});
        }
    while (t->n >
           t->first) { /* with a low limit, the largest first: they are spread over the domain */
        const infer_box b = t->box[t->max == FEW ? t->first++ : --t->n];
        const enum infer_told told = t->looked++ < t->max ? look(t, &b) : INFER_UNTOLD;
        if (told != INFER_ALIKE)
            return told;
    }
    return INFER_ALIKE;
}

/* Every shift, with at most `max` boxes each. */
static enum infer_told tell_shifts(teller *t, size_t max)
{
    enum infer_told all = INFER_ALIKE;
    t->max = max;
    for (int32_t s = t->e->shift_lo; s <= t->e->shift_hi; s = infer_next_shift(t->e, s)) {
        const enum infer_told told = tell_shift(t, s);
        if (told == INFER_APART || (told == INFER_UNTOLD && max == MANY))
            return told;
        if (told == INFER_UNTOLD)
            all = told;
    }
    return all;
}

enum infer_told infer_tell(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                           infer_row *row)
{
    teller t = {.e = e, .o = e->t->o, .rule = {a, b}, .row = row, .random = {20261126}};
    infer_options plain = *t.o;
    if (a->zero_point != b->zero_point)
        return INFER_UNTOLD;
    plain.kind = INFER_MULTIPLIER; /* these rows have a multiplier and a shift */
    infer_model_start(&t.model[0], a, &plain);
    infer_model_start(&t.model[1], b, &plain);
    const enum infer_told told = tell_shifts(&t, FEW);
    return told == INFER_UNTOLD ? tell_shifts(&t, MANY) : told;
}
