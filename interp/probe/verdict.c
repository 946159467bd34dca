/* Verdicts of findings: which scheme agrees with what, which fields differ. */
#include "interp/probe/find.h"

#include <string.h>

#include "schemes/prepare/asks.h"

const char *probe_op_name(const probe_op_finding *f)
{
    return f->variant & ASSAY_VARIANT_DEPTHWISE ? ASSAY_DEPTHWISE : assay_op_get(f->op)->name;
}

const char *probe_scope_name(const probe_op_finding *f)
{
    return f->variant & ASSAY_VARIANT_WIDE       ? "wide_ops"
           : f->variant & ASSAY_VARIANT_UNSIGNED ? "unsigned_ops"
                                                 : "ops";
}

bool probe_is_full(const probe_op_finding *f)
{
    return f->given == f->elements;
}

bool probe_is_float(const probe_findings *f, const probe_op_finding *o)
{
    return !probe_is_full(o) && o->in_float[probe_base(f)];
}

bool probe_is_explained(const probe_findings *f)
{
    for (int i = 0; i < f->n_ops; i++)
        if (!probe_is_full(&f->op[i]) && !probe_is_float(f, &f->op[i]))
            return false;
    for (int i = 0; i < f->n_stretches; i++)
        if (!probe_is_stretch_given(f, &f->stretch[i]))
            return false;
    return true;
}

bool probe_is_stretch_given(const probe_findings *f, const probe_stretch *s)
{
    bool given = s->as_found;
    for (int k = 0; k < f->schemes.n; k++)
        given = given || s->agrees[k];
    return given;
}

int probe_count_agreed(const probe_findings *f, int k)
{
    int n = 0;
    for (int i = 0; i < f->n_ops; i++)
        n += f->op[i].agrees[k];
    for (int i = 0; i < f->n_stretches; i++)
        n += f->stretch[i].agrees[k];
    return n;
}

bool probe_agrees(const probe_findings *f, int k)
{
    bool all = probe_count_agreed(f, k) > 0;
    for (int i = 0; i < f->n_ops; i++)
        all = all && (f->op[i].agrees[k] || f->op[i].in_float[k]);
    for (int i = 0; i < f->n_stretches; i++)
        all = all && f->stretch[i].agrees[k];
    return all;
}

/* One that leaves in floats what it does not give comes before one that gives more, but not all. */
static int rank(const probe_findings *f, int k)
{
    const int all = f->n_ops + f->n_stretches;
    return probe_count_agreed(f, k) + (probe_agrees(f, k) ? all : 0);
}

int probe_base(const probe_findings *f)
{
    int best = f->n_ops > 0 ? f->op[0].nearest : 0;
    for (int k = 0; k < f->schemes.n; k++)
        if (rank(f, k) > rank(f, best))
            best = k;
    return best;
}

int probe_changes(enum assay_op op, const assay_record *a, const assay_record *b,
                  const assay_field **field, int max)
{
    size_t n;
    int changes = 0;
    const assay_field *f = assay_record_fields(&n);
    for (size_t i = 0; i < n && changes < max; i++)
        if (strcmp(f[i].section, "types") != 0 && strcmp(f[i].section, "accepts") != 0 &&
            !assay_field_equal(&f[i], assay_record_get(a, &f[i]), assay_record_get(b, &f[i])) &&
            (assay_reads_op(a, op, &f[i]) || assay_reads_op(b, op, &f[i])))
            field[changes++] = &f[i];
    return changes;
}

bool probe_is_nearest(const probe_findings *found, int k)
{
    return rank(found, k) == rank(found, probe_base(found));
}

bool probe_is_open(enum probe_state state)
{
    return state == PROBE_OPEN || state == PROBE_OPEN_MORE || state == PROBE_OPEN_UNREAD;
}

const char *probe_verdict(bool explained)
{
    return explained ? "class" : "none";
}
