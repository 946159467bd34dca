/* The manifest's list of tensors. It is written as text: of what may be a million entries those of
 * one tensor differ in nothing but sample, digest and file, and as JSON objects they take ten times
 * as long as the network. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "graph/files/json.h"
#include "graph/memory.h"
#include "interp/golden/bundle_writer.h"
#include "interp/page/json.h"

static int node_layout(const assay_node *n)
{
    const assay_attr_field *f = assay_attr_find(assay_op_get(n->op)->attrs, "layout");
    return *(const int *)((const char *)&n->attr + f->offset);
}

/* The layout of a value of rank 3 to 5: that of the node that makes it, or of one that uses it. */
static const char *layout_of(const assay_graph *g, int value)
{
    for (int i = -1; i < g->n_nodes; i++) {
        const int n = i < 0 ? g->value[value].producer : i;
        bool touches = i < 0 && n >= 0;
        if (n < 0 || !(assay_op_get(g->node[n].op)->traits & ASSAY_T_LAYOUT))
            continue;
        touches = touches || (g->node[n].n_in > 0 && g->node[n].in[0] == value);
        if (touches && g->value[value].type.rank >= 3)
            return node_layout(&g->node[n]) == ASSAY_LAYOUT_NHWC ? "NHWC" : "NCHW";
    }
    return NULL;
}

/* What entries of a slot have in common, from source_index to layout, or NULL for want of memory.
 */
static json_t *common_fields(const assay_graph *g, const assay_bundle_slot *slot)
{
    const int value = slot->value;
    const assay_value *v = &g->value[value];
    const char *layout = layout_of(g, value);
    json_t *o = json_object(), *type = golden_json_type(&v->type);
    if (v->source_index >= 0)
        page_json_set(&o, "source_index", json_integer(v->source_index));
    page_json_set(&o, "name", page_json_text(v->name));
    page_json_set(&o, "op", json_string(golden_bundle_op(g, value)));
    if (!type || json_object_update(o, type) != 0) {
        json_decref(o);
        o = NULL;
    }
    json_decref(type);
    page_json_set(&o, "layout", layout ? json_string(layout) : json_null());
    if (slot->of_constants)
        page_json_set(&o, "of_constants", json_true());
    return o;
}

/* The fields of an object as lines of an entry, without its braces; malloc'd, or NULL. */
static char *lines_of(json_t *o)
{
    char *text = file_json_text(o, ASSAY_JSON_FORMAT);
    const char *end = text ? text + strlen(text) - 2 : NULL; /* newline and brace */
    assay_buf lines = {.failed = !text};
    for (const char *p = text + 1; text && p < end; p++) {
        assay_buf_add(&lines, p, 1);
        if (*p == '\n')
            assay_buf_add(&lines, "  ", 2);
    }
    if (lines.failed)
        assay_buf_free(&lines);
    free(text);
    json_decref(o);
    return lines.text;
}

static void print_outcome(const assay_bundle_writer *w, FILE *f, const char *indent,
                          const char *kind, int value, int64_t sample, bool has_file,
                          assay_digest digest)
{
    char part[ASSAY_BUNDLE_PART], hex[33];
    golden_digest_print(digest, hex);
    fprintf(f, ",\n%s\"xxh3\": \"%s\"", indent, hex);
    if (w->options.digests_only || !has_file)
        return;
    golden_bundle_part(w, kind, value, sample, part); /* no character of it needs an escape */
    fprintf(f, ",\n%s\"file\": \"%s.npy\"", indent, part);
}

static void print_entry(const assay_bundle_writer *w, FILE *f, const char *lines, int64_t record,
                        int slot)
{
    const assay_bundle_records *r = &w->records;
    const assay_bundle_slot *t = &r->slot[slot];
    const int64_t sample = r->sample[record], at = record * r->n_slots + slot;
    fprintf(f, "%s\n  {\n   \"index\": %d", at > 0 ? "," : "", w->index[t->value]);
    if (w->options.samples > 1)
        fprintf(f, ",\n   \"sample\": %" PRId64, sample);
    fputc(',', f);
    fputs(lines, f);
    print_outcome(w, f, "   ", "tensors", t->value, sample, !t->of_constants, r->tensor[at]);
    if (t->has_sums) {
        fputs(",\n   \"accumulators\": {\n    \"dtype\": \"int64\"", f);
        print_outcome(w, f, "    ", "accumulators", t->value, sample, true, r->sums[at]);
        fputs("\n   }", f);
    }
    fputs("\n  }", f);
}

assay_status golden_bundle_tensors_print(const assay_bundle_writer *w, FILE *f, assay_error *err)
{
    const assay_bundle_records *r = &w->records;
    char **lines = calloc((size_t)r->n_slots + 1, sizeof *lines);
    bool good = lines != NULL;
    for (int i = 0; i < r->n_slots && good; i++)
        good = (lines[i] = lines_of(common_fields(w->program->graph, &r->slot[i]))) != NULL;
    for (int64_t k = 0; k < r->n && good; k++)
        for (int i = 0; i < r->n_slots; i++)
            print_entry(w, f, lines[i], k, i);
    if (good && r->n > 0 && r->n_slots > 0)
        fputs("\n ", f);
    for (int i = 0; lines && i < r->n_slots; i++)
        free(lines[i]);
    free(lines);
    return good ? ASSAY_OK : assay_out_of_memory_for(err, "listing the bundle's tensors");
}
