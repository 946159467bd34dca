/* libFuzzer: a scheme file from memory. What is accepted prints as a text that reads back as the
 * same record, and its conv and add units prepare or are refused. */
#include <stdlib.h>
#include <string.h>

#include "test/support/scheme_unit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void weights_by_block(const assay_scheme *s)
{
    static const float scale = 0.05f, blocks[4] = {0.02f, 0.5f, 1e-6f, 0.3f};
    static const int32_t zeros[4] = {0};
    const assay_type out = code_type(8, true, &scale, zeros);
    assay_type in[2] = {out, code_type(8, true, blocks, zeros)};
    int64_t sum[2] = {INT64_C(1) << 40, -77};
    int32_t y[2];
    bool trapped = false;
    assay_unit *u;
    assay_error err;
    in[1].rank = 2;
    in[1].dim[0] = 2;
    in[1].dim[1] = 4;
    in[1].q = (assay_qparams){ASSAY_Q_BLOCK, 1, 2, 4, blocks, zeros};
    const assay_unit_spec spec = unit_spec("fc", in, 2, &out);
    if (s->vt->prepare(s, &spec, &u, &err) != ASSAY_OK)
        return;
    int64_t acc[2] = {s->vt->combine(u, sum, 2, 1, 5, &trapped), 9};
    s->vt->requantize(u, acc, 2, 0, y);
    s->vt->release(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_scheme *s, *again;
    assay_error err;
    if (assay_scheme_parse("input", (const char *)data, size, &s, &err) != ASSAY_OK)
        return 0;
    if (assay_scheme_parse("again", s->text, strlen(s->text), &again, &err) != ASSAY_OK ||
        strcmp(s->digest, again->digest) != 0)
        abort();
    static const char *const ops[] = {"conv",    "add", "avg_pool", "sigmoid",
                                      "softmax", "mul", "div",      "lrn"};
    const float scale[3] = {0.05f, 0.02f, 0.04f};
    const int32_t zero = 0;
    assay_type t[3];
    for (int i = 0; i < 3; i++)
        t[i] = code_type(8, true, &scale[i], &zero);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        assay_unit_spec spec = unit_spec(ops[k], t, 2, &t[2]);
        spec.gamma = 2; /* of lrn: 2 + x^2 / 2 */
        spec.alpha = 0.5;
        assay_unit *u;
        if (s->vt->prepare(s, &spec, &u, &err) != ASSAY_OK)
            continue;
        const int64_t acc[3] = {12345, -INT64_C(2147483648), INT64_C(1) << 40};
        const int32_t a[3] = {-128, 0, 127}, count[3] = {1, 1, 1};
        int32_t out[3];
        bool trapped = false;
        if (k == 0) {
            s->vt->accumulate(u, a, a, 3, 5, 0, 0, &trapped);
            s->vt->requantize(u, acc, 3, 0, out);
        } else if (k == 2) {
            if (!s->vt->window(u, a, 3, 3, out))
                s->vt->pool(u, acc, count, 2, out);
        } else if (k == 3) {
            s->vt->unary(u, a, 3, out);
        } else if (k == 4 || k == 7) {
            s->vt->row(u, a, 3, out);
        } else {
            s->vt->binary(u, a, a, 3, out);
        }
        s->vt->release(u);
    }
    weights_by_block(s);
    assay_scheme_free(s);
    assay_scheme_free(again);
    return 0;
}
