/* Verdicts of findings: which scheme agrees with what. */
#include "interp/probe/find.h"

const char *probe_op_name(const probe_op_finding *f)
{
    return f->form & ASSAY_FORM_DEPTHWISE ? ASSAY_DEPTHWISE : assay_op_get(f->op)->name;
}

const char *probe_scope_name(const probe_op_finding *f)
{
    return f->form & ASSAY_FORM_WIDE       ? "wide_ops"
           : f->form & ASSAY_FORM_UNSIGNED ? "unsigned_ops"
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
    return true;
}

int probe_count_agreed(const probe_findings *f, int k)
{
    int n = 0;
    for (int i = 0; i < f->n_ops; i++)
        n += f->op[i].agrees[k];
    return n;
}

bool probe_agrees(const probe_findings *f, int k)
{
    bool all = probe_count_agreed(f, k) > 0;
    for (int i = 0; i < f->n_ops; i++)
        all = all && (f->op[i].agrees[k] || f->op[i].in_float[k]);
    return all;
}

int probe_base(const probe_findings *f)
{
    int best = f->op[0].nearest;
    for (int k = 0; k < f->schemes.n; k++)
        if (probe_count_agreed(f, k) > probe_count_agreed(f, best))
            best = k;
    return best;
}
