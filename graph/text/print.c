/* Printing the text form; the grammar is in text.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/complete.h"
#include "graph/memory.h"
#include "graph/text/constant.h"
#include "graph/text/text.h"

#define BARE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./$-"

static const char *const words[] = {"graph", "model", "input",  "const",
                                    "var",   "value", "output", NULL};

bool text_name_is_bare(const char *name)
{
    size_t n = strspn(name, BARE);
    if (n == 0 || name[n] != '\0' || name[0] == '-' || strcmp(name, "_") == 0)
        return false;
    for (int i = 0; words[i]; ++i)
        if (strcmp(name, words[i]) == 0)
            return false;
    return true;
}

static void print_string(const char *text, assay_buf *out)
{
    assay_buf_printf(out, "\"");
    for (; *text; ++text) {
        if (*text == '"' || *text == '\\')
            assay_buf_printf(out, "\\");
        assay_buf_add(out, text, 1);
    }
    assay_buf_printf(out, "\"");
}

void text_name_print(const char *name, assay_buf *out)
{
    if (text_name_is_bare(name))
        assay_buf_printf(out, "%s", name);
    else
        print_string(name, out);
}

static void print_axis(const assay_qparams *q, assay_buf *out)
{
    assay_buf_printf(out, " q(axis=%d,", q->axis);
    if (q->granularity == ASSAY_Q_BLOCK)
        assay_buf_printf(out, "block=%lld,", (long long)q->block);
}

static void print_params(const assay_qparams *q, assay_buf *out)
{
    if (q->granularity == ASSAY_Q_NONE)
        return;
    if (q->granularity == ASSAY_Q_TENSOR) {
        assay_buf_printf(out, " q(");
        assay_buf_float(out, q->scale[0]);
        assay_buf_printf(out, ",%ld)", (long)q->zero_point[0]);
        return;
    }
    print_axis(q, out);
    for (size_t i = 0; i < q->count; ++i) {
        assay_buf_printf(out, "%s", i ? "," : "[");
        assay_buf_float(out, q->scale[i]);
    }
    assay_buf_printf(out, "%s],", q->count ? "" : "[");
    for (size_t i = 0; i < q->count; ++i)
        assay_buf_printf(out, "%s%ld", i ? "," : "[", (long)q->zero_point[i]);
    assay_buf_printf(out, "%s])", q->count ? "" : "[");
}

static void print_shape(const assay_type *t, assay_buf *out)
{
    char elem[8];
    assay_buf_printf(out, "%s[", assay_elem_print(t->elem, elem));
    for (int i = 0; i < t->rank; ++i)
        assay_buf_printf(out, "%s%lld", i ? "," : "", (long long)t->dim[i]);
    assay_buf_printf(out, "]");
}

void text_type_print(const assay_type *t, assay_buf *out)
{
    print_shape(t, out);
    print_params(&t->q, out);
}

/* ---- values ---- */

typedef struct printer {
    const assay_graph *g;
    const assay_text_options *options;
    int *n_files; /* constants written so far, subgraphs included */
    assay_buf *out;
    assay_error *err;
    int indent;
    bool *printed; /* by value */
} printer;

static void start_line(const printer *p, const char *word)
{
    assay_buf_printf(p->out, "%*s%s", p->indent, "", word);
}

/* One element as text. */
static void print_element(const assay_value *v, size_t i, assay_buf *out)
{
    if (v->type.elem.kind == ASSAY_KIND_F32)
        assay_buf_float(out, ((const float *)v->data)[i]);
    else
        assay_buf_printf(out, "%lld", (long long)assay_elem_get(v->type.elem, v->data, i));
}

/* A file name for constant number n: "c0007_conv1.weight.npy" with what is not plain made '_'; what
 * of it the file holds, and the first digits of a digest, stand before the extension. */
static void file_name(char *buf, size_t size, int n, const char *name, const char *what,
                      const char *digest)
{
    const size_t behind = strlen(what) + strlen(".npy") + (*digest ? 17 : 0);
    int length = snprintf(buf, size, "c%04d_", n);
    size_t at = (size_t)length;
    for (const char *p = name; *p && at < size - behind - 1; ++p, ++at)
        buf[at] = strchr(BARE, *p) && *p != '/' && *p != '$' ? *p : '_';
    snprintf(buf + at, size - at, "%s%s%.16s.npy", what, *digest ? "." : "", digest);
}

/* An array of the next constant that goes to a file. */
static assay_status print_file(const printer *p, const assay_text_array *a)
{
    const assay_text_options *o = p->options;
    char name[ASSAY_TEXT_FILE_NAME], digest[33];
    assay_status s = text_constant_digest(a->type, a->data, digest, p->err);
    if (s)
        return s;
    file_name(name, sizeof name, *p->n_files, p->g->value[a->value].name,
              a->part == ASSAY_TEXT_SCALES        ? ".scale"
              : a->part == ASSAY_TEXT_ZERO_POINTS ? ".zero_point"
                                                  : "",
              o->named_by_digest ? digest : "");
    assay_buf_printf(p->out, "file \"%s\" xxh3 \"%s\"", name, digest);
    return o->put(o->user, p->g, a, name, digest, p->err);
}

bool text_params_in_files(const assay_qparams *q)
{
    return q->granularity == ASSAY_Q_BLOCK && q->count > ASSAY_TEXT_PARAMS;
}

static bool has_file(const printer *p, const assay_value *v)
{
    return p->options->put && v->data &&
           (size_t)assay_shape_count(&v->type) > p->options->inline_limit;
}

/* Parameters per block beside a constant's file: files too. */
static assay_status print_block_files(const printer *p, int id)
{
    const assay_qparams *q = &p->g->value[id].type.q;
    const assay_type reals = {.elem = assay_f32(), .rank = 1, .dim = {(int64_t)q->count}};
    const assay_type ints = {.elem = assay_int(32, true), .rank = 1, .dim = {(int64_t)q->count}};
    assay_status s;

    print_axis(q, p->out);
    s = print_file(p, &(assay_text_array){id, ASSAY_TEXT_SCALES, &reals, q->scale});
    assay_buf_printf(p->out, ",");
    if (!s && assay_qparams_one_zero_point(q))
        assay_buf_printf(p->out, "%ld", (long)q->zero_point[0]);
    else if (!s)
        s = print_file(p, &(assay_text_array){id, ASSAY_TEXT_ZERO_POINTS, &ints, q->zero_point});
    assay_buf_printf(p->out, ")");
    return s;
}

/* "name: type src(3)" */
static assay_status print_value(const printer *p, int id)
{
    const assay_value *v = &p->g->value[id];
    assay_status s = ASSAY_OK;
    text_name_print(v->name, p->out);
    assay_buf_printf(p->out, ": ");
    print_shape(&v->type, p->out);
    if (has_file(p, v) && !p->options->lists && text_params_in_files(&v->type.q))
        s = print_block_files(p, id);
    else
        print_params(&v->type.q, p->out);
    if (v->source_index >= 0)
        assay_buf_printf(p->out, " src(%d)", v->source_index);
    return s;
}

/* A value that no node produces, on its own line. */
static assay_status print_source(printer *p, int id)
{
    const assay_value *v = &p->g->value[id];
    assay_status s = ASSAY_OK;
    size_t n;

    if (p->printed[id] || v->producer >= 0)
        return ASSAY_OK;
    p->printed[id] = true;
    start_line(p, v->is_variable ? "var " : v->data ? "const " : "value ");
    s = print_value(p, id);
    if (v->data && !s) {
        n = (size_t)assay_shape_count(&v->type);
        assay_buf_printf(p->out, " = ");
        if (has_file(p, v)) {
            s = print_file(p, &(assay_text_array){id, ASSAY_TEXT_ELEMENTS, &v->type, v->data});
            ++*p->n_files;
        } else {
            assay_buf_printf(p->out, "[");
            for (size_t i = 0; i < n; ++i) {
                assay_buf_printf(p->out, "%s", i ? "," : "");
                print_element(v, i, p->out);
            }
            assay_buf_printf(p->out, "]");
        }
    }
    assay_buf_printf(p->out, "\n");
    return s;
}

/* ---- nodes ---- */

/* Whether parsing would come to the same value without the field: its default, completed. */
static bool is_implied(const printer *p, const assay_node *n, const assay_attr_field *f)
{
    assay_attrs without;
    assay_attrs_copy(assay_op_get(n->op)->attrs, &without, &n->attr);
    assay_attr_default(f, &without);
    assay_node_complete(p->g, n, &without);
    return assay_attr_equal(f, &without, &n->attr);
}

static void print_attrs(const printer *p, const assay_node *n)
{
    const assay_attrs_info *info = assay_attrs_get(assay_op_get(n->op)->attrs);
    const char *separator = " {";
    for (int i = 0; i < info->n_fields; ++i) {
        const assay_attr_field *f = &info->field[i];
        if (is_implied(p, n, f))
            continue;
        assay_buf_printf(p->out, "%s%s=", separator, f->name);
        separator = ", ";
        assay_attr_print(f, &n->attr, p->out);
    }
    if (separator[0] == ',')
        assay_buf_printf(p->out, "}");
}

static void print_node(const printer *p, const assay_node *n)
{
    start_line(p, "");
    for (int i = 0; i < n->n_out; ++i) {
        assay_buf_printf(p->out, "%s", i ? ", " : "");
        (void)print_value(p, n->out[i]); /* no constant: no file */
    }
    assay_buf_printf(p->out, " = %s(", assay_op_get(n->op)->name);
    for (int i = 0; i < n->n_in; ++i) {
        const assay_value *v = assay_node_in(p->g, n, i);
        assay_buf_printf(p->out, "%s", i ? ", " : "");
        if (v)
            text_name_print(v->name, p->out);
        else
            assay_buf_printf(p->out, "_");
    }
    assay_buf_printf(p->out, ")");
    print_attrs(p, n);
    if (n->act_lo != -INFINITY || n->act_hi != INFINITY) {
        assay_buf_printf(p->out, " act[");
        assay_buf_float(p->out, n->act_lo);
        assay_buf_printf(p->out, ",");
        assay_buf_float(p->out, n->act_hi);
        assay_buf_printf(p->out, "]");
    }
    if (n->has_code_bounds)
        assay_buf_printf(p->out, " codes[%ld,%ld]", (long)n->code_lo, (long)n->code_hi);
    if (strcmp(n->name, assay_node_out(p->g, n, 0)->name) != 0) {
        assay_buf_printf(p->out, " @");
        text_name_print(n->name, p->out);
    }
    assay_buf_printf(p->out, "\n");
}

/* ---- graphs ---- */

static assay_status print_graph(const printer *parent, const assay_graph *g, int indent);

static assay_status print_items(printer *p)
{
    const assay_graph *g = p->g;
    assay_status s = ASSAY_OK;

    if (g->model_digest[0]) {
        start_line(p, "model ");
        print_string(g->model_digest, p->out);
        assay_buf_printf(p->out, "\n");
    }
    if (g->quantized_for) {
        start_line(p, "scheme ");
        print_string(g->quantized_for, p->out);
        assay_buf_printf(p->out, "\n");
    }
    for (int i = 0; i < g->n_inputs; ++i) {
        start_line(p, "input ");
        s = s ? s : print_value(p, g->input[i]);
        assay_buf_printf(p->out, "\n");
        p->printed[g->input[i]] = true;
    }
    for (int i = 0; !s && i < g->n_subgraphs; ++i)
        s = print_graph(p, g->subgraph[i], p->indent);
    for (int i = 0; !s && i < g->n_nodes; ++i) {
        const assay_node *n = &g->node[i];
        for (int k = 0; !s && k < n->n_in; ++k)
            if (n->in[k] != ASSAY_NO_VALUE)
                s = print_source(p, n->in[k]);
        if (!s)
            print_node(p, n);
    }
    for (int i = 0; !s && i < g->n_values; ++i)
        s = print_source(p, i);
    for (int i = 0; i < g->n_outputs; ++i) {
        start_line(p, "output ");
        text_name_print(g->value[g->output[i]].name, p->out);
        assay_buf_printf(p->out, "\n");
    }
    return s;
}

/* parent: where to, and how. */
static assay_status print_graph(const printer *parent, const assay_graph *g, int indent)
{
    printer p = *parent;
    assay_status s;

    p.g = g;
    p.indent = indent + 2;
    p.printed = calloc((size_t)g->n_values + 1, sizeof *p.printed);
    if (!p.printed)
        return assay_out_of_memory(p.err);
    assay_buf_printf(p.out, "%*sgraph ", indent, "");
    text_name_print(g->name, p.out);
    assay_buf_printf(p.out, " {\n");
    s = print_items(&p);
    assay_buf_printf(p.out, "%*s}\n", indent, "");
    free(p.printed);
    return s;
}

assay_status text_graph_print_with(const assay_graph *g, const assay_text_options *options,
                                   assay_buf *out, assay_error *err)
{
    int n_files = 0;
    printer p = {.options = options, .n_files = &n_files, .out = out, .err = err};
    assay_status s = print_graph(&p, g, 0);
    return s ? s : assay_buf_status(out, err);
}

/* Writes an array to its file in the folder `user`. */
static assay_status put_file(void *user, const assay_graph *g, const assay_text_array *a,
                             const char *file, const char *digest, assay_error *err)
{
    char path[4096];
    (void)g, (void)digest;
    if (snprintf(path, sizeof path, "%s/%s", (const char *)user, file) >= (int)sizeof path)
        return assay_fail(err, ASSAY_ERR_IO, "%.300s: the path is too long", (const char *)user);
    return text_constant_write(path, a->type, a->data, err);
}

assay_status text_graph_print(const assay_graph *g, const char *constants_dir, assay_buf *out,
                              assay_error *err)
{
    const assay_text_options options = {.inline_limit = ASSAY_TEXT_INLINE,
                                        .put = constants_dir ? put_file : NULL,
                                        .user = (void *)(uintptr_t)constants_dir};
    return text_graph_print_with(g, &options, out, err);
}
