/* Groups of values that share parameters, and those parameters. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>

#include "opt/quantize/plan.h"

static int find(const assay_quantizer *q, int v)
{
    while (q->value[v].group != v) {
        q->value[v].group = q->value[q->value[v].group].group; /* path halving */
        v = q->value[v].group;
    }
    return v;
}

bool quantize_plan_is_fixed(const assay_quantizer *q, int value)
{
    return q->value[find(q, value)].fixed;
}

assay_code quantize_plan_code(const assay_quantizer *q, int value)
{
    return q->value[find(q, value)].code;
}

/* Targets whose activations are unsigned and have no zero point hold negative values in the signed
 * type of the same width. */
static bool takes_sign_from_data(const assay_quantizer *q, assay_elem elem)
{
    return !q->caps.activation_zero_point && !elem.is_signed &&
           assay_elem_equal(elem, q->activation.elem);
}

/* Parameters for activations in [min, max]; without zero points an unsigned type starts at 0. */
static assay_status choose_activation(const assay_quantizer *q, double min, double max, bool final,
                                      bool power_of_two, bool zero_offset, assay_code *code,
                                      assay_error *err)
{
    assay_choice c = q->activation;
    zero_offset |= code->elem.bits > 8 && !q->caps.wide_zero_point;
    c.elem = code->elem;
    c.final = final && !power_of_two && !zero_offset;
    c.power_of_two |= power_of_two;
    if (zero_offset && c.symmetry != ASSAY_SYMMETRIC_POWER_OF_TWO)
        c.symmetry = ASSAY_SYMMETRIC;
    if (!q->caps.activation_zero_point && !c.elem.is_signed) {
        c.symmetry = ASSAY_ASYMMETRIC;
        c.final = false;
        min = fmax(min, 0);
        max = fmax(max, 0);
    }
    return calibrate_choose_qparams(&c, min, max, &code->scale, &code->zero_point, err);
}

/* Least and greatest real value of the codes. */
static void representable(const assay_code *c, double *lo, double *hi)
{
    *lo = (double)c->scale * (double)(assay_elem_min(c->elem) - c->zero_point);
    *hi = (double)c->scale * (double)(assay_elem_max(c->elem) - c->zero_point);
}

static bool same_code(const assay_code *a, const assay_code *b)
{
    return assay_elem_equal(a->elem, b->elem) && a->scale == b->scale &&
           a->zero_point == b->zero_point;
}

/* The codes of `fixed` hold the range of `v`, to within the half step that rounding gives. */
static bool holds(const assay_plan_value *fixed, const assay_plan_value *v)
{
    double lo, hi, half = 0.5 * (double)fixed->code.scale;
    representable(&fixed->code, &lo, &hi);
    return v->min >= lo - half && v->max <= hi + 2 * half;
}

/* Joins two groups unless a fixed output, or another width, forbids it. */
static void join(assay_quantizer *q, int a, int b)
{
    assay_plan_value *x = &q->value[a = find(q, a)], *y = &q->value[b = find(q, b)];
    if (a == b || !assay_elem_equal(x->code.elem, y->code.elem))
        return;
    if (x->fixed && y->fixed && !same_code(&x->code, &y->code))
        return;
    if ((x->fixed && !holds(x, y)) || (y->fixed && !holds(y, x)))
        return;
    x->min = fmin(x->min, y->min);
    x->max = fmax(x->max, y->max);
    x->final &= y->final;
    x->power_of_two |= y->power_of_two;
    x->zero_offset |= y->zero_offset;
    if (y->fixed) {
        x->fixed = true;
        x->code = y->code;
    }
    y->group = a;
}

/* ---- ranges ---- */

static const assay_calibrate_how *calibration_of(const assay_quantizer *q, const char *name)
{
    for (int i = 0; i < q->options->n_calibrate; i++)
        if (fnmatch(q->options->calibrate[i].pattern, name, 0) == 0)
            return &q->options->calibrate[i].how;
    return &q->options->calibration;
}

/* Power-of-two scales around a fixed zero point: perhaps the next finer one is better. */
static void fit_power_of_two(const assay_quantizer *q, const assay_histogram *h,
                             assay_plan_value *p)
{
    assay_choice c = q->activation;
    bool starts_at_zero = takes_sign_from_data(q, p->code.elem) && !p->code.elem.is_signed;
    int64_t lo, hi, zero;

    c.elem = p->code.elem;
    if (!c.power_of_two || c.nearest || c.method != ASSAY_QPARAMS_ASSAY ||
        (!starts_at_zero && c.symmetry != ASSAY_SYMMETRIC &&
         c.symmetry != ASSAY_SYMMETRIC_POWER_OF_TWO))
        return;
    calibrate_choice_codes(&c, &lo, &hi);
    zero = c.elem.is_signed || starts_at_zero ? 0 : (hi + 1) / 2;
    calibrate_power_of_two(h, (double)(lo - zero), (double)(hi - zero), &p->range);
}

/* The range from the floor to the greatest element: masked scores lie below it (-infinity is in no
 * bin), and calibration does not take them into account. */
static void cut_off(assay_plan_value *p, const assay_histogram *h)
{
    int first, end;
    uint64_t below = h->inf;
    profile_histogram_extent(h, &first, &end);
    for (int i = first; i < end; i++) {
        double lo, hi;
        profile_histogram_edges(h, i, &lo, &hi);
        below += hi <= p->floor ? *profile_histogram_at(h, i) : 0;
    }
    const double max = p->range.used == ASSAY_CALIBRATE_HEADROOM ? p->range.max : (double)h->max;
    p->range = (assay_calibrated){.used = ASSAY_CALIBRATE_MIN_MAX,
                                  .min = p->floor,
                                  .max = fmax(fmax(max, p->reach[1]), p->floor),
                                  .clipped = (double)below / (double)(h->finite + h->inf),
                                  .note = "masked below: softmax does not see it"};
}

/* A mask has both its values, although no sample may have had one of them. */
static void reach_out(assay_plan_value *p)
{
    if (p->reach[0] >= p->range.min && p->reach[1] <= p->range.max)
        return;
    p->range.min = fmin(p->range.min, p->reach[0]);
    p->range.max = fmax(p->range.max, p->reach[1]);
    p->range.final = false;
    p->range.note = "a mask: both of its values, observed or not";
}

static assay_status set_range(assay_quantizer *q, int v, assay_elem elem, assay_error *err)
{
    assay_plan_value *p = &q->value[v];
    const assay_value *value = &q->g->value[v];
    p->code.elem = elem;
    p->has_code = true;
    p->calibrated = p->final = false;
    if (value->data)
        return quantize_constant_range_above(value, p->floor, &p->min, &p->max, err);
    const assay_profile_entry *e = profile_entry_of(q->profile, q->g, v);
    if (assay_shape_count(&value->type) == 0 || value->is_variable) {
        /* a cache before its first row, or one that begins as zeros */
        p->min = p->max = 0;
        return ASSAY_OK;
    }
    if (e && e->seen.finite == 0 && p->floor > -INFINITY) { /* all of it is masked */
        p->min = p->max = p->floor;
        return ASSAY_OK;
    }
    if (!e || e->seen.finite == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "profile has no observation of value '%.200s'",
                          value->name);
    assay_choice c = q->activation;
    c.elem = elem;
    calibrate_for(&c, &e->seen, calibration_of(q, value->name), &p->range);
    p->calibrated = true;
    if (p->floor > -INFINITY)
        cut_off(p, &e->seen);
    else
        reach_out(p);
    if (takes_sign_from_data(q, elem))
        p->code.elem.is_signed = p->range.min < 0;
    if (p->floor == -INFINITY && p->reach[0] > p->reach[1])
        fit_power_of_two(q, &e->seen, p);
    p->min = p->range.min;
    p->max = p->range.max;
    p->final = p->range.final;
    return ASSAY_OK;
}

/* Every value that integer nodes write has the node's element kind; one that they only read has
 * that of the first reader. */
static assay_status set_ranges(assay_quantizer *q, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < q->g->n_nodes && !status; i++) {
        const assay_node *n = &q->g->node[i];
        const assay_plan_node *p = &q->node[i];
        if (p->state != ASSAY_PLAN_INTEGER)
            continue;
        for (int j = 0; j < n->n_in && !status; j++)
            if (quantize_plan_is_data(q, n, j) && !q->value[n->in[j]].has_code)
                status = set_range(q, n->in[j], p->elem, err);
        for (int j = 0; j < n->n_out && !status; j++) {
            int v = j == 0 ? p->out : n->out[j];
            if (q->g->value[v].type.elem.kind == ASSAY_KIND_F32)
                status = set_range(q, v, p->elem, err);
        }
    }
    return status;
}

/* What the target file, or the scheme, demands of a node's scales and zero points, of every value
 * at it. */
static void demand(assay_quantizer *q)
{
    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        const assay_target_rule *r = quantize_plan_rule(q, n->op);
        if (q->node[i].state != ASSAY_PLAN_INTEGER || !lower_needs_target(n))
            continue;
        for (int j = 0; j < n->n_in + n->n_out; j++) {
            bool in = j < n->n_in;
            if (in && !quantize_plan_is_data(q, n, j))
                continue;
            int v = in ? n->in[j] : j == n->n_in ? q->node[i].out : n->out[j - n->n_in];
            q->value[v].power_of_two |= r->power_of_two;
            q->value[v].zero_offset |= r->zero_offset || quantize_plan_wants_no_zero_point(q, i);
        }
    }
}

static void set_fixed_outputs(assay_quantizer *q)
{
    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        assay_plan_value *v = &q->value[q->node[i].out];
        if (q->node[i].state == ASSAY_PLAN_INTEGER && v->has_code)
            v->fixed = assay_scheme_fixed_output(q->scheme, assay_op_get(n->op)->name, v->code.elem,
                                                 &v->code.scale, &v->code.zero_point);
    }
}

/* Values that a node must give the same parameters: its real inputs and outputs. Constants are part
 * of the range; only those of min and max may saturate without harm. */
static assay_status join_node(assay_quantizer *q, int i, assay_error *err)
{
    const assay_node *n = &q->g->node[i];
    uint32_t traits = assay_op_get(n->op)->traits;
    bool widens = (traits & ASSAY_T_MOVE) || !(traits & ASSAY_T_SELECTS);
    int out = q->node[i].out;
    for (int j = 0; j < (traits & ASSAY_T_WEIGHTED ? 1 : n->n_in); j++) {
        int v = n->in[j];
        if (v < 0 || q->g->value[v].type.elem.kind != ASSAY_KIND_F32)
            continue;
        if (lower_is_constant(q->g, v)) {
            double min, max;
            assay_plan_value *root = &q->value[find(q, out)];
            assay_status status =
                quantize_constant_range_above(&q->g->value[v], q->value[v].floor, &min, &max, err);
            if (status)
                return status;
            root->min = widens ? fmin(root->min, min) : root->min;
            root->max = widens ? fmax(root->max, max) : root->max;
            root->final &= !widens;
        } else {
            join(q, out, v);
        }
    }
    for (int j = 1; j < n->n_out; j++)
        if (q->value[n->out[j]].has_code)
            join(q, out, n->out[j]);
    return ASSAY_OK;
}

/* Operands of add_n have one code. */
static void join_operands(assay_quantizer *q, const assay_node *n)
{
    for (int j = 1; j < n->n_in && quantize_plan_is_data(q, n, 0); j++)
        if (quantize_plan_is_data(q, n, j))
            join(q, n->in[0], n->in[j]);
}

assay_status quantize_plan_groups(assay_quantizer *q, assay_error *err)
{
    for (int v = 0; v < q->g->n_values; v++) {
        q->value[v].group = v;
        q->value[v].has_code = q->value[v].fixed = q->value[v].calibrated = false;
        q->value[v].power_of_two = q->value[v].zero_offset = false;
    }
    assay_status status = set_ranges(q, err);
    if (!status)
        set_fixed_outputs(q);
    if (!status)
        demand(q);
    for (int i = 0; i < q->g->n_nodes && !status; i++) {
        const assay_node *n = &q->g->node[i];
        if (q->node[i].state != ASSAY_PLAN_INTEGER)
            continue;
        if (quantize_plan_keeps_params(q, n) && q->value[q->node[i].out].has_code)
            status = join_node(q, i, err);
        else if (n->op == ASSAY_OP_ADD_N)
            join_operands(q, n);
    }
    for (int v = 0; v < q->g->n_values && !status; v++) {
        assay_plan_value *p = &q->value[v];
        if (p->group != v || !p->has_code || p->fixed)
            continue;
        status = choose_activation(q, p->min, p->max, p->final, p->power_of_two, p->zero_offset,
                                   &p->code, err);
    }
    return status;
}

/* Node i reads codes of its own element kind, or of the signed twin where data decide the sign, of
 * parameters that the target file and the scheme allow. */
static bool reads_directly(const assay_quantizer *q, int i, const assay_code *code)
{
    const assay_node *n = &q->g->node[i];
    const assay_elem wanted = q->node[i].elem;
    assay_elem elem = code->elem;
    if (takes_sign_from_data(q, wanted))
        elem.is_signed = false;
    if (!assay_elem_equal(wanted, elem))
        return false;
    if (code->zero_point != 0 && quantize_plan_wants_no_zero_point(q, i))
        return false;
    return !lower_needs_target(n) ||
           target_has_params(quantize_plan_rule(q, n->op), code->scale, code->zero_point);
}

/* Adds the range of value v to range; direct: node i may read its code as it is, which is *code or,
 * where that is of no type yet, becomes it. */
static assay_status read_operand(const assay_quantizer *q, int i, int v, bool *direct,
                                 assay_code *code, double range[2], assay_error *err)
{
    const assay_plan_value *root = &q->value[find(q, v)];
    double min = root->min, max = root->max;
    assay_status status = ASSAY_OK;
    if (lower_is_constant(q->g, v)) {
        *direct = false;
        status = quantize_constant_range_above(&q->g->value[v], q->value[v].floor, &min, &max, err);
    } else {
        *direct &= reads_directly(q, i, &root->code) &&
                   (code->elem.kind == ASSAY_KIND_NONE || same_code(code, &root->code));
        *code = root->code;
    }
    range[0] = fmin(range[0], min);
    range[1] = fmax(range[1], max);
    return status;
}

/* A matmul's constant operand is weights, which the target may have in fewer bits. */
static bool is_narrow_weight(const assay_quantizer *q, int i, int slot)
{
    const assay_node *n = &q->g->node[i];
    return n->op == ASSAY_OP_MATMUL && slot == 1 && lower_is_constant(q->g, n->in[1]) &&
           q->weight.elem.bits < q->node[i].elem.bits;
}

assay_status quantize_plan_input_code(const assay_quantizer *q, int i, int slot, assay_code *code,
                                      assay_error *err)
{
    const assay_node *n = &q->g->node[i];
    const assay_plan_node *p = &q->node[i];
    const assay_target_rule *r = quantize_plan_rule(q, n->op);
    double range[2] = {INFINITY, -INFINITY};
    *code = (assay_code){0};
    if (quantize_plan_is_state(n)) {
        *code = quantize_plan_code(q, n->in[0]);
        return ASSAY_OK;
    }
    if (quantize_plan_keeps_params(q, n) && q->value[p->out].has_code) {
        *code = quantize_plan_code(q, p->out);
        return ASSAY_OK;
    }
    assay_status status = ASSAY_OK;
    bool direct = true;
    for (int j = 0; j < n->n_in && !status; j++)
        if (j == slot || n->op == ASSAY_OP_ADD_N)
            status = read_operand(q, i, n->in[j], &direct, code, range, err);
    if (status || direct)
        return status;
    code->elem = p->elem;
    if (takes_sign_from_data(q, p->elem))
        code->elem.is_signed = range[0] < 0;
    const bool narrow = is_narrow_weight(q, i, slot);
    if (narrow)
        code->elem = q->weight.elem;
    return choose_activation(q, range[0], range[1], false, r->power_of_two,
                             narrow || r->zero_offset || quantize_plan_wants_no_zero_point(q, i),
                             code, err);
}
