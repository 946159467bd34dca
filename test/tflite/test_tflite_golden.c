/* Networks of ../shared/golden/tflite against TFLite Micro's own kernels: every tensor of every
 * case, integers bit for bit, floats within 1e-5; and that the importer keeps every tensor's name,
 * type and parameters. Prints a table: model, tensors, elements, mismatches under both roundings.
 */
#include "test/support/support.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "graph/text/npy.h"
#include "graph/tflite/tflite.h"
#include "interp/run/program.h"

#define TOLERANCE 1e-5
#define PATH_ROOM 4096

typedef struct tally {
    long cases, tensors, elements, mismatches;
} tally;

static void path_print(char path[PATH_ROOM], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(path, PATH_ROOM, format, args) < PATH_ROOM);
    va_end(args);
}

/* ---- the manifest ---- */

static json_t *load_manifest(const char *folder)
{
    char path[PATH_ROOM];
    json_t *root;
    path_print(path, "%s/manifest.json", folder);
    root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

static json_t *tensors_of(json_t *root)
{
    return json_object_get(json_array_get(json_object_get(root, "subgraphs"), 0), "tensors");
}

static const char *text(json_t *t, const char *key)
{
    json_t *v = json_object_get(t, key);
    return json_is_string(v) ? json_string_value(v) : NULL;
}

static int find_source(const assay_graph *g, int index)
{
    for (int i = 0; i < g->n_values; ++i)
        if (g->value[i].source_index == index)
            return i;
    return -1;
}

static bool is_input(const assay_graph *g, int value)
{
    for (int i = 0; i < g->n_inputs; ++i)
        if (g->input[i] == value)
            return true;
    return false;
}

static double number_at(json_t *v, size_t i)
{
    return json_number_value(json_is_array(v) ? json_array_get(v, i) : v);
}

/* Name (inputs may have the signature's; doubled ones end in #index), kind, shape, parameters. */
static void check_description(const assay_value *v, json_t *t, bool input)
{
    const char *name = text(t, "name"), *dtype = text(t, "dtype");
    json_t *shape = json_object_get(t, "shape"), *scale = json_object_get(t, "scale");
    json_t *zero = json_object_get(t, "zero_point");
    const assay_type *type = &v->type;
    char kind[16], elem[8];

    if (!input && strncmp(v->name, name, strlen(name)) != 0)
        fail_msg("value '%s' is named '%s' in the model", v->name, name);
    assay_elem_print(type->elem, elem);
    snprintf(kind, sizeof kind, "%s%s",
             elem[0] == 'i'   ? "int"
             : elem[0] == 'u' ? "uint"
             : elem[0] == 'f' ? "float"
                              : elem,
             elem[0] == 'b' ? "" : elem + 1);
    assert_string_equal(kind, dtype);
    assert_int_equal(type->rank, json_array_size(shape));
    for (int i = 0; i < type->rank; ++i)
        assert_int_equal(type->dim[i], json_integer_value(json_array_get(shape, (size_t)i)));
    if (json_is_null(scale) || type->elem.kind != ASSAY_KIND_INT) {
        assert_int_equal(type->q.count, 0);
        return;
    }
    assert_int_equal(type->q.count, json_is_array(scale) ? json_array_size(scale) : 1);
    for (size_t i = 0; i < type->q.count; ++i) {
        assert_true(type->q.scale[i] == (float)number_at(scale, i));
        assert_true(type->q.zero_point[i] == (int32_t)number_at(zero, i));
    }
}

/* ---- comparison ---- */

static bool close_enough(float a, float b)
{
    return a == b || fabs((double)a - (double)b) <= TOLERANCE * (1 + fabs((double)b));
}

static long differing(const assay_type *type, const void *got, const assay_npy *want)
{
    size_t size = assay_elem_size(type->elem), n = (size_t)assay_shape_count(type);
    long count = 0;
    if (text_npy_count(want) != n || text_npy_type_size(want->type) != size)
        return (long)n;
    for (size_t i = 0; i < n; ++i) {
        const char *a = (const char *)got + i * size, *b = (const char *)want->data + i * size;
        if (type->elem.kind == ASSAY_KIND_F32)
            count += !close_enough(((const float *)got)[i], ((const float *)want->data)[i]);
        else
            count += memcmp(a, b, size) != 0;
    }
    return count;
}

static long compare_tensor(const char *folder, json_t *t, const assay_type *type, const void *got)
{
    const char *file = text(t, "file"), *crc = text(t, "crc32");
    char path[PATH_ROOM];
    assay_error err;
    assay_npy want;
    long n;

    if (!file) { /* kept as a checksum only */
        size_t bytes = assay_type_bytes(type);
        return type->elem.kind != ASSAY_KIND_F32 &&
                       crc32(0, got, (unsigned)bytes) != strtoul(crc, NULL, 16)
                   ? (long)assay_shape_count(type)
                   : 0;
    }
    path_print(path, "%s/%s", folder, file);
    assert_ok(text_npy_read_file(path, &want, &err), &err);
    n = differing(type, got, &want);
    text_npy_free(&want);
    return n;
}

static void set_inputs(assay_run *r, const assay_graph *g, const char *folder, json_t *tensors)
{
    for (int i = 0; i < g->n_inputs; ++i) {
        const assay_value *v = &g->value[g->input[i]];
        json_t *t = json_array_get(tensors, (size_t)v->source_index);
        char path[PATH_ROOM];
        assay_npy x;
        assay_error err;
        if (!text(t, "file"))
            continue;
        path_print(path, "%s/%s", folder, text(t, "file"));
        assert_ok(text_npy_read_file(path, &x, &err), &err);
        assert_int_equal(text_npy_bytes(&x), assay_type_bytes(&v->type));
        memcpy(assay_run_data(r, g->input[i]), x.data, text_npy_bytes(&x));
        text_npy_free(&x);
    }
}

static void run_step(assay_run *r, const assay_graph *g, const char *folder, tally *sum)
{
    json_t *root = load_manifest(folder), *tensors = tensors_of(root), *t;
    size_t k;
    assay_error err;

    set_inputs(r, g, folder, tensors);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    json_array_foreach(tensors, k, t)
    {
        int v = find_source(g, (int)json_integer_value(json_object_get(t, "index")));
        long wrong;
        if (json_is_true(json_object_get(t, "const")) || !text(t, "crc32"))
            continue;
        if (v < 0)
            fail_msg("%s: tensor %zu '%s' is not in the graph", folder, k, text(t, "name"));
        check_description(&g->value[v], t, is_input(g, v));
        wrong = compare_tensor(folder, t, &g->value[v].type, assay_run_data(r, v));
        if (wrong)
            print_message("# %s: tensor %zu '%.60s': %ld of %lld elements differ\n", folder, k,
                          g->value[v].name, wrong, (long long)assay_shape_count(&g->value[v].type));
        sum->tensors++;
        sum->elements += assay_shape_count(&g->value[v].type);
        sum->mismatches += wrong;
    }
    json_decref(root);
}

/* A case is one run, or for stateful networks a folder of steps run one after the other. */
static void run_case(const assay_graph *g, const char *folder, bool single, tally *sum)
{
    char step[PATH_ROOM];
    assay_scheme *scheme;
    assay_program *p;
    assay_run *r;
    assay_error err;
    DIR *d;

    assert_ok(assay_scheme_open(single ? "tflite-single" : "tflite", &scheme, &err), &err);
    assert_ok(assay_program_make_as_is(g, scheme, true, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    path_print(step, "%s/step000", folder);
    d = opendir(step);
    if (!d)
        run_step(r, g, folder, sum);
    for (int i = 0; d; ++i) {
        closedir(d);
        run_step(r, g, step, sum);
        path_print(step, "%s/step%03d", folder, i + 1);
        d = opendir(step);
    }
    sum->cases++;
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(scheme);
}

/* ---- the table ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.' && e->d_type == DT_DIR;
}

static bool holds_tensors(const char *folder)
{
    char path[PATH_ROOM];
    FILE *f;
    json_t *root;
    bool yes;
    path_print(path, "%s/step000/manifest.json", folder);
    f = fopen(path, "r");
    if (f) {
        fclose(f);
        return true;
    }
    root = load_manifest(folder);
    yes = json_array_size(tensors_of(root)) > 0;
    json_decref(root);
    return yes;
}

/* sum[0]: double rounding, sum[1]: single. */
static void run_model(const char *name, const char *folder, tally sum[2])
{
    char part[PATH_ROOM], path[PATH_ROOM];
    struct dirent **cases;
    int n = scandir(folder, &cases, visible, by_name);
    assay_graph *g;
    assay_error err;

    path_print(part, "models/%s.tflite", name);
    assert_non_null(test_shared(part, path, sizeof path));
    assert_ok(tfl_import_file(path, &g, &err), &err);
    for (int i = 0; i < n; ++i) {
        bool single = strstr(cases[i]->d_name, ".single") != NULL;
        path_print(path, "%s/%s", folder, cases[i]->d_name);
        if (holds_tensors(path))
            run_case(g, path, single, &sum[single]);
        free(cases[i]);
    }
    free(cases);
    assay_graph_free(g);
}

static void add(tally *to, const tally *one)
{
    to->cases += one->cases;
    to->tensors += one->tensors;
    to->elements += one->elements;
    to->mismatches += one->mismatches;
}

/* A row of the table that ./dev table puts into README.md. */
static void print_row(const char *name, const tally sum[2])
{
    print_message("# | %s ", name);
    for (int k = 0; k < 2; ++k)
        print_message("| %ld | %ld | %ld ", sum[k].tensors, sum[k].elements, sum[k].mismatches);
    print_message("|\n");
}

static void networks(void **state)
{
    char root[PATH_ROOM];
    struct dirent **models;
    tally all[2] = {{0}, {0}};
    const char *only = getenv("ASSAY_ONLY");
    int n;

    (void)state;
    if (!test_shared("golden/tflite", root, sizeof root))
        skip();
    n = scandir(root, &models, visible, by_name);
    print_message(
        "# | model | tensors, double | elements | mismatches | tensors, single | elements "
        "| mismatches |\n# |---|---|---|---|---|---|---|\n");
    for (int i = 0; i < n; ++i) {
        char folder[PATH_ROOM];
        tally one[2] = {{0}, {0}};
        path_print(folder, "%s/%s", root, models[i]->d_name);
        if (!only || strcmp(only, models[i]->d_name) == 0) {
            run_model(models[i]->d_name, folder, one);
            print_row(models[i]->d_name, one);
            add(&all[0], &one[0]);
            add(&all[1], &one[1]);
        }
        free(models[i]);
    }
    free(models);
    print_row("all", all);
    assert_true(all[0].tensors > 0);
    assert_int_equal(all[0].mismatches + all[1].mismatches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
