/* Scales that are solved for: a channel's, all channels', or the one of a node without weights, by
 * bisection of their logarithm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/fits.h"

/* The scale of each channel as a multiple of what it should be, by bisection of its logarithm. */
typedef struct fit {
    double *lo, *hi, *at; /* factors */
    int64_t n;
    bool kept; /* of the multiplier, whose shift stays: what is left is not written anew */
} fit;

static bool scaled_codes(blame_search *s, const fit *f, int32_t *codes)
{
    const int64_t *sums = blame_sums(s);
    void *out = malloc(assay_type_bytes(s->type) + 64);
    bool good = sums && out;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        int64_t n = 0;
        float *scale = NULL;
        good = blame_search_case(s, k, &c) && (scale = blame_weight_scales(&c, &n));
        for (int64_t j = 0; j < n && good && !f->kept; j++)
            scale[j] = (float)((double)scale[j] * f->at[j]);
        if (f->kept) {
            c.factor = f->at;
            c.n_factors = f->n;
        }
        good = good && !blame_case_requantize(&c, sums + k * s->count, out, NULL);
        if (good)
            blame_load(s->type, out, codes + k * s->count);
    }
    free(out);
    return good;
}

/* A greater scale takes codes away from the zero point. */
static void vote_scale(const blame_search *s, const int32_t *codes, blame_votes *v)
{
    const blame_axis a = blame_channels_of(s);
    memset(v->more, 0, (size_t)(2 * v->n) * sizeof *v->more);
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        const int64_t c = e % s->count / a.inner % a.n;
        if (s->seen[e] && !blame_same(s, e, codes[e]))
            (blame_is_above(s, s->dev[e], codes[e]) == (s->sums[e] > 0) ? v->more : v->less)[c] =
                true;
    }
}

/* One factor for all channels: what one of them asks for all do. */
static void vote_as_one(blame_votes *v)
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

static bool solve_scales(blame_search *s, fit *f, bool as_one, blame_votes *v, int32_t *codes)
{
    bool open = true;
    for (int step = 0; step < 48 && open; step++) {
        if (!scaled_codes(s, f, codes))
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
    const blame_axis a = blame_channels_of(s);
    int32_t *codes = malloc((size_t)(s->n_samples * s->count) * sizeof *codes + 64);
    blame_votes v = {0};
    f->n = a.n;
    f->lo = calloc((size_t)(3 * a.n) + 1, sizeof *f->lo);
    f->hi = f->lo + a.n;
    f->at = f->hi + a.n;
    bool good = codes && f->lo && blame_votes_open(&v, a.n);
    for (int64_t c = 0; c < a.n && good; c++) {
        f->lo[c] = ldexp(1, -20);
        f->hi[c] = ldexp(1, 20);
        f->at[c] = 1;
    }
    good = good && solve_scales(s, f, as_one, &v, codes);
    free(v.more);
    free(codes);
    return good;
}

static bool scale_holds(blame_search *s, fit *f, int64_t c, double candidate, blame_votes *v,
                        int32_t *codes)
{
    const double old = f->at[c];
    f->at[c] = candidate;
    const bool good = scaled_codes(s, f, codes);
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
    blame_votes v = {0};
    int64_t n = 0;
    float *scale = codes && blame_votes_open(&v, f->n) && blame_search_case(s, 0, &kase)
                       ? blame_weight_scales(&kase, &n)
                       : NULL;
    int tries = 0;
    for (int64_t j = 0; j < n && scale && !class && tries < BLAME_CANDIDATES; j++) {
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

/* A channel's as one that is there; one factor for all; a channel's as it was solved for. Where a
 * rescale rounds twice the same once more with shifts that stay: the first rounding is another. */
enum { NAMED, AS_ONE, AS_SOLVED, FITS };

int blame_fit_scale_count(blame_search *s)
{
    const bool twice = s->has_record && s->record.rescale.encoding == ASSAY_ENCODE_MULTIPLIER &&
                       s->record.rescale.round.n > 1;
    return s->n->op != ASSAY_OP_CONV_TRANSPOSE ? (twice ? 2 : 1) * FITS * blame_fit_bias_count(s)
                                               : 0;
}

bool blame_fit_scale_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    fit f = {0};
    int changed = 0;
    int64_t which = 0;
    const bool as_one = i % FITS == AS_ONE;
    f.kept = i >= FITS;
    bool good = blame_sums(s) && fit_scales(s, &f, as_one);
    for (int64_t c = 0; c < f.n && good; c++)
        if (f.at[c] != 1.0) {
            which = changed++ ? which : c;
        }
    char text[96];
    const char *class =
        good && changed == 1 && i == NAMED ? name_scale(s, &f, which, text, sizeof text) : NULL;
    good = good && changed > 0 && scaled_codes(s, &f, codes);
    good = good && (class || as_one || !blame_is_thin(s)) &&
           (i % FITS != AS_SOLVED || changed == 1) && (i != FITS + NAMED || changed > 1);
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

/* Of the output; of the side below zero and of that above it where they have rescales of their own;
 * of one operand of a sum. */
enum { OF_OUTPUT, OF_NEGATIVE, OF_POSITIVE, OF_FIRST, OF_SECOND, FACTORS };

int blame_fit_factor_count(blame_search *s)
{
    const unsigned traits = assay_op_get(s->n->op)->traits;
    return !(traits & (ASSAY_T_WEIGHTED | ASSAY_T_MOVE)) && s->n_after == 0 && s->has_record &&
                   assay_is_quantized(s->type) && s->type->q.granularity == ASSAY_Q_TENSOR &&
                   s->type->q.zero_point
               ? FACTORS
               : 0;
}

/* The output's scale, and the slope's, so that one side alone is so many times as much. */
static bool scale_side(blame_case *c, bool negative, double factor)
{
    const double slope = negative ? factor : 1 / factor;
    float *scale;
    if (c->op == ASSAY_OP_LEAKY_RELU)
        c->attr.alpha.alpha = (float)((double)c->attr.alpha.alpha * slope);
    else if (c->op == ASSAY_OP_PRELU && assay_is_quantized(&c->in[1]) &&
             blame_own_params(c, &c->in[1], &scale, NULL))
        for (size_t k = 0; k < c->in[1].q.count; k++)
            scale[k] = (float)((double)scale[k] * slope);
    else
        return false;
    if (negative)
        return true;
    if (!blame_own_params(c, &c->out, &scale, NULL))
        return false;
    scale[0] = (float)((double)scale[0] / factor);
    return true;
}

static bool scale_operand(blame_case *c, int operand, double factor)
{
    float *scale;
    if ((c->op != ASSAY_OP_ADD && c->op != ASSAY_OP_SUB) || c->in[operand].q.count != 1 ||
        !blame_own_params(c, &c->in[operand], &scale, NULL))
        return false;
    scale[0] = (float)((double)scale[0] * factor);
    return true;
}

static bool scale_part(blame_case *c, int part, double factor)
{
    float *scale;
    if (part == OF_NEGATIVE || part == OF_POSITIVE)
        return scale_side(c, part == OF_NEGATIVE, factor);
    if (part != OF_OUTPUT)
        return scale_operand(c, part - OF_FIRST, factor);
    if (!blame_own_params(c, &c->out, &scale, NULL))
        return false;
    scale[0] = (float)((double)scale[0] / factor);
    return true;
}

/* Every sample's codes with one part so many times as much. */
static bool factored_codes(blame_search *s, int part, double factor, int32_t *codes)
{
    void *out = malloc(assay_type_bytes(s->type) + 64);
    bool good = out != NULL;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        assay_arena_free(s->arena);
        good = (s->arena = assay_arena_new()) && blame_search_case(s, k, &c) &&
               scale_part(&c, part, factor) && !blame_case_run(&c, out, NULL, NULL);
        if (good)
            blame_load(s->type, out, codes + k * s->count);
    }
    free(out);
    return good;
}

/* Where each element of the part goes with a greater factor: 1, -1, or 0, away from the zero point.
 * NULL: out of memory. */
static int8_t *directions(blame_search *s, int part)
{
    int8_t *up = malloc((size_t)(s->n_samples * s->count) + 1);
    const int operand = part == OF_SECOND;
    const int32_t zero = s->type->q.zero_point[0];
    for (int64_t e = 0; e < s->n_samples * s->count && up; e++)
        up[e] = s->base[e] == zero && s->dev[e] == zero                ? 0
                : (s->base[e] == zero ? s->dev[e] : s->base[e]) < zero ? -1
                                                                       : 1;
    for (int k = 0; k < s->n_samples && up && part >= OF_FIRST; k++) {
        blame_case c;
        int32_t *x = NULL;
        if (!blame_search_case(s, k, &c) || assay_shape_count(&c.in[operand]) != s->count ||
            !c.in[operand].q.zero_point || !(x = blame_codes_of(&c, operand))) {
            free(up);
            return NULL;
        }
        for (int64_t e = 0; e < s->count; e++) {
            const int32_t d = x[e] - c.in[operand].q.zero_point[0];
            const int sign = (d > 0) - (d < 0);
            up[k * s->count + e] = (int8_t)(operand && c.op == ASSAY_OP_SUB ? -sign : sign);
        }
    }
    return up;
}

/* What the elements ask of the factor at these codes: 1, -1; 0: nothing; 2: both. Where a bit is
 * not compared, what most of them ask. */
static int ask(const blame_search *s, const int8_t *up, const int32_t *codes)
{
    int64_t more = 0, less = 0;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        if (s->seen[e] && !blame_same(s, e, codes[e]))
            ++*((blame_is_above(s, s->dev[e], codes[e]) ? 1 : -1) == up[e] ? &more : &less);
    return more > 0 && less > 0 && (s->unseen_bits == 0 || more == less)
               ? 2
               : (more > less) - (more < less);
}

bool blame_fit_factor_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    static const char *const words[FACTORS] = {
        "", " of what is below zero", " of what is above zero", " of operand 0", " of operand 1"};
    double lo = ldexp(1, -8), hi = ldexp(1, 8), at = 1;
    int8_t *up = directions(s, i);
    int asked = 2;
    for (int step = 0; step < 40 && up; step++) {
        const bool runs = factored_codes(s, i, at, codes);
        asked = runs ? ask(s, up, codes) : at > 1 ? -1 : 1; /* none is so far from 1 */
        if (asked == 0 || asked == 2)
            break;
        *(asked > 0 ? &lo : &hi) = at;
        at = sqrt(lo * hi);
    }
    free(up);
    blame_tell(story, "rescale.multiplier", 1, "the multiplier%s is %.9g of what it should be",
               words[i], at);
    return asked == 0 && at != 1;
}

/* ---- the rescale of one part, shifted or the other side's ---- */

enum { MAX_PART_SHIFT = 8 };

int blame_part_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_LEAKY_RELU || s->n->op == ASSAY_OP_PRELU
               ? 1 + 2 * 2 * MAX_PART_SHIFT
               : 0;
}

bool blame_part_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int side = i % 2, step = (i - 1) / 2;
    const int power = step < MAX_PART_SHIFT ? step + 1 : MAX_PART_SHIFT - 1 - step;
    float *scale;
    (void)s;
    if (i > 0) {
        blame_tell(story, "rescale.shift", 1, "what is %s zero shifted by %d more to the %s",
                   side ? "below" : "above", abs(power), power > 0 ? "left" : "right");
        return scale_side(c, side, ldexp(1, power));
    }
    blame_tell(story, "rescale.multiplier", 1, "what is below zero has the multiplier of the rest");
    if (c->op == ASSAY_OP_LEAKY_RELU) {
        c->attr.alpha.alpha = 1;
        return true;
    }
    if (!assay_is_quantized(&c->in[1]) || !blame_own_params(c, &c->in[1], &scale, NULL))
        return false;
    for (size_t k = 0; k < c->in[1].q.count; k++)
        scale[k] = 1;
    return true;
}
