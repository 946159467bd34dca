/* Names of nodes, types and shapes in the files of networks written as ONNX: what viewers show. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/onnx/export.h"
#include "graph/onnx/value/value.h"
#include "graph/text/text.h"

static pb_model *written(const char *text)
{
    assay_graph *g;
    unsigned char *bytes;
    size_t length;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    assert_ok(onnx_export_graph(g, &bytes, &length, &err), &err);
    pb_model *m = assay__onnx__model__unpack(NULL, length, bytes);
    assert_non_null(m);
    free(bytes);
    assay_graph_free(g);
    return m;
}

/* A node has the network's name where that is its alone; the operators around it are called after
 * it, and none as another. */
static void nodes_have_their_names(void **state)
{
    static const char *const text =
        "graph g {\ninput x: i8[2,2] q(0.1,3)\n"
        "a: i8[2,2] q(0.1,3) = neg(x) @twice\nb: i8[2,2] q(0.1,3) = abs(a) @twice\n"
        "c: i8[2,2] q(0.1,3) = tanh(b) @/deep/Tanh\n"
        "d: f32[2,2] = dequantize(c) @\"twice:DequantizeLinear_0\"\n"
        "e: i8[2,2] q(0.2,1) = quantize(d) @last\noutput e\n}\n";
    static const char *const want[] = {
        "twice:DequantizeLinear_0:made", "twice:Neg_1", "twice:QuantizeLinear_2",
        "twice:DequantizeLinear_3",      "twice:Abs_4", "twice:QuantizeLinear_5",
        "/deep/Tanh:DequantizeLinear_6", "/deep/Tanh",  "/deep/Tanh:QuantizeLinear_8",
        "twice:DequantizeLinear_0",      "last"};
    pb_model *m = written(text);
    (void)state;
    assert_int_equal(m->graph->n_node, sizeof want / sizeof *want);
    for (size_t i = 0; i < m->graph->n_node; i++)
        assert_string_equal(m->graph->node[i]->name, want[i]);
    assay__onnx__model__free_unpacked(m, NULL);
}

/* What viewers show of tensors between the nodes; those of channels last are written first. */
static void the_file_says_types_and_shapes(void **state)
{
    static const struct {
        const char *name;
        int type;
        size_t rank;
        int64_t dim[4];
    } want[] = {{"c", ONNX_INT8, 4, {1, 3, 4, 4}},
                {"p", ONNX_INT8, 4, {1, 3, 2, 2}},
                {"g", ONNX_INT8, 4, {1, 3, 1, 1}}};
    static const char *const text =
        "graph g {\ninput x: i8[1,4,4,2] q(0.1,3)\n"
        "const w: i8[3,1,1,2] q(axis=0,[0.1,0.2,0.3],[0,0,0]) = [1,2,3,4,5,6]\n"
        "const b: i32[3] = [5,-7,100]\n"
        "c: i8[1,4,4,3] q(0.5,-4) = conv(x, w, b) {layout=nhwc}\n"
        "p: i8[1,2,2,3] q(0.5,-4) = max_pool(c) {layout=nhwc, kernel=[2,2], stride=[2,2]}\n"
        "g: i8[1,1,1,3] q(0.7,1) = global_avg_pool(p) {layout=nhwc}\n"
        "r: i8[1,3] q(0.7,1) = reshape(g) {shape=[1,3]}\noutput r\n}\n";
    pb_model *m = written(text);
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < m->graph->n_value_info; i++)
        for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
            const pb_value_info *v = m->graph->value_info[i];
            if (strcmp(v->name, want[k].name) != 0)
                continue;
            assert_int_equal(v->type->tensor_type->elem_type, want[k].type);
            assert_int_equal(v->type->tensor_type->shape->n_dim, want[k].rank);
            for (size_t d = 0; d < want[k].rank; d++)
                assert_int_equal(v->type->tensor_type->shape->dim[d]->dim_value, want[k].dim[d]);
            found++;
        }
    assert_int_equal(found, sizeof want / sizeof *want);
    assay__onnx__model__free_unpacked(m, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_have_their_names),
        cmocka_unit_test(the_file_says_types_and_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
