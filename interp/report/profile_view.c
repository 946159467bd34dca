/* Values of a profile with the codes that they would get; see profile_draw.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/report/profile_draw.h"

assay_status report_profile_view_of(const char *name, int channel, const assay_histogram *seen,
                                    const assay_choice *c, const assay_calibrate_how *how,
                                    report_profile_view *v, assay_error *err)
{
    const int64_t lo = assay_elem_min(c->elem), hi = assay_elem_max(c->elem);
    assay_choice choice = *c;

    *v = (report_profile_view){.name = name, .channel = channel, .seen = seen, .elem = c->elem};
    if (seen->finite > 0)
        calibrate_for(&choice, seen, how, &v->range);
    choice.final = v->range.final;
    const assay_status status = calibrate_choose_qparams(&choice, v->range.min, v->range.max,
                                                         &v->scale, &v->zero_point, err);
    v->lo = (double)v->scale * (double)(lo - v->zero_point);
    v->hi = (double)v->scale * (double)(hi - v->zero_point);
    v->left = fmin((double)seen->min, v->lo);
    v->right = fmax((double)seen->max, v->hi);
    return status;
}

static int by_step(const void *a, const void *b)
{
    const assay_profile_entry *x = *(const assay_profile_entry *const *)a;
    const assay_profile_entry *y = *(const assay_profile_entry *const *)b;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step)
                              : strcmp(x->name, y->name);
}

const assay_profile_entry **report_profile_order(const assay_profile *p)
{
    const size_t n = (size_t)profile_count(p);
    const assay_profile_entry **order = calloc(n + 1, sizeof *order);
    for (size_t i = 0; order && i < n; i++)
        order[i] = profile_get(p, (int)i);
    if (order)
        qsort(order, n, sizeof *order, by_step);
    return order;
}
