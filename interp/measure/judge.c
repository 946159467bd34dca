/* Criteria for an output; see judge.h. */
#include "interp/measure/judge.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/compare.h"

#define MAX_CODES 65536 /* classes of a network that gives them as integers */

/* ---- where classes are ---- */

static void set_axis(const assay_type *t, int axis, assay_judge *j)
{
    j->classes = t->dim[axis];
    j->inner = 1;
    for (int i = axis + 1; i < t->rank; i++)
        j->inner *= t->dim[i];
    j->places = assay_shape_count(t) / j->classes;
}

/* Are the dimensions but `axis` (-1: all) those of a label map, 1s aside? */
static bool are_pixels(const assay_type *t, int axis, const int64_t map[2])
{
    int next = 0;
    for (int i = 0; i < t->rank; i++) {
        while (next < 2 && map[next] == 1)
            next++;
        if (i == axis || t->dim[i] == 1)
            continue;
        if (next == 2 || t->dim[i] != map[next++])
            return false;
    }
    return next == 2 || (map[next] == 1 && (next == 1 || map[1] == 1));
}

/* The axis beside pixels: the first that fits, so that [C,H,W] of equal extents is planar. */
static bool find_beside_pixels(const assay_value *out, const assay_samples *s, assay_judge *j)
{
    const assay_type *t = &out->type;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] > 1 && are_pixels(t, i, s->map)) {
            set_axis(t, i, j);
            return true;
        }
    if (t->elem.kind != ASSAY_KIND_INT || assay_is_quantized(t) || !are_pixels(t, -1, s->map))
        return false;
    *j = (assay_judge){.places = assay_shape_count(t), .inner = 1, .maps = true};
    return true;
}

static assay_status stated_axis(const assay_value *out, const assay_samples *s, assay_judge *j,
                                assay_error *err)
{
    char shape[96];
    const int axis = s->class_axis - 1;
    if (axis >= out->type.rank || out->type.dim[axis] < 2)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "output '%s' is %s: its axis %d cannot be that of the classes", out->name,
                          assay_shape_print(&out->type, shape, sizeof shape), axis);
    set_axis(&out->type, axis, j);
    return ASSAY_OK;
}

/* Scores for each token: its last axis counts the tokens that there are. */
static void find_tokens(const assay_type *t, const assay_samples *s, assay_judge *j)
{
    const int last = t->rank - 1;
    if (last < 0 || t->dim[last] < 2 || assay_shape_count(t) / t->dim[last] != s->tokens)
        return;
    set_axis(t, last, j);
    j->tokens = true;
}

assay_status measure_judge_make(const assay_value *out, const assay_samples *s, assay_judge *j,
                                assay_error *err)
{
    const assay_type *t = &out->type;
    char shape[96];
    bool fits = true;
    assay_status status = ASSAY_OK;

    *j = (assay_judge){.maps = s->label_map && !s->tokens};
    if (s->tokens && !s->class_axis)
        find_tokens(t, s, j);
    if (s->class_axis > 0) {
        status = stated_axis(out, s, j, err);
        j->tokens = s->tokens && j->places == s->tokens && j->inner == 1;
        fits = !j->maps || (!status && are_pixels(t, s->class_axis - 1, s->map));
    } else if (j->maps) {
        fits = find_beside_pixels(out, s, j);
    } else if (!j->tokens) {
        for (int i = 0; i < t->rank; i++)
            if (t->dim[i] > 1 && t->dim[i] == assay_shape_count(t))
                set_axis(t, i, j);
    }
    if (!status && !fits)
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "label maps are %lldx%lld (height x width), but output '%s' is %s: no "
                            "scores of classes for as many pixels",
                            (long long)s->map[0], (long long)s->map[1], out->name,
                            assay_shape_print(t, shape, sizeof shape));
    return status;
}

bool measure_judge_has_labels(const assay_judge *j, const assay_samples *s)
{
    if (j->maps || j->tokens || j->places != 1 || !s->label)
        return j->maps || j->tokens;
    for (int64_t i = s->first; i < s->first + s->count; i++)
        if (s->label(s->user, i) >= 0)
            return true;
    return false;
}

/* ---- one sample ---- */

static double score(const assay_judge *j, const assay_type *t, const void *scores, int64_t place,
                    int64_t c)
{
    return golden_element_real(
        t, scores, place / j->inner * j->classes * j->inner + c * j->inner + place % j->inner);
}

int64_t measure_judge_best(const assay_judge *j, const assay_type *t, const void *scores,
                           int64_t place)
{
    int64_t best = 0;
    double max;
    if (j->classes == 0)
        return golden_element_code(t, scores, place);
    max = score(j, t, scores, place, 0);
    for (int64_t c = 1; c < j->classes; c++) {
        const double now = score(j, t, scores, place, c);
        if (now > max) {
            max = now;
            best = c;
        }
    }
    return best;
}

/* How many classes come before class c: greater scores, or equal ones of lower index. */
static int64_t rank_of(const assay_judge *j, const assay_type *t, const void *scores, int64_t place,
                       int64_t label)
{
    int64_t before = 0;
    if (j->classes == 0)
        return golden_element_code(t, scores, place) == label ? 0 : ASSAY_EVAL_TOP;
    const double mine = score(j, t, scores, place, label);
    for (int64_t c = 0; c < j->classes; c++) {
        const double other = score(j, t, scores, place, c);
        before += other > mine || (other == mine && c < label);
    }
    return before;
}

assay_status measure_judge_labels(const assay_judge *j, const assay_samples *s, int64_t i,
                                  int64_t *label, assay_error *err)
{
    if (j->maps || j->tokens)
        return s->label_map(s->user, i, label, err);
    if (j->places == 1)
        label[0] = s->label ? s->label(s->user, i) : -1;
    for (int64_t p = 0; p < j->places && j->places > 1; p++)
        label[p] = -1;
    return ASSAY_OK;
}

/* -ln of what softmax gives the label: ln(sum e^(x - max)) + max - x[label]. */
static double loss_of(const assay_judge *j, const assay_type *t, const void *scores, int64_t place,
                      int64_t label)
{
    const double max = score(j, t, scores, place, measure_judge_best(j, t, scores, place));
    double sum = 0;
    for (int64_t c = 0; c < j->classes; c++)
        sum += exp(score(j, t, scores, place, c) - max);
    return log(sum) + max - score(j, t, scores, place, label);
}

/* ---- tallies ---- */

assay_status measure_tally_make(const assay_judge *j, assay_tally *t, assay_error *err)
{
    *t = (assay_tally){.maps = j->maps, .classes = j->classes ? j->classes : MAX_CODES};
    if (j->tokens)
        return ASSAY_OK;
    t->truth = calloc(3 * (size_t)t->classes, sizeof *t->truth);
    if (!t->truth)
        return assay_out_of_memory(err);
    t->chosen = t->truth + t->classes;
    t->both = t->chosen + t->classes;
    return ASSAY_OK;
}

void measure_tally_free(assay_tally *t)
{
    free(t->truth);
    *t = (assay_tally){0};
}

static void count_place(assay_tally *t, int64_t label, int64_t best)
{
    t->truth[label]++;
    if (best >= 0 && best < t->classes)
        t->chosen[best]++;
    t->both[label] += best == label;
}

assay_status measure_tally_add(assay_tally *t, const assay_judge *j, const assay_type *type,
                               const void *scores, const int64_t *label, assay_error *err)
{
    t->loss = 0;
    for (int64_t p = 0; p < j->places; p++) {
        if (label[p] < 0)
            continue;
        if (label[p] >= t->classes)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s %lld, but the network has %lld %s%s",
                              j->tokens ? "token" : "label", (long long)label[p],
                              (long long)t->classes, j->tokens ? "of them" : "classes",
                              j->maps ? "; `ignore` is for pixels without one" : "");
        t->samples++;
        for (int64_t k = rank_of(j, type, scores, p, label[p]); k < ASSAY_EVAL_TOP; k++)
            t->top[k]++;
        if (j->tokens)
            t->loss += loss_of(j, type, scores, p, label[p]);
        if (t->truth)
            count_place(t, label[p], measure_judge_best(j, type, scores, p));
    }
    return ASSAY_OK;
}

void measure_tally_join(assay_tally *to, const assay_tally *from)
{
    to->samples += from->samples;
    for (int k = 0; k < ASSAY_EVAL_TOP; k++)
        to->top[k] += from->top[k];
    for (int64_t c = 0; from->truth && c < 3 * from->classes; c++)
        to->truth[c] += from->truth[c];
}

void measure_tally_end(const assay_tally *t, const double *loss, int64_t n, assay_accuracy *out)
{
    double sum = 0, lost = 0;
    int64_t seen = 0;

    out->samples = t->samples;
    memcpy(out->top, t->top, sizeof out->top);
    for (int64_t i = 0; loss && i < n; i++)
        lost += loss[i];
    out->loss = loss && t->samples ? lost / (double)t->samples : (double)NAN;
    for (int64_t c = 0; t->maps && c < t->classes; c++) {
        const int64_t either = t->truth[c] + t->chosen[c] - t->both[c];
        if (either > 0) {
            sum += (double)t->both[c] / (double)either;
            seen++;
        }
    }
    out->mean_iou = seen ? sum / (double)seen : (double)NAN;
}
