/* The products of an accumulator, and what it holds at each step of the scheme's order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/explain/explain.h"
#include "interp/kernel/window.h"

typedef struct sums {
    explain_trace *t;
    const explain_seen *s;
    const assay_scheme_vtable *vt;
    const assay_unit *unit;
    const assay_rule_accumulator *rule; /* NULL: a plugin's */
    int64_t channels, taps;             /* of the reduction */
    bool taps_first;                    /* the index is tap * channels + channel */
    int n_kernel;
    int64_t kernel[ASSAY_SPATIAL];
    bool has_window;
    assay_window w;
    int64_t cell; /* of the output */
} sums;

/* ---- where a product lies ---- */

static sums sums_of(explain_trace *t, const assay_program *p, int node, int64_t element,
                    const explain_seen *s)
{
    const assay_node *n = &p->graph->node[node];
    sums k = {.t = t, .s = s, .vt = p->scheme->vt, .unit = p->unit[node]};
    k.channels = (int64_t)s->n;
    k.taps = 1;
    if (p->scheme->record)
        k.rule = &k.unit->rec.accumulator;
    if (n->op != ASSAY_OP_CONV && n->op != ASSAY_OP_CONV_TRANSPOSE)
        return k;
    const assay_type *out = &assay_node_out(p->graph, n, 0)->type;
    kernel_window_of_conv(&k.w, &n->attr.conv, &assay_node_in(p->graph, n, 0)->type, out);
    k.taps_first = k.w.nhwc;
    k.taps = k.w.taps;
    k.channels = k.taps > 0 ? (int64_t)s->n / k.taps : 0;
    k.n_kernel = n->attr.conv.kernel.n;
    for (int i = 0; i < k.n_kernel; i++)
        k.kernel[i] = n->attr.conv.kernel.v[i];
    k.has_window = n->op == ASSAY_OP_CONV;
    k.cell = k.w.nhwc ? element / k.w.out_channels % k.w.out_area : element % k.w.out_area;
    return k;
}

static int64_t tap_of(const sums *k, int64_t i)
{
    return k->taps_first ? i / k->channels : i % k->taps;
}

static int64_t channel_of(const sums *k, int64_t i)
{
    return k->taps_first ? i % k->channels : i / k->taps;
}

static const char *say_tap(const sums *k, int64_t tap, char *text, size_t size)
{
    int64_t at[ASSAY_SPATIAL];
    size_t used = 0;
    for (int i = k->n_kernel - 1; i >= 0; i--) {
        at[i] = tap % k->kernel[i];
        tap /= k->kernel[i];
    }
    text[0] = 0;
    for (int i = 0; i < k->n_kernel && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? "," : "", at[i]);
    return text;
}

static const char *say_product(const sums *k, int64_t i, char *text, size_t size)
{
    char tap[40];
    if (k->n_kernel == 0)
        snprintf(text, size, "%" PRId64, i);
    else
        snprintf(text, size, "c%" PRId64 " tap %s", channel_of(k, i),
                 say_tap(k, tap_of(k, i), tap, sizeof tap));
    return text;
}

/* Whether the cell under a product is outside of the input. */
static bool is_padding(const sums *k, int64_t i)
{
    int64_t tap = tap_of(k, i), cell = k->cell;
    bool outside = false;
    for (int a = ASSAY_SPATIAL - 1; a >= 0 && k->has_window; a--) {
        const int64_t at = cell % k->w.out[a] * k->w.stride[a] - k->w.pad[a] +
                           tap % k->w.kernel[a] * k->w.dilation[a];
        outside = outside || at < 0 || at >= k->w.in[a];
        cell /= k->w.out[a];
        tap /= k->w.kernel[a];
    }
    return outside;
}

/* ---- sums under way ---- */

static int64_t exact(const sums *k, int64_t first, int64_t end)
{
    int64_t sum = 0;
    for (int64_t i = first; i < end; i++)
        sum += (int64_t)k->s->x[i] * k->s->w[i];
    return sum;
}

/* What the scheme accumulates of the products that `chosen` marks, by its own function: the others
 * are 0. */
static bool accumulate(const sums *k, const bool *chosen, int64_t bias, int64_t *acc)
{
    const explain_seen *s = k->s;
    int32_t *x = calloc(s->n + 1, sizeof *x), *w = calloc(s->n + 1, sizeof *w);
    bool trapped = false;
    for (size_t i = 0; i < s->n && x && w; i++)
        if (chosen[i]) {
            x[i] = s->x[i];
            w[i] = s->w[i];
        }
    if (x && w)
        *acc = k->vt->accumulate(k->unit, x, w, s->n, bias, s->zx, s->zw, &trapped);
    const bool good = x && w;
    free(x);
    free(w);
    return good;
}

/* Whether products left out count as none: not where the target adds pairs of raw codes. */
static bool has_steps(const sums *k)
{
    return k->rule && !k->rule->saturate_pairs && k->rule->order != ASSAY_ORDER_LANES;
}

static bool bias_is_last(const sums *k)
{
    return k->rule && k->rule->bias == ASSAY_BIAS_LAST;
}

/* One group [first, end) in the order of memory; `chosen` marks all that the scheme has added when
 * it has added these. */
static void say_group(const sums *k, int64_t first, int64_t end, bool *chosen)
{
    char a[64], b[64], name[136], padding[16] = "", now[48] = "";
    int64_t acc;
    for (int64_t i = first; i < end; i++)
        chosen[i] = true;
    if (has_steps(k) && accumulate(k, chosen, bias_is_last(k) ? 0 : k->s->bias, &acc))
        snprintf(now, sizeof now, "; accumulator %" PRId64, acc);
    say_product(k, first, a, sizeof a);
    if (end - first == 1) {
        const int32_t x = k->s->x[first], w = k->s->w[first];
        snprintf(name, sizeof name, "product %s", a);
        if (is_padding(k, first))
            snprintf(padding, sizeof padding, " (padding)");
        explain_say(k->t, name, "(%" PRId64 " - %d) * (%" PRId64 " - %d) = %" PRId64 "%s%s",
                    (int64_t)x + k->s->zx, k->s->zx, (int64_t)w + k->s->zw, k->s->zw,
                    (int64_t)x * w, padding, now);
        return;
    }
    snprintf(name, sizeof name, "products %s to %s", a, say_product(k, end - 1, b, sizeof b));
    explain_say(k->t, name, "%" PRId64 "%s", exact(k, first, end), now);
}

/* Groups of whole channels (of taps, where those come first), or as many products each. */
static int64_t group_size(const sums *k)
{
    const int64_t n = (int64_t)k->s->n;
    const int64_t inner = k->taps_first ? k->channels : k->taps;
    if (n <= EXPLAIN_PRODUCTS)
        return 1;
    const int64_t outer = n / (inner > 0 ? inner : 1);
    if (k->n_kernel > 0 && outer >= 4)
        return (outer + EXPLAIN_PRODUCTS - 1) / EXPLAIN_PRODUCTS * inner;
    return (n + EXPLAIN_PRODUCTS - 1) / EXPLAIN_PRODUCTS;
}

static void say_groups(const sums *k)
{
    const int64_t n = (int64_t)k->s->n, size = group_size(k);
    const bool reverse = k->rule && k->rule->order == ASSAY_ORDER_REVERSE;
    bool *chosen = calloc(k->s->n + 1, sizeof *chosen);
    const int64_t groups = n > 0 ? (n + size - 1) / size : 0;
    for (int64_t g = 0; g < groups && chosen; g++) {
        const int64_t first = (reverse ? groups - 1 - g : g) * size;
        say_group(k, first, first + size < n ? first + size : n, chosen);
    }
    free(chosen);
}

static void say_lanes(const sums *k)
{
    const int32_t lanes = k->rule && k->rule->order == ASSAY_ORDER_LANES ? k->rule->lanes : 0;
    bool *chosen = calloc(k->s->n + 1, sizeof *chosen);
    for (int32_t l = 0; l < lanes && l < 64 && chosen && !k->rule->saturate_pairs; l++) {
        int64_t acc;
        char name[32];
        for (size_t i = 0; i < k->s->n; i++)
            chosen[i] = (int64_t)i % lanes == l;
        snprintf(name, sizeof name, "lane %d", l);
        if (accumulate(k, chosen, 0, &acc))
            explain_say(k->t, name, "%" PRId64, acc);
    }
    free(chosen);
}

/* Sums over the other axis, where there are few enough of them. */
static void say_margin(const sums *k, bool by_tap)
{
    const int64_t n = by_tap ? k->taps : k->channels;
    char text[64 * 32] = "", tap[40];
    size_t used = 0;
    if (k->s->n <= EXPLAIN_PRODUCTS || k->taps < 2 || k->channels < 2 || n > 64)
        return;
    for (int64_t m = 0; m < n && used + 64 < sizeof text; m++) {
        int64_t sum = 0;
        for (int64_t i = 0; i < (int64_t)k->s->n; i++)
            if ((by_tap ? tap_of(k, i) : channel_of(k, i)) == m)
                sum += (int64_t)k->s->x[i] * k->s->w[i];
        if (by_tap)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s(%s) %" PRId64,
                                     m ? ", " : "", say_tap(k, m, tap, sizeof tap), sum);
        else
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64, m ? ", " : "", sum);
    }
    explain_say(k->t, by_tap ? "sums by tap" : "sums by channel", "%s", text);
}

static void say_blocks(const sums *k)
{
    for (size_t i = 0; i < k->s->n_blocks && i < 64; i++) {
        char name[40];
        snprintf(name, sizeof name, "sum of block %zu", i);
        explain_say(k->t, name, "%" PRId64, k->s->block[i]);
    }
}

void explain_sums(explain_trace *t, const assay_program *p, int node, int64_t element,
                  const explain_seen *s)
{
    const sums k = sums_of(t, p, node, element, s);
    const bool known = s->n > 0 || s->n_blocks > 0;
    if (s->n > 0)
        explain_say(t, "products", "%zu, zero points %d of the input and %d of the weights", s->n,
                    s->zx, s->zw);
    if (known && !bias_is_last(&k))
        explain_say(t, "bias", "%" PRId64, s->bias);
    say_groups(&k);
    say_lanes(&k);
    say_margin(&k, true);
    say_margin(&k, false);
    say_blocks(&k);
    if (known && bias_is_last(&k))
        explain_say(t, "bias", "%" PRId64 ", added last", s->bias);
    if (s->n > 0)
        explain_say(t, "exact sum", "%" PRId64, s->bias + exact(&k, 0, (int64_t)s->n));
}
