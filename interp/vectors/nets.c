/* Whole ops compared by networks; see sides.h and probe/apart.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/vectors/sides.h"

static void list_fields(const probe_apart_pair *p, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < p->n_fields && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s.%s", i ? ", " : "",
                                 p->field[i]->section, p->field[i]->name);
    if (p->n_fields == PROBE_APART_FIELDS && used < size)
        snprintf(text + used, size - used, ", ...");
}

/* What was tried, and what remains to be a difference. */
static void say_open(vectors_case *c, const probe_apart_pair *p, const char *op, bool by_rows)
{
    char fields[400], rows[160] = "";
    list_fields(p, fields, sizeof fields);
    if (c->verdict == VECTORS_OPEN && c->why[0])
        snprintf(rows, sizeof rows, "rows are not decided (%.120s); ", c->why);
    if (p->verdict == PROBE_APART_ALIKE)
        snprintf(c->why, sizeof c->why,
                 "%s%" PRId64 " elements of probe networks of %s are alike%s; not proved: they "
                 "differ in %s",
                 rows, p->compared, op, by_rows ? " too" : "", fields);
    else
        snprintf(c->why, sizeof c->why, "%s%s%s was not compared: %.160s%s%.200s", rows,
                 by_rows ? "beyond rows " : "", op, p->why, p->n_fields ? "; they differ in " : "",
                 fields);
    c->verdict = VECTORS_OPEN;
}

static double number(const assay_type *type, const void *data, int64_t i)
{
    return type->elem.kind == ASSAY_KIND_F32 ? (double)((const float *)data)[i]
                                             : (double)assay_elem_get(type->elem, data, (size_t)i);
}

/* The first element on which both sides of case k differ, by `node`. */
static assay_status find_element(vectors_sides *s, const probe_apart *x, size_t k, int node,
                                 assay_error *err)
{
    const vectors_case *c = &s->cases[k];
    const assay_type *type = &x->found[node].item[0].node.out;
    const size_t width = assay_elem_size(type->elem);
    vectors_element *e = &s->told[k];
    void *a, *b = NULL;
    assay_status status = probe_apart_run(x, c->a, node, &a, err);
    if (!status)
        status = probe_apart_run(x, c->b, node, &b, err);
    *e = (vectors_element){.node = node, .is_float = type->elem.kind == ASSAY_KIND_F32};
    while (a && b && e->i + 1 < assay_shape_count(type) &&
           memcmp((char *)a + (size_t)e->i * width, (char *)b + (size_t)e->i * width, width) == 0)
        e->i++;
    if (a && b) {
        e->a = number(type, a, e->i);
        e->b = number(type, b, e->i);
    }
    free(a);
    free(b);
    return status;
}

assay_status vectors_sides_compare_ops(vectors_sides *s, probe_apart *x, bool by_rows,
                                       assay_error *err)
{
    const char *op = assay_op_get(x->op)->name;
    assay_status status = ASSAY_OK;
    for (size_t k = 0; k < s->n_cases && !status; k++) {
        vectors_case *c = &s->cases[k];
        probe_apart_pair p;
        if (c->verdict == VECTORS_TOLD)
            continue;
        status = probe_apart_try(x, c->a, c->b, &p, err);
        if (status)
            break;
        if (p.verdict == PROBE_APART_TOLD) {
            c->verdict = VECTORS_TOLD;
            status = find_element(s, x, k, p.node, err);
        } else if (p.verdict == PROBE_APART_SAME) {
            c->verdict = VECTORS_SAME;
            c->proved = true;
        } else {
            say_open(c, &p, op, by_rows);
        }
    }
    return status;
}

void vectors_sides_print_nodes(FILE *f, const vectors_sides *s, const probe_apart *x)
{
    for (int node = 0; node < x->n; node++) {
        const blame_case *c = &x->found[node].item[0].node;
        char name[16];
        fprintf(f, "network node %s, %s of", probe_apart_name(node, name),
                assay_op_get(c->op)->name);
        for (int i = 0; i < c->n_in; i++)
            if (c->in[i].elem.kind != ASSAY_KIND_NONE)
                fprintf(f, "%s %" PRId64, i ? "," : "", assay_shape_count(&c->in[i]));
        fprintf(f, " numbers to %" PRId64 ":\n", assay_shape_count(&c->out));
        for (size_t k = 0; k < s->n_cases; k++) {
            const vectors_element *e = &s->told[k];
            if (e->node == node)
                fprintf(f, "  %s, element %" PRId64 ": %s gives %.*g, %s %.*g\n", name, e->i,
                        s->name[s->cases[k].a], e->is_float ? 9 : 10, e->a, s->name[s->cases[k].b],
                        e->is_float ? 9 : 10, e->b);
        }
    }
}
