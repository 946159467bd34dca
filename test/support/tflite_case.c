/* One node at a time against targets' own kernels; see tflite_case.h. */
#include "test/support/support.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

#include "test/support/tflite_case.h"

tflite_file tflite_open_path(const char *path)
{
    char header[600];
    tflite_file f = {.data = npz_open(path)};
    snprintf(header, sizeof header, "%.*s.json", (int)strlen(path) - 4, path);
    f.about = json_load_file(header, 0, NULL);
    assert_true(f.data && f.about);
    return f;
}

tflite_file tflite_open(const char *name, const char *scheme)
{
    char path[500], relative[200];
    assay_error err;
    snprintf(relative, sizeof relative, "tflite-ops/%s.npz", name);
    if (!npz_vectors_path(relative, 1, path, sizeof path))
        skip();
    tflite_file f = tflite_open_path(path);
    f.name = name;
    f.scheme_name = scheme;
    assert_ok(assay_scheme_open(scheme, &f.scheme, &err), &err);
    return f;
}

void tflite_close(tflite_file *f, size_t cases, size_t failed)
{
    print_message("# %s under %s: %zu cases, %zu with differences\n", f->name, f->scheme_name,
                  cases, failed);
    npz_close(f->data);
    json_decref(f->about);
    assay_scheme_free(f->scheme);
    assert_true(cases > 0);
    assert_int_equal(failed, 0);
}

void tflite_run(const char *name, const char *scheme,
                size_t (*one)(tflite_file *f, const json_t *c))
{
    tflite_file f = tflite_open(name, scheme);
    json_t *cases = json_object_get(f.about, "cases");
    size_t failed = 0, n = json_array_size(cases);
    for (size_t i = 0; i < n; i++) {
        const json_t *c = json_array_get(cases, i);
        size_t wrong = one(&f, c);
        if (wrong)
            print_message("# case %zu %s %s: %zu elements differ\n", i, tflite_word(c, "op"),
                          tflite_word(c, "type"), wrong);
        failed += wrong != 0;
    }
    tflite_close(&f, n, failed);
}

void tflite_folder(const char *folder, assay_scheme *(*scheme)(const tflite_file *f),
                   size_t (*one)(tflite_file *f), int least)
{
    char relative[200], place[400], path[800];
    int cases = 0, equal = 0;
    snprintf(relative, sizeof relative, "vectors/%s", folder);
    if (!test_shared(relative, place, sizeof place))
        skip();
    DIR *d = opendir(place);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        size_t length = strlen(e->d_name);
        if (length < 5 || strcmp(e->d_name + length - 4, ".npz") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", place, e->d_name);
        tflite_file f = tflite_open_path(path);
        f.scheme = scheme(&f);
        size_t wrong = one(&f);
        if (wrong)
            print_message("# %s/%s: %zu elements differ\n", folder, e->d_name, wrong);
        cases++;
        equal += wrong == 0;
        assay_scheme_free(f.scheme);
        npz_close(f.data);
        json_decref(f.about);
    }
    closedir(d);
    print_message("# %s: %d of %d equal\n", folder, equal, cases);
    assert_true(cases >= least);
    assert_int_equal(equal, cases);
}

const int64_t *tflite_codes(tflite_file *f, const char *name)
{
    size_t n;
    const int64_t *v = npz_i64(f->data, name, &n, NULL);
    assert_non_null(v);
    return v;
}

size_t tflite_told(const char *op, size_t i, size_t wrong)
{
    if (wrong)
        print_message("# %s %zu: %zu elements differ\n", op, i, wrong);
    return wrong != 0;
}

double tflite_number(const json_t *c, const char *key)
{
    return json_number_value(json_object_get(c, key));
}

const char *tflite_word(const json_t *c, const char *key)
{
    const char *s = json_string_value(json_object_get(c, key));
    return s ? s : "";
}

const char *tflite_array(char buf[64], const char *prefix, const json_t *c)
{
    snprintf(buf, 64, "%s_%d", prefix, (int)tflite_number(c, "index"));
    return buf;
}

assay_type tflite_type(const struct npz_shape *s, const float *scale, const int32_t *zero,
                       size_t count, int axis)
{
    assay_type t = {.elem = assay_int((unsigned)s->size * 8, s->kind == 'i'), .rank = s->ndim};
    if (s->kind == 'f')
        t.elem = assay_f32();
    for (int i = 0; i < s->ndim; i++)
        t.dim[i] = (int64_t)s->dim[i];
    if (count > 0)
        t.q = (assay_qparams){
            count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, count > 1 ? axis : 0, 0, count, scale, zero};
    return t;
}

tflite_node tflite_begin(tflite_file *f)
{
    assay_error err;
    tflite_node c = {.from = f};
    assert_ok(assay_graph_new("case", &c.graph, &err), &err);
    return c;
}

void tflite_values(tflite_node *c, const assay_type *t, const int64_t *values)
{
    static const char *const names[] = {"x", "w", "b"};
    assay_error err;
    c->values[c->n_in] = values;
    assert_ok(assay_graph_add_value(c->graph, names[c->n_in], t, &c->in[c->n_in], &err), &err);
    c->n_in++;
}

void tflite_column(tflite_node *c, const char *column, const float *scale, const int32_t *zero,
                   size_t count)
{
    struct npz_shape s;
    size_t n;
    const int64_t *values = npz_i64(c->from->data, column, &n, &s);
    assert_non_null(values);
    assay_type t = tflite_type(&s, scale, zero, count, 0);
    tflite_values(c, &t, values);
}

static void set_activation(assay_node *n, const char *activation)
{
    bool around_zero = strcmp(activation, "RELU_N1_TO_1") == 0;
    if (strncmp(activation, "RELU", 4) != 0)
        return;
    n->act_lo = around_zero ? -1 : 0;
    n->act_hi = around_zero ? 1 : activation[4] == '6' ? 6 : INFINITY;
}

/* Elements between numbers and storage; f32 as its bits. */
static void store(const assay_view *v, const int64_t *values)
{
    for (int64_t i = 0; i < assay_shape_count(v->type); i++) {
        int32_t x = (int32_t)values[i];
        if (v->type->elem.kind == ASSAY_KIND_INT && v->type->elem.bits == 64)
            ((int64_t *)v->data)[i] = values[i];
        else
            ref_store_row(v, i, 1, 1, &x);
    }
}

static size_t count_differences(const assay_view *v, const int64_t *expected, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t got;
        ref_load_row(v, (int64_t)i, 1, 1, &got);
        wrong += got != (int32_t)expected[i];
    }
    return wrong;
}

size_t tflite_expect(tflite_node *c, assay_op op, const assay_attrs *attr, assay_elem elem,
                     float scale, int32_t zero, const char *activation, const int64_t *expected,
                     size_t n)
{
    assay_error err;
    assay_program *p;
    assay_run *r;
    assay_graph *g = c->graph;
    assay_type t = {.elem = elem, .rank = g->value[c->in[0]].type.rank};
    const char *name = "y";
    bool converts = assay_op_get(op)->traits & ASSAY_T_CONVERT;
    int y;
    memcpy(t.dim, g->value[c->in[0]].type.dim, sizeof t.dim);
    if (elem.kind == ASSAY_KIND_INT)
        t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero};
    if (converts) { /* these keep the shape, and take their type as given */
        assert_ok(assay_graph_add_value(g, name, &t, &y, &err), &err);
        assert_ok(assay_graph_add_node(g, op, "node", c->in, c->n_in, &y, 1, attr, NULL, &err),
                  &err);
    } else {
        assert_ok(assay_graph_add_inferred(g, op, "node", c->in, c->n_in, &name, 1, attr, &y, &err),
                  &err);
        g->value[y].type.elem = elem;
        assert_ok(assay_graph_set_qparams(g, y, &t.q, &err), &err);
    }
    set_activation(&g->node[0], activation);
    g->node[0].has_code_bounds = c->bounded;
    g->node[0].code_lo = c->code_lo;
    g->node[0].code_hi = c->code_hi;
    assert_int_equal(assay_shape_count(&g->value[y].type), n);
    assert_ok(assay_graph_set_inputs(g, c->in, c->n_in, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    assert_ok(assay_program_make_as_is(g, c->from->scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int k = 0; k < c->n_in; k++) {
        assay_view v = {assay_run_data(r, c->in[k]), &g->value[c->in[k]].type};
        store(&v, c->values[k]);
    }
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    assay_view v = {assay_run_data(r, y), &g->value[y].type};
    size_t wrong = count_differences(&v, expected, n);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    return wrong;
}

size_t tflite_compare(tflite_node *c, assay_op op, const assay_attrs *attr, const char *column,
                      float scale, int32_t zero, const char *activation)
{
    struct npz_shape s;
    size_t n;
    const int64_t *expected = npz_i64(c->from->data, column, &n, &s);
    assert_non_null(expected);
    return tflite_expect(c, op, attr, assay_int((unsigned)s.size * 8, s.kind == 'i'), scale, zero,
                         activation, expected, n);
}
