/* assay scheme try: one rescale, explained step by step. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "graph/core/type.h"
#include "interp/api/trial.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/mac/mac.h"

#define WIDEST 9007199254740991.0 /* integers that a double holds */

typedef struct numbers {
    int64_t acc, multiplier, shift, pre, zero, in_zero, lo, hi;
    double scale, in, weight, out;
} numbers;

static bool read_numbers(const cli_args *a, numbers *n)
{
    const int64_t max = (int64_t)WIDEST;
    return cli_integer(a, "acc", 0, -max, max, &n->acc) &&
           cli_number(a, "scale", 0, -1e30, 1e30, &n->scale) &&
           cli_integer(a, "multiplier", 0, -4294967296, 4294967296, &n->multiplier) &&
           cli_integer(a, "shift", 0, -1100, 1100, &n->shift) &&
           cli_integer(a, "pre", 0, 0, 62, &n->pre) &&
           cli_integer(a, "zp", 0, INT32_MIN, INT32_MAX, &n->zero) &&
           cli_integer(a, "in-zp", 0, INT32_MIN, INT32_MAX, &n->in_zero) &&
           cli_integer(a, "min", 0, INT32_MIN, INT32_MAX, &n->lo) &&
           cli_integer(a, "max", 0, INT32_MIN, INT32_MAX, &n->hi) &&
           cli_number(a, "in-scale", 1, 1e-30, 1e30, &n->in) &&
           cli_number(a, "weight-scale", 1, 1e-30, 1e30, &n->weight) &&
           cli_number(a, "out-scale", 1, 1e-30, 1e30, &n->out);
}

static int explain(const cli_args *a, const assay_scheme *s, const numbers *n, assay_elem type,
                   bool formed)
{
    assay_error err;
    assay_single_trial t;
    const assay_batch b = {.n = 1,
                           .op = cli_value(a, "op", NULL),
                           .wide = cli_has(a, "wide") || assay_scheme_is_wide(s),
                           .type = type,
                           .acc = &n->acc,
                           .scale = cli_has(a, "scale") ? &n->scale : NULL,
                           .in = formed ? &n->in : NULL,
                           .weight = &n->weight,
                           .out = &n->out,
                           .per_tensor = cli_has(a, "per-tensor"),
                           .multiplier = &n->multiplier,
                           .shift = &n->shift,
                           .pre = &n->pre,
                           .zero_point = &n->zero,
                           .in_zero = &n->in_zero,
                           .lo = cli_has(a, "min") ? &n->lo : NULL,
                           .hi = cli_has(a, "max") ? &n->hi : NULL};
    if (assay_single_trial_start(&t, s, &b, &err))
        return cli_failed(&err);
    assay_single_trial_print(cli_notes_of(a), &t);
    return cli_has(a, "json") ? cli_json_write(a, assay_single_trial_json(&t)) : CLI_OK;
}

/* A zero point tells signed from unsigned codes when no type is asked for. */
static bool fit_type(const cli_args *a, const numbers *n, assay_elem *type)
{
    char elem[8];
    assay_elem other = *type;
    other.is_signed = !other.is_signed;
    bool fits = n->zero >= assay_elem_min(*type) && n->zero <= assay_elem_max(*type);
    if (!fits && !cli_has(a, "type") && n->zero >= assay_elem_min(other) &&
        n->zero <= assay_elem_max(other)) {
        *type = other;
        fits = true;
    }
    if (fits)
        return true;
    cli_trouble("scheme try: --zp %" PRId64 " is outside %s, %" PRId64 "..%" PRId64, n->zero,
                assay_elem_print(*type, elem), assay_elem_min(*type), assay_elem_max(*type));
    return false;
}

int cli_scheme_try(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;
    assay_elem type;
    numbers n;
    bool scales = cli_has(a, "in-scale") || cli_has(a, "weight-scale") || cli_has(a, "out-scale");
    bool given = cli_has(a, "multiplier") && cli_has(a, "shift");

    if (mac_is_unit(a->positional[1]) || cli_has(a, "a") || cli_has(a, "b"))
        return cli_unit_try(a);
    if (!cli_has(a, "acc") || cli_has(a, "scale") + given + scales != 1 ||
        (cli_has(a, "multiplier") || cli_has(a, "shift") || cli_has(a, "pre")) != given)
        return cli_trouble("scheme try: needs --acc and one of --scale, --multiplier with --shift, "
                           "or --in-scale with --weight-scale and --out-scale");
    if (!read_numbers(a, &n))
        return CLI_TROUBLE;
    if (cli_has(a, "scale") && fabs(n.scale) < (double)FLT_MIN)
        return cli_trouble("scheme try: --scale %g is %s; expected a normal float32", n.scale,
                           n.scale == 0 ? "zero" : "subnormal");
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    int status = cli_scheme_type(a, s, &type) && fit_type(a, &n, &type)
                     ? explain(a, s, &n, type, scales)
                     : CLI_TROUBLE;
    assay_scheme_free(s);
    return status;
}
