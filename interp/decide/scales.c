/* One rescale against another, for every accumulator; see pair.h. */
#include <inttypes.h>
#include <math.h>

#include "graph/core/type.h"
#include "interp/decide/pair.h"
#include "interp/page/json.h"
#include "interp/vectors/rows.h"
#include "schemes/record/data.h"
#include "schemes/rescale/single.h"

double decide_scale(const decide_question *q, int i)
{
    const double t = q->scales > 1 ? (double)i / (q->scales - 1) : 0;
    return q->scales > 1 ? (double)(float)(q->scale[0] * pow(q->scale[1] / q->scale[0], t))
                         : q->scale[0];
}

unsigned decide_form(const decide_question *q, const assay_scheme *s)
{
    const bool wide = q->wide || assay_data(s)->base.types.activation_bits > 8;
    return assay_variant_of_codes(wide, q->type);
}

void decide_print_first(FILE *f, const assay_disagreements *d, size_t max)
{
    char a[24], b[24];
    for (size_t i = 0; i < d->n_first && i < max; i++) {
        const assay_disagreement *r = &d->first[i];
        fprintf(f, "    acc %" PRId64, r->from);
        if (r->to != r->from)
            fprintf(f, "..%" PRId64, r->to);
        fprintf(f, ": %s, %s\n", vectors_code_text(r->a, a), vectors_code_text(r->b, b));
    }
}

json_t *decide_first_json(const assay_disagreements *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_first; i++) {
        const assay_disagreement *r = &d->first[i];
        json_t *o = json_object();
        page_json_set(&o, "from", json_integer(r->from));
        page_json_set(&o, "to", json_integer(r->to));
        page_json_set(&o, "a", vectors_code_json(r->a));
        page_json_set(&o, "b", vectors_code_json(r->b));
        page_json_add(&list, o);
    }
    return list;
}

/* Two forms; they are freed. */
static void compare_forms(assay_threshold_form *a, assay_threshold_form *b,
                          assay_disagreements *out)
{
    assay_threshold_form_compare(a, b, out);
    assay_threshold_form_free(a);
    assay_threshold_form_free(b);
}

assay_status decide_rescales(const assay_rescale *a, size_t ca, const assay_rescale *b, size_t cb,
                             int64_t lo, int64_t hi, assay_disagreements *out, assay_error *err)
{
    assay_threshold_form x, y;
    assay_status status = assay_threshold_form_make(a, ca, lo, hi, &x, err);
    if (status)
        return status;
    status = assay_threshold_form_make(b, cb, lo, hi, &y, err);
    if (!status)
        compare_forms(&x, &y, out);
    else
        assay_threshold_form_free(&x);
    return status;
}

#define MAX_SUMS (1 << 22) /* that are all tried, where an accumulator does not hold them */

static int64_t code_of(const void *single, int64_t acc)
{
    int64_t code;
    char why[256];
    return assay_single_code(single, acc, true, &code, why, sizeof why) ? code : ASSAY_REFUSED;
}

/* Single rescales of exact sums. */
static assay_status compare_single(const assay_single *a, const assay_single *b, int64_t lo,
                                   int64_t hi, assay_disagreements *out, assay_error *err)
{
    assay_threshold_form x, y;
    if (assay_single_holds(a, lo, hi) && assay_single_holds(b, lo, hi))
        return decide_rescales(&a->r, 0, &b->r, 0, lo, hi, out, err);
    if (hi - lo >= MAX_SUMS)
        return assay_fail(err, ASSAY_ERR_LIMIT,
                          "sums leave an accumulator of %d or %d bits; give `acc` within it, or at "
                          "most %d of them",
                          a->rec.accumulator.bits, b->rec.accumulator.bits, MAX_SUMS);
    assay_status status = assay_threshold_form_ask(code_of, a, false, lo, hi, &x, err);
    if (status)
        return status;
    status = assay_threshold_form_ask(code_of, b, false, lo, hi, &y, err);
    if (!status)
        compare_forms(&x, &y, out);
    else
        assay_threshold_form_free(&x);
    return status;
}

/* ---- a range of scales ---- */

static bool set(assay_single *o, const assay_scheme *s, const decide_question *q, double real,
                char *why, size_t size)
{
    assay_error err;
    const assay_batch b = {
        .n = 1, .type = q->type, .scale = &real, .zero_point = &q->zero, .in_zero = &q->in_zero};
    if (!assay_single_start(o, s, q->op, decide_form(q, s), &err))
        return assay_single_set(o, &b, 0, why, size);
    snprintf(why, size, "%.200s", err.text);
    return false;
}

static void add_row(decide_pair *p, double real, const assay_disagreements *d, const char *why)
{
    json_t *o = json_object();
    page_json_set(&o, "scale", json_real(real));
    page_json_set(&o, "verdict",
                  json_string(why            ? "not decided"
                              : d->count > 0 ? "different"
                                             : "identical"));
    if (why) {
        page_json_set(&o, "why", page_json_text(why));
    } else {
        page_json_set(&o, "considered", json_integer((json_int_t)d->considered));
        page_json_set(&o, "differ", json_integer((json_int_t)d->count));
        page_json_set(&o, "runs", json_integer((json_int_t)d->runs));
        page_json_set(&o, "greatest", json_integer(d->greatest));
        page_json_set(&o, "first", decide_first_json(d));
    }
    page_json_add(&p->scales, o);
}

/* One scale; adds to the totals. */
static assay_status compare_scale(decide_pair *p, const decide_question *q, double real, bool alone,
                                  uint64_t totals[2], assay_error *err)
{
    assay_single a, b;
    assay_disagreements d;
    char why[256];
    const assay_scheme *who = p->a;
    bool ok = set(&a, who, q, real, why, sizeof why);
    if (ok)
        ok = set(&b, who = p->b, q, real, why, sizeof why);
    if (!ok) {
        char said[400];
        snprintf(said, sizeof said, "%.100s refuses: %s", who->name, why);
        fprintf(p->out, "  R = %-12.9g not decided: %s\n", real, said);
        add_row(p, real, NULL, said);
        p->undecided++;
        return ASSAY_OK;
    }
    const assay_status status = compare_single(&a, &b, q->lo, q->hi, &d, err);
    if (status)
        return status;
    totals[0] += d.count;
    totals[1] += d.considered;
    if (d.considered == 0) {
        fprintf(p->out, "  R = %-12.9g not decided: both refuse every accumulator\n", real);
        add_row(p, real, NULL, "both refuse every accumulator");
        p->undecided++;
        return ASSAY_OK;
    }
    add_row(p, real, &d, NULL);
    if (d.count == 0 && !alone)
        return ASSAY_OK;
    if (d.count == 0) {
        fprintf(p->out, "  R = %-12.9g identical for every accumulator\n", real);
        return ASSAY_OK;
    }
    p->differ = true;
    fprintf(p->out,
            "  R = %-12.9g %" PRIu64 " accumulators in %" PRIu64 " runs, by at most %" PRId64 "\n",
            real, d.count, d.runs, d.greatest);
    decide_print_first(p->out, &d, alone ? ASSAY_FIRST_DISAGREEMENTS : 2);
    return ASSAY_OK;
}

assay_status decide_scales(decide_pair *p, const decide_question *q, assay_error *err)
{
    uint64_t totals[2] = {0, 0};
    char elem[8];
    fprintf(p->out, "accumulators %" PRId64 "..%" PRId64 " to %s, %d scale%s from %.9g to %.9g:\n",
            q->lo, q->hi, assay_elem_print(q->type, elem), q->scales, q->scales > 1 ? "s" : "",
            q->scale[0], q->scale[1]);
    for (int i = 0; i < q->scales; i++) {
        const assay_status status =
            compare_scale(p, q, decide_scale(q, i), q->scales == 1, totals, err);
        if (status)
            return status;
    }
    if (totals[1] == 0)
        fprintf(p->out, "  nothing was decided\n");
    else if (totals[0] == 0)
        fprintf(p->out, "  identical for every accumulator%s (%" PRIu64 " considered)\n",
                p->undecided > 0 ? " of the other scales" : "", totals[1]);
    else
        fprintf(p->out, "  %" PRIu64 " of %" PRIu64 " differ\n", totals[0], totals[1]);
    return ASSAY_OK;
}
