/* The ONNX importer: Resize and Upsample in their forms and opset variants. */
#include "test/support/support.h"

#include "test/support/onnx_form.h"

static void resize_forms(void **state)
{
    static const onnx_form forms[] = {
        {7, "in x f32 1,1,2,2\nUpsample x -> y scales=[1.,1.,2.,3.]\nout y", "resize", "[1,1,4,6]"},
        {9, "in x f32 1,1,2,2\nconst s f32 4 = 1 1 2 2\nUpsample x,s -> y mode=linear\nout y",
         "resize", "[1,1,4,4]"},
        {10, "in x f32 1,1,4,4\nconst s f32 4 = 1 1 0.5 0.5\nResize x,s -> y\nout y", "resize",
         "[1,1,2,2]"},
        {11,
         "in x f32 1,1,4,4\nconst r f32 0\nconst e f32 0\nconst s i64 4 = 1 1 7 9\n"
         "Resize x,r,e,s -> y mode=linear coordinate_transformation_mode=align_corners\nout y",
         "resize", "[1,1,7,9]"},
        {13,
         "in x f32 1,1,4,4\nconst s f32 4 = 1 1 1.5 2\nResize x,_,s -> y mode=cubic "
         "cubic_coeff_a=-0.5 exclude_outside=1\nout y",
         "resize", "[1,1,6,8]"},
        {18,
         "in x f32 1,1,4,4\nconst s i64 2 = 3 9\nResize x,_,_,s -> y axes=[2,3] "
         "nearest_mode=ceil\nout y",
         "resize", "[1,1,3,9]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* Opset 10 knows one nearest rule only: asymmetric coordinates, rounded down. */
static void old_resize_rounds_down(void **state)
{
    assay_graph *g = onnx_form_import(
        10, "in x f32 1,1,4,4\nconst s f32 4 = 1 1 2 2\nResize x,s -> y\nout y", NULL);
    (void)state;
    assert_int_equal(g->node[0].attr.resize.coordinate, ASSAY_COORD_ASYMMETRIC);
    assert_int_equal(g->node[0].attr.resize.nearest, ASSAY_NEAREST_FLOOR);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resize_forms),
        cmocka_unit_test(old_resize_rounds_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
