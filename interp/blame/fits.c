/* Numbers that are solved for: rescales are monotone in a bias and in a scale, so that what the
 * device gave leaves an interval of them, found by bisection, or none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

/* By channel: which way the number must go. */
typedef struct votes {
    int64_t n;
    bool *more, *less;
} votes;

static bool votes_open(votes *v, int64_t n)
{
    v->n = n;
    v->more = calloc((size_t)(2 * n) + 1, sizeof *v->more);
    v->less = v->more + n;
    return v->more != NULL;
}

static blame_axis channels_of(const blame_search *s)
{
    return blame_axis_of(s->type, s->channel_axis);
}

/* ---- bias ---- */

static bool requantize(blame_search *s, const int64_t *delta, int32_t *codes)
{
    const blame_axis a = channels_of(s);
    const int64_t *sums = blame_sums(s);
    int64_t *moved = malloc((size_t)s->count * sizeof *moved + 64);
    void *out = malloc(assay_type_bytes(s->type) + 64);
    bool good = sums && moved && out;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        for (int64_t e = 0; e < s->count; e++)
            moved[e] = sums[k * s->count + e] + delta[e / a.inner % a.n];
        good =
            blame_search_case(s, k, &c) && blame_case_requantize(&c, moved, out, NULL) == ASSAY_OK;
        if (good)
            blame_load(s->type, out, codes + k * s->count);
    }
    free(moved);
    free(out);
    return good;
}

/* A number a channel that is solved for explains nothing where a channel is one element. */
static bool is_thin(const blame_search *s)
{
    const blame_axis a = channels_of(s);
    return s->n_samples * a.outer * a.inner < 2;
}

int blame_fit_bias_count(blame_search *s)
{
    return assay_op_get(s->n->op)->traits & ASSAY_T_WEIGHTED && s->n_after == 0 &&
           assay_node_is_quantized(s->d->graph, s->n) && s->channel_axis >= 0;
}

static void vote(const blame_search *s, const int32_t *codes, votes *v)
{
    const blame_axis a = channels_of(s);
    memset(v->more, 0, (size_t)(2 * v->n) * sizeof *v->more);
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        const int64_t c = e % s->count / a.inner % a.n;
        if (s->seen[e] && !blame_same(s, s->dev[e], codes[e]))
            (s->dev[e] > codes[e] ? v->more : v->less)[c] = true;
    }
}

/* How many channels have another bias, and whether all of those are settled. */
static bool settle(blame_search *s, int64_t *lo, int64_t *hi, int64_t *delta, votes *v,
                   int32_t *codes, int *changed)
{
    const blame_axis a = channels_of(s);
    bool open = true;
    for (int step = 0; step < 40 && open; step++) {
        if (!requantize(s, delta, codes))
            return false;
        vote(s, codes, v);
        open = false;
        for (int64_t c = 0; c < a.n; c++) {
            if (v->more[c] && v->less[c])
                return false;
            if (v->more[c])
                lo[c] = delta[c] + 1;
            else if (v->less[c])
                hi[c] = delta[c] - 1;
            else
                continue;
            if (lo[c] > hi[c])
                return false;
            delta[c] = lo[c] + (hi[c] - lo[c]) / 2;
            open = true;
        }
    }
    *changed = 0;
    for (int64_t c = 0; c < a.n; c++)
        *changed += delta[c] != 0;
    return !open;
}

enum { MOST_CANDIDATES = 64, MOST_NAMED = 4 };

/* Whether channel c is explained with this much more. */
static bool holds(blame_search *s, int64_t *delta, int64_t c, int64_t candidate, votes *v,
                  int32_t *codes)
{
    const int64_t old = delta[c];
    delta[c] = candidate;
    const bool good = requantize(s, delta, codes);
    if (good)
        vote(s, codes, v);
    if (good && !v->more[c] && !v->less[c])
        return true;
    delta[c] = old;
    return false;
}

/* The biases that are solved for as ones that are there: none, or another channel's. Returns the
 * class, and in *source the channel that the last one is of. */
static const char *name_biases(blame_search *s, const int64_t *lo, const int64_t *hi,
                               int64_t *delta, votes *v, int32_t *codes, int64_t *source)
{
    const char *class = NULL;
    const blame_axis a = channels_of(s);
    blame_case c;
    int tries = 0;
    if (!blame_search_case(s, 0, &c) || c.n_in < 3 || !c.data[2] || c.in[2].elem.bits > 32)
        return "bias.value";
    const int32_t *bias = blame_codes_of(&c, 2);
    for (int64_t k = 0; k < a.n && bias; k++) {
        if (delta[k] == 0)
            continue;
        const char *found = holds(s, delta, k, -(int64_t)bias[k], v, codes) ? "bias.missing" : NULL;
        for (int64_t j = 0; j < a.n && !found && tries < MOST_CANDIDATES; j++) {
            const int64_t candidate = (int64_t)bias[j] - bias[k];
            if (j == k || candidate < lo[k] || candidate > hi[k])
                continue;
            tries++;
            if (holds(s, delta, k, candidate, v, codes)) {
                found = "bias.channel";
                *source = j;
            }
        }
        if (!found || (class && strcmp(class, found) != 0))
            return "bias.value";
        class = found;
    }
    return class ? class : "bias.value";
}

bool blame_fit_bias_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const blame_axis a = channels_of(s);
    int64_t *lo = calloc((size_t)(3 * a.n) + 1, sizeof *lo), *hi = lo + a.n, *delta = hi + a.n;
    votes v;
    int changed = 0;
    bool good = lo && votes_open(&v, a.n);
    (void)i;
    for (int64_t c = 0; c < a.n && good; c++) {
        lo[c] = INT32_MIN;
        hi[c] = INT32_MAX;
    }
    good = good && settle(s, lo, hi, delta, &v, codes, &changed);
    int64_t source = -1, which = -1;
    const char *class = good && changed > 0 && changed <= MOST_NAMED
                            ? name_biases(s, lo, hi, delta, &v, codes, &source)
                            : "bias.value";
    for (int64_t c = 0; c < a.n && good; c++)
        which = delta[c] != 0 ? c : which;
    good = good && changed > 0 && requantize(s, delta, codes) &&
           !(is_thin(s) && strcmp(class, "bias.value") == 0);
    if (good && source >= 0)
        blame_tell(story, class, 1 + changed, "channel %lld has the bias of channel %lld",
                   (long long)which, (long long)source);
    else if (good)
        blame_tell(story, class, 1 + changed, "%d channel%s another bias; channel %lld: %lld more",
                   changed, changed == 1 ? " has" : "s have", (long long)which,
                   (long long)delta[which]);
    if (lo)
        free(v.more);
    free(lo);
    return good;
}

/* ---- scales ---- */

/* The scale of each channel as a multiple of what it should be, by bisection of its logarithm. */
typedef struct fit {
    double *lo, *hi, *at; /* factors */
    int64_t n;
} fit;

static bool scaled_codes(blame_search *s, const double *factor, int32_t *codes)
{
    const int64_t *sums = blame_sums(s);
    void *out = malloc(assay_type_bytes(s->type) + 64);
    bool good = sums && out;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        int64_t n = 0;
        float *scale = NULL;
        good = blame_search_case(s, k, &c) && (scale = blame_weight_scales(&c, &n));
        for (int64_t j = 0; j < n && good; j++)
            scale[j] = (float)((double)scale[j] * factor[j]);
        good = good && blame_case_requantize(&c, sums + k * s->count, out, NULL) == ASSAY_OK;
        if (good)
            blame_load(s->type, out, codes + k * s->count);
    }
    free(out);
    return good;
}

/* A greater scale takes codes away from the zero point. */
static void vote_scale(const blame_search *s, const int32_t *codes, votes *v)
{
    const blame_axis a = channels_of(s);
    memset(v->more, 0, (size_t)(2 * v->n) * sizeof *v->more);
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        const int64_t c = e % s->count / a.inner % a.n;
        if (s->seen[e] && !blame_same(s, s->dev[e], codes[e]))
            ((s->dev[e] > codes[e]) == (s->sums[e] > 0) ? v->more : v->less)[c] = true;
    }
}

/* One factor for all channels: what one of them asks for all do. */
static void vote_as_one(votes *v)
{
    for (int64_t c = 1; c < v->n; c++) {
        v->more[0] = v->more[0] || v->more[c];
        v->less[0] = v->less[0] || v->less[c];
    }
    for (int64_t c = 1; c < v->n; c++) {
        v->more[c] = v->more[0];
        v->less[c] = v->less[0];
    }
}

static bool settle_scales(blame_search *s, fit *f, bool as_one, votes *v, int32_t *codes)
{
    bool open = true;
    for (int step = 0; step < 48 && open; step++) {
        if (!scaled_codes(s, f->at, codes))
            return false;
        vote_scale(s, codes, v);
        if (as_one)
            vote_as_one(v);
        open = false;
        for (int64_t c = 0; c < f->n; c++) {
            if (v->more[c] && v->less[c])
                return false;
            if (!v->more[c] && !v->less[c])
                continue;
            *(v->more[c] ? &f->lo[c] : &f->hi[c]) = f->at[c];
            f->at[c] = sqrt(f->lo[c] * f->hi[c]);
            open = true;
        }
    }
    return !open;
}

static bool fit_scales(blame_search *s, fit *f, bool as_one)
{
    const blame_axis a = channels_of(s);
    int32_t *codes = malloc((size_t)(s->n_samples * s->count) * sizeof *codes + 64);
    votes v = {0};
    f->n = a.n;
    f->lo = calloc((size_t)(3 * a.n) + 1, sizeof *f->lo);
    f->hi = f->lo + a.n;
    f->at = f->hi + a.n;
    bool good = codes && f->lo && votes_open(&v, a.n);
    for (int64_t c = 0; c < a.n && good; c++) {
        f->lo[c] = ldexp(1, -20);
        f->hi[c] = ldexp(1, 20);
        f->at[c] = 1;
    }
    good = good && settle_scales(s, f, as_one, &v, codes);
    free(v.more);
    free(codes);
    return good;
}

static bool scale_holds(blame_search *s, fit *f, int64_t c, double candidate, votes *v,
                        int32_t *codes)
{
    const double old = f->at[c];
    f->at[c] = candidate;
    const bool good = scaled_codes(s, f->at, codes);
    if (good)
        vote_scale(s, codes, v);
    if (good && !v->more[c] && !v->less[c])
        return true;
    f->at[c] = old;
    return false;
}

/* One channel's scale as one that is there: another channel's, or its own shifted. */
static const char *name_scale(blame_search *s, fit *f, int64_t c, char *text, size_t size)
{
    int32_t *codes = malloc((size_t)(s->n_samples * s->count) * sizeof *codes + 64);
    const char *class = NULL;
    blame_case kase;
    votes v = {0};
    int64_t n = 0;
    float *scale = codes && votes_open(&v, f->n) && blame_search_case(s, 0, &kase)
                       ? blame_weight_scales(&kase, &n)
                       : NULL;
    int tries = 0;
    for (int64_t j = 0; j < n && scale && !class && tries < MOST_CANDIDATES; j++) {
        const double candidate = (double)scale[j] / (double)scale[c];
        if (j == c || candidate == 1.0 || candidate <= f->lo[c] || candidate >= f->hi[c])
            continue;
        tries++;
        if (scale_holds(s, f, c, candidate, &v, codes)) {
            class = "rescale.channel";
            snprintf(text, size, "channel %lld has the rescale of channel %lld", (long long)c,
                     (long long)j);
        }
    }
    for (int power = -8; power <= 8 && scale && !class; power++)
        if (power && ldexp(1, power) > f->lo[c] && ldexp(1, power) < f->hi[c] &&
            scale_holds(s, f, c, ldexp(1, power), &v, codes)) {
            class = "rescale.shift";
            snprintf(text, size, "channel %lld is shifted by %d more to the %s", (long long)c,
                     abs(power), power > 0 ? "left" : "right");
        }
    free(v.more);
    free(codes);
    return class;
}

int blame_fit_scale_count(blame_search *s)
{
    return s->n->op != ASSAY_OP_CONV_TRANSPOSE ? 2 * blame_fit_bias_count(s) : 0;
}

bool blame_fit_scale_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    fit f = {0};
    int changed = 0;
    int64_t which = 0;
    const bool as_one = i == 1;
    bool good = blame_sums(s) && fit_scales(s, &f, as_one);
    for (int64_t c = 0; c < f.n && good; c++)
        if (f.at[c] != 1.0) {
            which = changed++ ? which : c;
        }
    char text[96];
    const char *class =
        good && changed == 1 && !as_one ? name_scale(s, &f, which, text, sizeof text) : NULL;
    good = good && changed > 0 && scaled_codes(s, f.at, codes);
    good = good && (class || as_one || !is_thin(s));
    if (good && class)
        blame_tell(story, class, 2, "%s", text);
    else if (good && as_one)
        blame_tell(story, "rescale.multiplier", 1, "multipliers are %.9g of what they should be",
                   f.at[which]);
    else if (good)
        blame_tell(story, "rescale.multiplier", 1 + changed,
                   "%d channel%s another multiplier; channel %lld: %.9g of its own", changed,
                   changed == 1 ? " has" : "s have", (long long)which, f.at[which]);
    if (s->sums)
        free(f.lo);
    return good;
}

/* ---- one factor of a node without weights ---- */

int blame_fit_factor_count(blame_search *s)
{
    const unsigned traits = assay_op_get(s->n->op)->traits;
    return !(traits & (ASSAY_T_WEIGHTED | ASSAY_T_MOVE)) && s->n_after == 0 && s->has_record &&
           assay_is_quantized(s->type) && s->type->q.granularity == ASSAY_Q_TENSOR &&
           s->type->q.zero_point;
}

/* Every sample's codes with results that are so many times as much. */
static bool factored_codes(blame_search *s, double factor, int32_t *codes)
{
    void *out = malloc(assay_type_bytes(s->type) + 64);
    bool good = out != NULL;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        float *scale;
        assay_arena_free(s->arena);
        good = (s->arena = assay_arena_new()) && blame_search_case(s, k, &c) &&
               blame_own_params(&c, &c.out, &scale, NULL);
        if (good)
            scale[0] = (float)((double)scale[0] / factor);
        good = good && blame_case_run(&c, out, NULL, NULL) == ASSAY_OK;
        if (good)
            blame_load(s->type, out, codes + k * s->count);
    }
    free(out);
    return good;
}

bool blame_fit_factor_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    double lo = ldexp(1, -8), hi = ldexp(1, 8), at = 1;
    const int32_t zero = s->type->q.zero_point[0];
    (void)i;
    for (int step = 0; step < 40; step++) {
        bool more = false, less = false;
        if (!factored_codes(s, at, codes))
            return false;
        for (int64_t e = 0; e < s->n_samples * s->count; e++)
            if (s->seen[e] && !blame_same(s, s->dev[e], codes[e]))
                *(llabs((int64_t)s->dev[e] - zero) > llabs((int64_t)codes[e] - zero) ? &more
                                                                                     : &less) =
                    true;
        if (more == less) {
            blame_tell(story, "rescale.multiplier", 1,
                       "the multiplier is %.9g of what it should be", at);
            return !more && at != 1;
        }
        *(more ? &lo : &hi) = at;
        at = sqrt(lo * hi);
    }
    return false;
}

/* ---- tables ---- */

/* Output codes as a function of input codes: where the device's are one, entries of its table. */
int blame_table_entry_count(blame_search *s)
{
    const assay_value *v = s->n->n_in > 0 ? assay_node_in(s->d->graph, s->n, 0) : NULL;
    return v && s->n_after == 0 && assay_op_get(s->n->op)->traits & ASSAY_T_UNARY &&
           v->type.elem.kind == ASSAY_KIND_INT && v->type.elem.bits <= 16 && blame_case_can(s->n) &&
           assay_shape_count(&v->type) == s->count;
}

bool blame_table_entry_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    int32_t *to = calloc(65536, sizeof *to);
    uint8_t *known = calloc(65536, 1);
    int changed = 0, which = 0;
    bool good = to && known;
    (void)i;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        int32_t *x = NULL;
        good = blame_search_case(s, k, &c) && (x = blame_codes_of(&c, 0));
        for (int64_t e = k * s->count, j = 0; j < s->count && good; e++, j++) {
            const int at = x[j] & 0xFFFF;
            if (s->seen[e] && !known[at]) {
                known[at] = 1;
                to[at] = s->dev[e];
                if (s->dev[e] != s->base[e])
                    which = changed++ ? which : x[j];
            }
            codes[e] = known[at] ? to[at] : codes[e];
        }
    }
    if (good)
        blame_tell(story, "table.entry", 1 + changed,
                   "%d entr%s of the table differ; first that of code %d", changed,
                   changed == 1 ? "y" : "ies", which);
    free(to);
    free(known);
    return good && changed > 0;
}
