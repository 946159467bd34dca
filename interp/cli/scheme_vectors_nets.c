/* Whole ops of `assay scheme vectors`, compared by networks; see probe/apart.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/cli/vectors.h"

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

assay_status cli_sides_compare_ops(cli_sides *s, probe_apart *x, bool by_rows, assay_error *err)
{
    const char *op = assay_op_get(x->op)->name;
    assay_status status = ASSAY_OK;
    for (size_t k = 0; k < s->n_cases && !status; k++) {
        vectors_case *c = &s->cases[k];
        probe_apart_pair p;
        if (c->verdict == VECTORS_TOLD)
            continue;
        status = probe_apart_try(x, c->a, c->b, &p, err);
        if (p.verdict == PROBE_APART_TOLD) {
            c->verdict = VECTORS_TOLD;
            s->node[k] = p.node;
        } else if (p.verdict == PROBE_APART_SAME) {
            c->verdict = VECTORS_SAME;
            c->proved = true;
        } else {
            say_open(c, &p, op, by_rows);
        }
    }
    return status;
}

/* The first element on which both sides of a case differ. */
static assay_status print_element(const cli_sides *s, const probe_apart *x, size_t k,
                                  assay_error *err)
{
    const vectors_case *c = &s->cases[k];
    const assay_type *type = &x->found[s->node[k]].item[0].node.out;
    const size_t width = assay_elem_size(type->elem);
    char name[16];
    void *a, *b = NULL;
    int64_t i = 0;
    assay_status status = probe_apart_run(x, c->a, s->node[k], &a, err);
    if (!status)
        status = probe_apart_run(x, c->b, s->node[k], &b, err);
    while (a && b && i + 1 < assay_shape_count(type) &&
           memcmp((char *)a + (size_t)i * width, (char *)b + (size_t)i * width, width) == 0)
        i++;
    if (a && b && type->elem.kind == ASSAY_KIND_F32)
        printf("  %s, element %" PRId64 ": %s gives %.9g, %s %.9g\n",
               probe_apart_name(s->node[k], name), i, s->name[c->a], (double)((float *)a)[i],
               s->name[c->b], (double)((float *)b)[i]);
    else if (a && b)
        printf("  %s, element %" PRId64 ": %s gives %" PRId64 ", %s %" PRId64 "\n",
               probe_apart_name(s->node[k], name), i, s->name[c->a],
               assay_elem_get(type->elem, a, (size_t)i), s->name[c->b],
               assay_elem_get(type->elem, b, (size_t)i));
    free(a);
    free(b);
    return status;
}

assay_status cli_sides_print_nodes(const cli_sides *s, const probe_apart *x, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int node = 0; node < x->n; node++) {
        const blame_case *c = &x->found[node].item[0].node;
        char name[16];
        printf("network node %s, %s of", probe_apart_name(node, name), assay_op_get(c->op)->name);
        for (int i = 0; i < c->n_in; i++)
            if (c->in[i].elem.kind != ASSAY_KIND_NONE)
                printf("%s %" PRId64, i ? "," : "", assay_shape_count(&c->in[i]));
        printf(" numbers to %" PRId64 ":\n", assay_shape_count(&c->out));
        for (size_t k = 0; k < s->n_cases && !status; k++)
            if (s->node[k] == node)
                status = print_element(s, x, k, err);
    }
    return status;
}
