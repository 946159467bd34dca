/* Tensors in files beside an ONNX model: read, mapped, counted. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/onnx/onnx.h"
#include "test/support/onnx_build.h"

/* The model, written to the folder as m.onnx beside its external data w.bin. */
static assay_graph *import_beside(const char *folder, const void *model, size_t length,
                                  const void *data, size_t size)
{
    char path[260];
    assay_graph *g;
    assay_error err;

    snprintf(path, sizeof path, "%s/w.bin", folder);
    test_write_file(path, data, size);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    test_write_file(path, model, length);
    assert_ok(onnx_import_file(path, NULL, &g, &err), &err);
    return g;
}

static void external_data_is_read(void **state)
{
    static const float numbers[] = {9, 1, 2, 3};
    char folder[200];
    size_t length;
    void *bytes = onnx_build(13, "in x f32 2\next w f32 2 w.bin 4 8\nAdd x,w -> y\nout y", &length);
    assay_graph *g;

    (void)state;
    test_temp_dir(folder, sizeof folder);
    g = import_beside(folder, bytes, length, numbers, sizeof numbers);
    assert_memory_equal(g->value[assay_graph_find_value(g, "w")].data, numbers + 1, 8);
    assay_graph_free(g);
    test_remove_tree(folder);
    free(bytes);
}

/* What an import may allocate grows with the files beside the model: weights of 67 MB are
 * transposed once, at import, as the same weights inside the model are. */
static void external_data_counts_in_what_an_import_may_allocate(void **state)
{
    char folder[200], path[260];
    size_t length;
    void *bytes = onnx_build(13,
                             "in x f32 1,4100\next w f32 4100,4100 w.bin 0 67240000\n"
                             "MatMul x,w -> y\nout y",
                             &length);
    assay_graph *g;
    assay_error err;

    (void)state;
    test_temp_dir(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/w.bin", folder);
    test_write_file(path, "", 0);
    assert_int_equal(truncate(path, 67240000), 0); /* zeros */
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    test_write_file(path, bytes, length);
    assert_ok(onnx_import_file(path, NULL, &g, &err), &err);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->node[0].op, ASSAY_OP_FC);
    assay_graph_free(g);
    test_remove_tree(folder);
    free(bytes);
}

/* Whether an address lies in a mapping of the file (/proc/self/maps). */
static bool is_mapped_from(const void *at, const char *file)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[600];
    bool found = false;

    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        char *end;
        const uintptr_t from = (uintptr_t)strtoull(line, &end, 16);
        const uintptr_t to = (uintptr_t)strtoull(end + 1, NULL, 16);
        found = (uintptr_t)at >= from && (uintptr_t)at < to && strstr(line, file);
    }
    fclose(maps);
    return found;
}

/* Large tensors stay in the file beside the model, at any place; one that does not stand where its
 * elements may is copied, and so is a small one. */
static void large_external_data_is_mapped(void **state)
{
    enum { N = 40000, ROOM = N + 20000 };
    static float numbers[ROOM];
    char folder[200], path[260];
    size_t length;
    void *bytes = onnx_build(13,
                             "in x f32 40000\next v f32 40000 w.bin 0 160000\n"
                             "ext w f32 40000 w.bin 4096 160000\n"
                             "ext u f32 40000 w.bin 12004 160000\n"
                             "ext odd f32 40000 w.bin 8001 160000\next few f32 9 w.bin 8 36\n"
                             "Add x,v -> a\nAdd a,w -> b\nAdd b,u -> c\nAdd c,odd -> y\n"
                             "Add few,few -> z\nout y\nout z",
                             &length);
    static const struct {
        const char *name;
        size_t at;
        bool mapped;
    } want[] = {{"v", 0, true}, {"w", 4096, true}, {"u", 12004, true}, {"odd", 8001, false}};
    assay_graph *g;
    assay_error err;

    (void)state;
    for (int i = 0; i < ROOM; i++)
        numbers[i] = (float)i / 8;
    test_temp_dir(folder, sizeof folder);
    g = import_beside(folder, bytes, length, numbers, sizeof numbers);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const void *data = g->value[assay_graph_find_value(g, want[i].name)].data;
        assert_memory_equal(data, (const char *)numbers + want[i].at, 4 * N);
        assert_int_equal(is_mapped_from(data, "w.bin"), want[i].mapped);
    }
    assay_graph_free(g);
    snprintf(path, sizeof path, "%s/w.bin", folder);
    test_write_file(path, numbers, 4 * N);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    assert_refused(onnx_import_file(path, NULL, &g, &err), &err,
                   "has 160000 bytes, bytes 4096 to 164096 are wanted");
    test_remove_tree(folder);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(external_data_is_read),
        cmocka_unit_test(external_data_counts_in_what_an_import_may_allocate),
        cmocka_unit_test(large_external_data_is_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
