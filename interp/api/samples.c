/* Samples in memory. */
#include "interp/api/samples.h"

#include <string.h>

#include "interp/api/options.h"
#include "interp/run/model.h"

assay_status assay_arrays_read(void *user, int64_t i, int k, void *input, assay_error *err)
{
    const assay_arrays *a = user;
    const size_t bytes = assay_type_bytes(&a->graph->value[a->graph->input[k]].type);
    (void)err;
    if (bytes > 0)
        memcpy(input, (const char *)a->of.input[k] + (size_t)(i - a->first) * bytes, bytes);
    return ASSAY_OK;
}

static int64_t read_label(void *user, int64_t i)
{
    const assay_arrays *a = user;
    return a->of.label ? a->of.label[i - a->first] : -1;
}

static assay_status read_places(void *user, int64_t i, int64_t *label, assay_error *err)
{
    const assay_arrays *a = user;
    (void)err;
    memcpy(label, a->of.label_map + (i - a->first) * a->places, (size_t)a->places * sizeof *label);
    return ASSAY_OK;
}

/* Labels of places: as many as are said, of one kind. */
static assay_status take_places(assay_arrays *a, assay_samples *samples, assay_error *err)
{
    const assay_labelled *of = &a->of;
    const int64_t max = INT64_C(1) << 31;

    if (!of->label_map)
        return ASSAY_OK;
    const bool maps = of->map[0] > 0 && of->map[1] > 0 && of->map[0] < max / of->map[1];
    if (of->label || maps == (of->tokens > 0) || of->tokens < 0 || of->tokens > max)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "label_map needs either `map` (pixels) or `tokens`, and no `label`");
    a->places = maps ? of->map[0] * of->map[1] : of->tokens;
    samples->label_map = read_places;
    samples->tokens = of->tokens;
    memcpy(samples->map, of->map, sizeof samples->map);
    return ASSAY_OK;
}

assay_status assay_arrays_take(const assay_labelled *given, const assay_graph *g, assay_arrays *a,
                               assay_samples *samples, assay_error *err)
{
    *a = (assay_arrays){.graph = g};
    const assay_status status = ASSAY_OPTIONS_TAKE(given, &a->of, err);

    *samples = (assay_samples){.user = a,
                               .count = (int64_t)a->of.count,
                               .read = assay_arrays_read,
                               .label = read_label,
                               .by_agreement = a->of.by_agreement,
                               .sequence = a->of.sequence && run_model_has_state(g),
                               .class_axis = a->of.class_axis};
    if (status)
        return status;
    if (a->of.count < 1 || a->of.count > UINT64_C(1) << 40 || !a->of.input)
        return assay_fail(err, ASSAY_ERR_INPUT, "no samples, or more than 2^40");
    if (g->n_outputs < 1)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the network has no output", g->name);
    if (a->of.class_axis < 0 || a->of.class_axis > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_INPUT, "class_axis is 1 + an axis, or 0");
    return take_places(a, samples, err);
}
