/* Two schemes' parameters, and reports of all that is asked of them; see pair.h. */
#include "interp/decide/pair.h"

#include <string.h>

#include "graph/memory.h"
#include "interp/page/json.h"
#include "schemes/derive/derive.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/data.h"

void decide_pair_open(decide_pair *p, const assay_scheme *a, const assay_scheme *b, FILE *out)
{
    *p = (decide_pair){.a = a,
                       .b = b,
                       .out = out,
                       .parameters = json_array(),
                       .scales = json_array(),
                       .nodes = json_array()};
}

void decide_pair_close(decide_pair *p)
{
    json_decref(p->parameters);
    json_decref(p->scales);
    json_decref(p->nodes);
}

/* ---- records ---- */

/* Whether the scheme leaves the op in float, which is said. */
static bool is_left(FILE *f, const assay_scheme *s, const assay_record *r, assay_op op)
{
    const char *name = assay_op_get(op)->name, *lacks = derive_lacks(r, op);
    const bool listed = assay_data(s)->in_float[op];
    if (listed || lacks)
        fprintf(f, "  %s leaves %s in float: %s%s\n", s->name, name,
                listed ? "float_ops" : "the target has no integer form of ", listed ? "" : lacks);
    return listed || lacks;
}

json_t *decide_parameter_json(const assay_field *f, assay_field_value x, assay_field_value y)
{
    char key[80], left[128], right[128];
    json_t *o = json_object();
    snprintf(key, sizeof key, "%s.%s", f->section, f->name);
    page_json_set(&o, "parameter", json_string(key));
    assay_field_print(f, x, left, sizeof left);
    assay_field_print(f, y, right, sizeof right);
    page_json_set(&o, "a", page_json_text(left));
    page_json_set(&o, "b", page_json_text(right));
    return o;
}

/* A parameter that differs. */
static void put_parameter(decide_pair *p, const assay_field *f, assay_field_value x,
                          assay_field_value y)
{
    char key[80], left[128], right[128];
    snprintf(key, sizeof key, "%s.%s", f->section, f->name);
    assay_field_print(f, x, left, sizeof left);
    assay_field_print(f, y, right, sizeof right);
    fprintf(p->out, "  %-32s %-28s %s\n", key, left, right);
    page_json_add(&p->parameters, decide_parameter_json(f, x, y));
}

void decide_records(decide_pair *p, const decide_question *q)
{
    const char *op = q->op ? q->op : "conv";
    const assay_op of = assay_op_find(op);
    assay_record a, b;
    size_t n, differ = 0;
    const assay_field *fields = assay_record_fields(&n);
    assay_effective_record(assay_data(p->a), op, "", decide_form(q, p->a), &a);
    assay_effective_record(assay_data(p->b), op, "", decide_form(q, p->b), &b);
    fprintf(p->out, "parameters %s %s:\n", q->op ? "that are read for" : "for", op);
    for (size_t i = 0; i < n; i++) {
        if (q->op && !assay_reads_op(&a, of, &fields[i]) && !assay_reads_op(&b, of, &fields[i]))
            continue;
        assay_field_value x = assay_record_get(&a, &fields[i]),
                          y = assay_record_get(&b, &fields[i]);
        if (assay_field_equal(&fields[i], x, y)) {
            p->same++;
            continue;
        }
        differ++;
        put_parameter(p, &fields[i], x, y);
    }
    fprintf(p->out, "  %zu differ, %d are the same\n", differ, p->same);
    if (q->op && of != ASSAY_OP_COUNT) {
        const bool left_a = is_left(p->out, p->a, &a, of), left_b = is_left(p->out, p->b, &b, of);
        p->in_float = left_a && left_b;
        differ = p->in_float ? 0 : differ + (left_a != left_b);
    }
    if (q->scales == 0 && !q->graph)
        p->differ = differ > 0;
}

int decide_undecided(const decide_pair *p)
{
    return p->undecided + p->in_float;
}

/* ---- reports ---- */

json_t *decide_pair_json(const decide_pair *p, const decide_question *q)
{
    json_t *o = json_object();
    page_json_set(&o, "a", page_json_text(p->a->name));
    page_json_set(&o, "b", page_json_text(p->b->name));
    page_json_set(&o, "op", json_string(q->op ? q->op : "conv"));
    page_json_set(&o, "differ", json_boolean(p->differ));
    page_json_set(&o, "undecided", json_integer(decide_undecided(p)));
    page_json_set(&o, "parameters", json_incref(p->parameters));
    page_json_set(&o, "same", json_integer(p->same));
    if (q->scales > 0)
        page_json_set(&o, "scales", json_incref(p->scales));
    if (q->graph)
        page_json_set(&o, "nodes", json_incref(p->nodes));
    return o;
}

bool decide_is_open(const decide_pair *p, const decide_question *q, char *why, size_t size)
{
    if (p->undecided > 0)
        snprintf(why, size, "no difference found, but %d of the %s not decided", p->undecided,
                 q->graph ? "nodes were" : "scales were");
    else if (p->in_float)
        snprintf(why, size, "nothing was decided: both leave %s in float", q->op);
    return !p->differ && (p->undecided > 0 || p->in_float);
}
