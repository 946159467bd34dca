/* assay scheme: which arithmetics there are, what they do, where they differ. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/cli/scheme.h"
#include "schemes/data.h"
#include "schemes/explain.h"
#include "schemes/guess.h"

static int list(const cli_args *a)
{
    (void)a;
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        if (assay_scheme_open(*name, &s, &err) != ASSAY_OK)
            return cli_failed(&err);
        printf("%-20s %s\n", *name, s->description);
        assay_scheme_free(s);
    }
    return CLI_OK;
}

static int check(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;

    if (assay_scheme_open(a->positional[1], &s, &err) != ASSAY_OK)
        return cli_failed(&err);
    printf("%s: good; scheme '%s', digest %s\n", a->positional[1], s->name, s->digest);
    if (s->record != NULL)
        assay_explain_inheritance(stdout, assay_data(s));
    assay_scheme_free(s);
    return CLI_OK;
}

bool cli_scheme_names_differ(const assay_scheme *a, const assay_scheme *b)
{
    if (strcmp(a->name, b->name) != 0 || strcmp(a->digest, b->digest) == 0)
        return true;
    cli_trouble("scheme: two schemes of the name \"%s\" with different records; rename one",
                a->name);
    return false;
}

bool cli_scheme_op(const cli_args *a)
{
    assay_guess g = {cli_value(a, "op", "conv"), "", SIZE_MAX};
    if (assay_op_find(g.word) != ASSAY_OP_COUNT)
        return true;
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        assay_guess_consider(&g, assay_op_get((assay_op)op)->name);
    cli_trouble("scheme: no op \"%s\"; nearest: %s", g.word, g.best);
    return false;
}

bool cli_scheme_is_wide(const assay_scheme *s)
{
    return s->record != NULL && assay_data(s)->base.types.activation_bits > 8;
}

bool cli_scheme_type(const cli_args *a, const assay_scheme *s, assay_elem *out)
{
    const char *text = cli_value(a, "type", NULL);
    if (text == NULL) {
        assay_scheme_caps caps;
        assay_scheme_get_caps(s, &caps);
        *out = assay_int(caps.activation_bits, caps.activation_signed);
        return true;
    }
    char *end = NULL;
    long bits = text[0] == 'i' || text[0] == 'u' ? strtol(text + 1, &end, 10) : 0;
    if (end == NULL || *end != '\0' || bits < 1 || bits > (text[0] == 'i' ? 32 : 31)) {
        cli_trouble("scheme: --type takes i1..i32 or u1..u31 (i8, u8, i16, i32), not '%s'", text);
        return false;
    }
    *out = assay_int((unsigned)bits, text[0] == 'i');
    return true;
}

bool cli_scheme_range(const cli_args *a, const char *option, double lo, double hi, double out[3])
{
    const char *text = cli_value(a, option, "");
    char *end;
    int n = 0;
    for (const char *p = text; n < 3; p = end + 1) {
        out[n] = strtod(p, &end);
        if (end == p || !(out[n] >= lo && (n == 2 || out[n] <= hi)))
            break;
        n++;
        if (*end != ':')
            break;
    }
    if (n == 0 || *end != '\0' || (n > 1 && out[1] < out[0]) ||
        (n > 2 && !(out[2] >= 1 && out[2] <= 1e6))) {
        cli_trouble("scheme: --%s takes X, LO:HI or LO:HI:N with numbers from %g to %g, not '%s'",
                    option, lo, hi, text);
        return false;
    }
    out[1] = n > 1 ? out[1] : out[0];
    out[2] = n > 2 ? out[2] : 1;
    return true;
}

/* Options that a verb takes are named in one string, each between blanks. */
static const struct verb {
    const char *name;
    int min, max; /* further positional arguments */
    const char *options;
    int (*run)(const cli_args *a);
} verbs[] = {
    {"list", 0, 0, "", list},
    {"show", 1, 1, " op wide ", cli_scheme_show},
    {"check", 1, 1, "", check},
    {"diff", 2, 2,
     " scale acc zp in-zp type op wide model profile per-tensor schema calibration keep-float "
     "precision integer-io strict ",
     cli_scheme_diff},
    {"matrix", 0, 1, " schemes scale acc zp type op wide scheme profile per-tensor schema ",
     cli_scheme_matrix},
    {"try", 1, 1,
     " acc scale multiplier shift pre zp in-zp min max type op wide in-scale weight-scale "
     "out-scale "
     "per-tensor ",
     cli_scheme_try},
    {"new", 0, 1, "", cli_scheme_new},
    {"apply", 1, 1,
     " acc scale multiplier shift pre zp in-zp min max type op wide in-scale weight-scale "
     "out-scale per-tensor output errors ",
     cli_scheme_apply},
    {"derive", 1, 1, " scale multiplier shift pre op wide errors ", cli_scheme_derive},
    {"dot", 1, 1, " a b c scale-a scale-b output ", cli_scheme_dot},
};
enum { N_VERBS = sizeof verbs / sizeof *verbs };

static bool takes(const struct verb *v, const char *option)
{
    char name[64];
    snprintf(name, sizeof name, " %s ", option);
    return strstr(v->options, name) != NULL;
}

static int run(const cli_args *a)
{
    for (int i = 0; i < N_VERBS; i++) {
        const struct verb *v = &verbs[i];
        if (strcmp(a->positional[0], v->name) != 0)
            continue;
        if (a->n_positional - 1 < v->min || a->n_positional - 1 > v->max)
            return cli_trouble("scheme %s: %d names given; expected %s%d ('assay scheme --help')",
                               v->name, a->n_positional - 1, v->min < v->max ? "up to " : "",
                               v->max);
        for (int k = 0; k < a->n_given; k++)
            if (!takes(v, a->given[k].option->name))
                return cli_trouble("scheme %s: no option --%s here ('assay scheme --help')",
                                   v->name, a->given[k].option->name);
        return v->run(a);
    }
    return cli_trouble("no verb 'scheme %s'; expected list, show, check, diff, matrix, try, new, "
                       "apply, derive or dot",
                       a->positional[0]);
}

static const cli_option options[] = {
    {"acc", 'a', "N|LO:HI|FILE", "accumulator, their range (diff, matrix), .npy of them (apply)"},
    {"scale", 0, "X|LO:HI:N|FILE", "real scale R, N of them (diff, matrix), .npy of them (apply)"},
    {"multiplier", 0, "N|FILE", "with --shift, as the target writes them, in place of --scale"},
    {"shift", 0, "N|FILE", "shift in the target's own sign convention ('show' states it)"},
    {"pre", 0, "N|FILE", "pre-shift, where the target has one"},
    {"zp", 0, "N|FILE", "zero point of the output"},
    {"in-zp", 0, "N|FILE", "zero point subtracted from the accumulator"},
    {"min", 0, "N|FILE", "lower bound of the codes, within the type"},
    {"max", 0, "N|FILE", "upper bound of the codes, within the type"},
    {"type", 0, "TYPE", "of the output: i8, u8, i16, i32 (default: the scheme's activations)"},
    {"output", 'o', "FILE", "apply: codes, .npy; dot: patterns, .npy"},
    {"errors", 0, "FILE", "apply, derive: .npy of 1 where the target refuses a row"},
    {"op", 0, "NAME", "whose arithmetic it is (default: conv); one that is one rescale"},
    {"wide", 0, NULL, "the arithmetic of codes of more than 8 bits (int64 accumulators to i16)"},
    {"in-scale", 0, "X|FILE", "try, apply: the three scales of which R is formed"},
    {"weight-scale", 0, "X|FILE", "(default 1)"},
    {"out-scale", 0, "X|FILE", "(default 1)"},
    {"a", 0, "FILE", "dot: A [n,k], unsigned, one raw pattern an element"},
    {"b", 0, "FILE", "dot: B [n,k], likewise"},
    {"c", 0, "FILE", "dot: C [n], patterns of the accumulator (default +0)"},
    {"scale-a", 0, "FILE", "dot: block scales of A, uint8 [n,k/block]"},
    {"scale-b", 0, "FILE", "dot: block scales of B, likewise"},
    {"model", 0, "MODEL", "diff: every layer of a quantized network"},
    {"scheme", 's', "NAME|FILE", "matrix: quantizes a float MODEL, with --profile"},
    {"schemes", 0, "A,B,...", "matrix: only these (default: every preset)"},
    {"profile", 'p', "FILE", "quantize a float MODEL with this profile first"},
    {"schema", 0, "NAME", "as in 'assay quantize'"},
    {"per-tensor", 0, NULL, "one weight scale a layer"},
    {NULL, 0, NULL, NULL},
};

const cli_command cli_scheme = {
    .name = "scheme",
    .usage = "list | show NAME | check FILE | diff A B | matrix [MODEL] | try NAME | new [NAME] | "
             "apply NAME | derive NAME | dot UNIT",
    .summary = "the arithmetics: what they do, where two differ, one rescale explained",
    .examples =
        "  assay scheme list\n"
        "  assay scheme show tflite\n"
        "  assay scheme new my-npu > my-npu.yaml\n"
        "  assay scheme check ./my-npu.yaml\n"
        "  assay scheme try xnnpack-qs8 --acc 585 --scale 0.0111111114 --zp -126\n"
        "  assay scheme diff tflite tflite-single --scale 0.001:0.5:100 --acc -100000:100000\n"
        "  assay scheme diff tflite cmsis-nn --model net.tflite\n"
        "  assay scheme matrix net.tflite --schemes tflite,tflite-single,xnnpack-qs8\n"
        "  assay scheme apply tflite --type i8 --acc A.npy --scale S.npy --zp Z.npy -o R.npy\n"
        "  assay scheme derive tosa-single --scale S.npy --multiplier M.npy --shift H.npy\n"
        "  assay scheme dot nv-hopper-e4m3-f32 --a left.npy --b right.npy -o D.npy\n",
    .options = options,
    .min_args = 1,
    .max_args = 3,
    .run = run,
};
