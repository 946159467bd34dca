/* Networks for benchmarks, layer by layer. */
#include "bench/nets.h"

#include "bench/layers.h"

typedef struct residual_stage {
    int blocks;
    int64_t width;
} residual_stage;

static void residual(bench_builder *b, int x, const residual_stage *stages, int n, int64_t outputs,
                     assay_graph **out)
{
    x = bench_conv(b, x, stages[0].width, 7, 7, 2, false, true);
    x = bench_max_pool(b, x, 3, 2);
    for (int s = 0; s < n; s++)
        for (int i = 0; i < stages[s].blocks; i++) {
            const int64_t width = stages[s].width, stride = i == 0 && s > 0 ? 2 : 1;
            int y = bench_conv(b, x, width, 1, 1, 1, false, true);
            y = bench_conv(b, y, width, 3, 3, stride, false, true);
            y = bench_conv(b, y, width * 4, 1, 1, 1, false, false);
            if (i == 0)
                x = bench_conv(b, x, width * 4, 1, 1, stride, false, false);
            x = bench_sum(b, y, x, true);
        }
    bench_finish(b, bench_classify(b, x, outputs), out);
}

assay_status bench_resnet50(const bench_form *f, assay_graph **out, assay_error *err)
{
    static const residual_stage stages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
    bench_builder b = {.form = f, .err = err, .seed = 50};
    residual(&b, bench_start(&b, "resnet50", 3, 224, 224), stages, 4, 1000, out);
    return b.status;
}

assay_status bench_residual(const bench_form *f, assay_graph **out, assay_error *err)
{
    static const residual_stage stages[] = {{2, 20}, {1, 33}};
    bench_builder b = {.form = f, .err = err, .seed = 5};
    residual(&b, bench_start(&b, "residual", 3, 35, 35), stages, 2, 10, out);
    return b.status;
}

assay_status bench_mobilenet2(const bench_form *f, assay_graph **out, assay_error *err)
{
    static const struct {
        int expand, width, blocks, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    bench_builder b = {.form = f, .err = err, .seed = 2};
    int64_t c = 32;
    int x = bench_conv(&b, bench_start(&b, "mobilenet2", 3, 224, 224), c, 3, 3, 2, false, true);
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        for (int i = 0; i < stages[s].blocks; i++) {
            const int64_t wide = c * stages[s].expand, stride = i == 0 ? stages[s].stride : 1;
            int y = stages[s].expand > 1 ? bench_conv(&b, x, wide, 1, 1, 1, false, true) : x;
            y = bench_conv(&b, y, wide, 3, 3, stride, true, true);
            y = bench_conv(&b, y, stages[s].width, 1, 1, 1, false, false);
            x = i == 0 ? y : bench_sum(&b, y, x, false);
            c = stages[s].width;
        }
    bench_finish(&b, bench_classify(&b, bench_conv(&b, x, 1280, 1, 1, 1, false, true), 1000), out);
    return b.status;
}

assay_status bench_ds_cnn(const bench_form *f, assay_graph **out, assay_error *err)
{
    bench_builder b = {.form = f, .err = err, .seed = 3};
    int x = bench_conv(&b, bench_start(&b, "ds_cnn", 1, 49, 10), 64, 10, 4, 2, false, true);
    for (int i = 0; i < 4; i++) {
        x = bench_conv(&b, x, 64, 3, 3, 1, true, true);
        x = bench_conv(&b, x, 64, 1, 1, 1, false, true);
    }
    bench_finish(&b, bench_classify(&b, x, 12), out);
    return b.status;
}

assay_status bench_resnet8(const bench_form *f, assay_graph **out, assay_error *err)
{
    bench_builder b = {.form = f, .err = err, .seed = 8};
    int x = bench_conv(&b, bench_start(&b, "resnet8", 3, 32, 32), 16, 3, 3, 1, false, true);
    for (int64_t width = 16; width <= 64; width *= 2) {
        const int64_t stride = width > 16 ? 2 : 1;
        int y = bench_conv(&b, x, width, 3, 3, stride, false, true);
        y = bench_conv(&b, y, width, 3, 3, 1, false, false);
        if (stride > 1)
            x = bench_conv(&b, x, width, 1, 1, stride, false, false);
        x = bench_sum(&b, y, x, true);
    }
    bench_finish(&b, bench_classify(&b, x, 10), out);
    return b.status;
}

assay_status bench_vww(const bench_form *f, assay_graph **out, assay_error *err)
{
    static const struct {
        int64_t width, stride;
    } parts[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},  {128, 2}, {128, 1},
                 {128, 1}, {128, 1}, {128, 1}, {128, 1}, {256, 2}, {256, 1}};
    bench_builder b = {.form = f, .err = err, .seed = 9};
    int64_t c = 8;
    int x = bench_conv(&b, bench_start(&b, "vww", 3, 96, 96), c, 3, 3, 2, false, true);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        x = bench_conv(&b, x, c, 3, 3, parts[i].stride, true, true);
        x = bench_conv(&b, x, parts[i].width, 1, 1, 1, false, true);
        c = parts[i].width;
    }
    bench_finish(&b, bench_classify(&b, x, 2), out);
    return b.status;
}

assay_status bench_autoencoder(const bench_form *f, assay_graph **out, assay_error *err)
{
    static const int64_t widths[] = {128, 128, 128, 128, 8, 128, 128, 128, 128};
    bench_builder b = {.form = f, .err = err, .seed = 10};
    int x = bench_start_rows(&b, "autoencoder", f->batch, 640);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        x = bench_fc(&b, x, widths[i], true);
    bench_finish(&b, bench_fc(&b, x, 640, false), out);
    return b.status;
}

assay_status bench_matrix(const bench_form *f, int64_t rows, int64_t depth, int64_t outputs,
                          assay_graph **out, assay_error *err)
{
    bench_builder b = {.form = f, .err = err, .seed = 4};
    const int x = bench_start_rows(&b, "matrix", rows, depth);
    bench_finish(&b, bench_fc(&b, x, outputs, false), out);
    return b.status;
}
