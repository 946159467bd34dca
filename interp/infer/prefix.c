/* The stages before the rounding: multiplier, pre-shift, operand, left shift, product. See
 * engine.h. */
#include "interp/infer/reach.h"

/* A width that holds every operand after a pre-shift. */
static int operand_reach(const infer_engine *e, const infer_rule *k)
{
    const infer_options *o = e->t->o;
    const int wide = o->acc_bits > (int)o->type.bits ? o->acc_bits : (int)o->type.bits;
    const int bits = wide + 2; /* the subtracted zero point, and a pre-shift that rounds up */
    if (k->pre_shift == ASSAY_PRE_REST)
        return bits > 32 ? bits : 32;
    return k->pre_shift == ASSAY_PRE_FIXED && bits - k->pre_shift_bits > 2
               ? bits - k->pre_shift_bits
           : k->pre_shift == ASSAY_PRE_FIXED ? 2
                                             : bits;
}

/* A width that holds every product. */
static int product_reach(const infer_engine *e, const infer_rule *k)
{
    const int x = operand_reach(e, k);
    return (k->left_shift == ASSAY_LEFT_PRODUCT || x > 32 ? x : 32) + e->multiplier_bits + 1;
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

static void try_left(infer_engine *e, infer_candidate *c, int32_t how, int32_t first)
{
    infer_partial p;
    c->rule.left_shift = how;
    if (c->rule.pre_shift != ASSAY_PRE_REST)
        c->rule.round = (assay_steps){.n = first > 0 ? 2 : 1, .step = {{first, 0}}};
    infer_partial_start(&p, c, true);
    if (infer_partial_holds(e, &p) && !infer_is_idle_open(e, &c->rule) && infer_partial_ends(e, &p))
        infer_push(e, c);
}

/* Tries left shifts of the operand, for each width of a first step that some row's shift does not
 * reach. */
static void try_lefts(infer_engine *e, infer_candidate *c, int32_t max)
{
    const int32_t pre = c->rule.pre_shift == ASSAY_PRE_FIXED ? c->rule.pre_shift_bits : 0;
    const int32_t drop = c->rule.reduced_bits ? c->rule.multiplier_bits - c->rule.reduced_bits : 0;
    const int32_t halved = c->rule.reduced_bits > 0; /* a reduced multiplier may be halved */
    const int32_t min = e->shift_lo - drop - halved - pre;
    try_left(e, c, ASSAY_LEFT_PRODUCT, 0);
    if (c->rule.pre_shift == ASSAY_PRE_REST || e->shift_lo < -31)
        return;
    for (int32_t first = min < 0 ? 0 : min + 1; first <= max && !infer_stop(e); first++) {
        try_left(e, c, ASSAY_LEFT_WRAP, first);
        try_left(e, c, ASSAY_LEFT_SATURATE, first);
    }
}

static void try_products(infer_engine *e, infer_candidate *c)
{
    const int32_t first_max = least_of(63, e->shift_lo + 31);
    infer_partial p;
    c->rule.left_shift =
        ASSAY_LEFT_WRAP; /* a wrapped left shift reaches further than one of the product */
    const int max = least_of(64, product_reach(e, &c->rule));
    c->rule.left_shift = ASSAY_LEFT_PRODUCT;
    for (int bits = 0; bits <= max && !infer_stop(e); bits++) {
        c->rule.product_bits = bits;
        if (c->rule.pre_shift != ASSAY_PRE_REST)
            c->rule.round = (assay_steps){.n = 1, .step = {{0, 0}}};
        infer_partial_start(&p, c, true);
        p.left_open = c->rule.pre_shift != ASSAY_PRE_REST && first_max >= 0;
        p.first_max = first_max;
        if (infer_partial_holds(e, &p))
            try_lefts(e, c, first_max);
        c->rule.left_shift = ASSAY_LEFT_PRODUCT;
    }
    c->rule.product_bits = 0;
}

static bool has_tail(const infer_engine *e, bool before)
{
    for (int tail = 0; tail < e->n_tails; tail++)
        if (e->tail[tail].before == before)
            return true;
    return false;
}

/* The operand is settled: tries each end's class and form. */
static void try_forms(infer_engine *e, const infer_candidate *with)
{
    const bool before = with->rule.zero_point == ASSAY_STAGE_BEFORE;
    infer_place(e, &with->rule);
    for (int tail = 0; tail < e->n_tails; tail++)
        for (int form = 0; form < INFER_FORMS && e->tail[tail].before == before; form++) {
            infer_candidate c = *with;
            c.tail = tail;
            c.form = (enum infer_form)form;
            try_products(e, &c);
        }
}

/* The pre-shift, its rounding and the stage are settled: tries each operand width. */
static void try_operands(infer_engine *e, infer_candidate *c)
{
    const int min = infer_least_operand(e, &c->rule);
    const int max = least_of(63, operand_reach(e, &c->rule) - 1);
    if (min == 0)
        return;
    try_forms(e, c);
    for (int bits = min; bits <= max && !infer_stop(e); bits++) {
        c->rule.operand_bits = bits;
        if (!infer_is_idle_open(e, &c->rule))
            try_forms(e, c);
    }
    c->rule.operand_bits = 0;
}

/* The pre-shift and the multiplier are settled: tries each rounding and stage. */
static void try_stages(infer_engine *e, const infer_candidate *with)
{
    const bool rounds = with->rule.pre_shift != ASSAY_PRE_NONE;
    for (int32_t mode = 0; mode < (rounds ? ASSAY_ROUND_COUNT : 1); mode++)
        for (int before = 0; before < 2 && !infer_stop(e); before++) {
            infer_candidate c = *with;
            c.rule.zero_point = before ? ASSAY_STAGE_BEFORE : ASSAY_STAGE_AFTER;
            c.rule.pre_shift_round = rounds ? mode : ASSAY_ROUND_FLOOR;
            if (has_tail(e, before))
                try_operands(e, &c);
        }
}

static void try_pre_shifts(infer_engine *e, infer_candidate *c)
{
    try_stages(e, c);
    if (c->rule.encoding == ASSAY_ENCODE_GLOW) /* which has its own pre-shift */
        return;
    c->rule.pre_shift = ASSAY_PRE_FIXED;
    for (int32_t bits = 1; bits <= 31; bits++) {
        c->rule.pre_shift_bits = bits;
        try_stages(e, c);
    }
    c->rule.pre_shift_bits = 0;
    c->rule.pre_shift = ASSAY_PRE_REST;
    for (int32_t bits = 1; bits <= 63; bits++) {
        c->rule.round = (assay_steps){.n = 1, .step = {{bits, 0}}};
        try_stages(e, c);
    }
}

void infer_find_prefixes(infer_engine *e)
{
    e->begun = e->t->work;
    for (size_t i = 0; i < e->n_keep && !infer_stop(e); i++) {
        infer_candidate c = {.tail = 0};
        infer_plain_rule(&c.rule);
        if (e->t->o->kind == INFER_SCALE)
            infer_take_encoding(&c.rule, &e->t->encoder);
        c.rule.multiplier_bits = e->keep[i].bits;
        c.rule.reduced_bits = e->keep[i].reduced_bits;
        c.rule.reduced_overflow = e->keep[i].reduced_overflow;
        if (infer_keep_holds(e, &c.rule))
            try_pre_shifts(e, &c);
    }
}
