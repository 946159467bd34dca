/* The report of a capsule: lines, and JSON. */
#include <inttypes.h>

#include "interp/blame/capsule.h"
#include "interp/page/json.h"

static const assay_type *output(const blame_report *r, const blame_capsule *c)
{
    return &r->device.graph->value[r->row[c->row].value].type;
}

static const char *node(const blame_report *r, const blame_capsule *c)
{
    return r->device.graph->node[r->row[c->row].node].name;
}

void blame_capsule_print(const blame_report *r, const blame_capsule *c, const char *dir, FILE *f)
{
    fprintf(f, "%s: %s, output [", dir, node(r, c));
    for (int k = 0; k < output(r, c)->rank; k++)
        fprintf(f, "%s%" PRId64 "..%" PRId64, k ? ", " : "", c->cut.first[k], c->cut.end[k] - 1);
    fprintf(f, "]: %" PRId64 " of %" PRId64 " elements differ, %s\n", c->differing, c->elements,
            c->class);
    if (c->missing[0])
        fprintf(f, "not written, for the form cannot hold it: %s\n", c->missing);
    fprintf(f, "assay blame '%s/golden' '%s/device'", dir, dir);
    if (r->rel >= 0)
        fprintf(f, " --rel %g", r->rel);
    fprintf(f, "\n");
}

json_t *blame_capsule_json(const blame_report *r, const blame_capsule *c)
{
    json_t *o = json_object(), *first = json_array(), *end = json_array();
    for (int k = 0; k < output(r, c)->rank; k++) {
        page_json_add(&first, json_integer(c->cut.first[k]));
        page_json_add(&end, json_integer(c->cut.end[k]));
    }
    page_json_set(&o, "node", page_json_text(node(r, c)));
    page_json_set(&o, "class", json_string(c->class));
    page_json_set(&o, "first", first);
    page_json_set(&o, "end", end);
    page_json_set(&o, "elements", json_integer(c->elements));
    page_json_set(&o, "differing", json_integer(c->differing));
    page_json_set(&o, "samples", json_integer(c->samples));
    page_json_set(&o, "missing", page_json_text(c->missing));
    return o;
}
