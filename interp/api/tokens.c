/* Streams of tokens as samples and labels in memory. */
#include "datasets/dataset.h"
#include "interp/assay_measures.h"

assay_status assay_token_windows(const int64_t *token, uint64_t n, uint64_t length, uint64_t stride,
                                 int64_t ignored, uint64_t *windows, int64_t *input, int64_t *label,
                                 assay_error *err)
{
    const uint64_t max = UINT64_C(1) << 40;
    const assay_sample_type window = {.type = ASSAY_NPY_I8, .rank = 1, .shape = {(int64_t)length}};
    const assay_dataset_options options = {.window = &window, .window_step = (int64_t)stride};
    assay_dataset *d = NULL;

    if (n > max || length < 1 || length > max || stride > max)
        return assay_fail(err, ASSAY_ERR_INPUT, "windows must have from 1 to 2^40 tokens");
    assay_status status = dataset_open_tokens(token, (int64_t)n, "the stream", &options, &d, err);
    if (status)
        return status;
    *windows = (uint64_t)dataset_count(d);
    for (int64_t i = 0; i < dataset_count(d) && !status; i++) {
        if (input)
            status = dataset_read(d, i, input + i * window.shape[0], err);
        if (!status && label)
            status = dataset_next_tokens(d, i, ignored, label + i * window.shape[0], err);
    }
    dataset_close(d);
    return status;
}
