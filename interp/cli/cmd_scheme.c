/* assay scheme: the arithmetics that there are, what they do, where they differ. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/api/options.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/explain/explain.h"
#include "schemes/mac/scheme.h"
#include "schemes/record/data.h"
#include "schemes/record/guess.h"

static int list_one(const cli_args *a, const char *name, json_t **presets)
{
    assay_scheme *s;
    assay_error err;
    if (assay_scheme_open(name, &s, &err))
        return cli_failed(&err);
    fprintf(cli_notes_of(a), "%-20s %s\n", name, s->description);
    json_t *o = json_object();
    page_json_set(&o, "name", json_string(name));
    page_json_set(&o, "description", page_json_text(s->description));
    page_json_set(&o, "digest", json_string(s->digest));
    page_json_add(presets, o);
    assay_scheme_free(s);
    return CLI_OK;
}

static int list(const cli_args *a)
{
    if (cli_has(a, "units"))
        return cli_units_list(a);
    json_t *presets = json_array();
    int exit = CLI_OK;
    for (const char *const *name = assay_scheme_presets(); *name && !exit; name++)
        exit = list_one(a, *name, &presets);
    for (const char *const *name = assay_mac_schemes(); *name && !exit; name++)
        exit = list_one(a, *name, &presets);
    if (!exit && cli_has(a, "json"))
        return cli_json_write(a, presets);
    json_decref(presets);
    return exit;
}

static void print_inheritance(FILE *f, const void *scheme)
{
    const assay_scheme *s = scheme;
    if (s->record)
        assay_explain_inheritance(f, assay_data(s));
}

/* from: the ancestors, the nearest first; inherits: what is printed of them. */
static json_t *check_json(const cli_args *a, const assay_scheme *s)
{
    char *text;
    const bool whole = !assay_text_of(print_inheritance, s, &text, NULL);
    json_t *o = json_object(), *from = json_array();
    for (int i = 0; s->record && i + 1 < assay_data(s)->n_from; i++)
        page_json_add(&from, page_json_text(assay_data(s)->from[i]));
    page_json_set(&o, "file", page_json_text(a->positional[1]));
    page_json_set(&o, "scheme", page_json_text(s->name));
    page_json_set(&o, "digest", json_string(s->digest));
    page_json_set(&o, "from", from);
    page_json_set(&o, "inherits", whole ? page_json_lines(text) : NULL);
    free(text);
    return o;
}

static int check(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;

    if (mac_is_unit(a->positional[1]))
        return cli_unit_check(a);
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    fprintf(cli_notes_of(a), "%s: good; scheme '%s', digest %s\n", a->positional[1], s->name,
            s->digest);
    print_inheritance(cli_notes_of(a), s);
    const int status = cli_has(a, "json") ? cli_json_write(a, check_json(a, s)) : CLI_OK;
    assay_scheme_free(s);
    return status;
}

static const cli_verb verbs[] = {
    {"list", "[--units] [--json FILE]", "the presets, or the matrix units, one per line",
     " units json ", 0, 0, list},
    {"show", "NAME [--op NAME] [--wide] [--json FILE]",
     "what a scheme does, in words, examples and parameters", " op wide json ", 1, 1,
     cli_scheme_show},
    {"check", "FILE [--json FILE]", "check a scheme file, and show what it inherits", " json ", 1,
     1, check},
    {"diff", "A B [--scale X|LO:HI:N] [--acc N|LO:HI] [--model MODEL] [--json FILE]",
     "where two schemes differ: over a range, or in a network's layers",
     " scale acc zp in-zp type op wide model profile per-tensor symmetry as-is json ", 2, 2,
     cli_scheme_diff},
    {"matrix", "[MODEL] [--schemes A,B,...] [--json FILE]", "which schemes agree, two by two",
     " schemes scale acc zp type op wide scheme profile per-tensor symmetry as-is json ", 0, 1,
     cli_scheme_matrix},
    {"try", "NAME --acc N (--scale X | --multiplier N --shift N | --in-scale X ...) [--json FILE]",
     "one rescale, or one dot product of a matrix unit (--a, --b), step by step",
     " acc scale multiplier shift pre zp in-zp min max type op wide "
     "in-scale weight-scale out-scale per-tensor a b c scale-a scale-b json ",
     1, 1, cli_scheme_try},
    {"new", "[NAME] [--unit]", "a scheme, or matrix unit, file with every parameter at its default",
     " unit ", 0, 1, cli_scheme_new},
    {"apply",
     "NAME --acc FILE (--scale FILE | --multiplier FILE --shift FILE | --in-scale ...) "
     "-o FILE",
     "rescales of whole .npy columns",
     " acc scale multiplier shift pre zp in-zp min max type op wide in-scale weight-scale "
     "out-scale per-tensor output errors ",
     1, 1, cli_scheme_apply},
    {"derive", "NAME --scale FILE --multiplier FILE --shift FILE",
     "the integers that stand for real scales", " scale multiplier shift pre type op wide errors ",
     1, 1, cli_scheme_derive},
    {"dot", "UNIT --a FILE --b FILE [--c FILE] -o FILE",
     "dot products of a matrix unit (of a scheme, its first), on raw bit patterns",
     " a b c scale-a scale-b output ", 1, 1, cli_scheme_dot},
    {"vectors", "A (B ... | --mutants) [-o DIR] [--json FILE]",
     "the fewest rows, or a small network, that tell schemes (or two units) apart, or a scheme "
     "from its mutants",
     " mutants kind op wide type acc seed output json ", 1, 64, cli_scheme_vectors},
    {NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const cli_option options[] = {
    {"acc", 'a', "N|LO:HI|FILE", "accumulator, their range (diff, matrix), .npy of them (apply)"},
    {"scale", 0, "X|LO:HI:N|FILE", "real scale R, N of them (diff, matrix), .npy of them (apply)"},
    {"multiplier", 0, "N|FILE", "with --shift, as the target stores them, instead of --scale"},
    {"shift", 0, "N|FILE", "shift in the target's own sign convention ('show' states it)"},
    {"pre", 0, "N|FILE", "pre-shift, where the target has one"},
    {"zp", 0, "N|FILE", "zero point of the output"},
    {"in-zp", 0, "N|FILE", "zero point subtracted from the accumulator"},
    {"min", 0, "N|FILE",
     "lower bound of the codes, within the type (store: wrap: as it is, before that)"},
    {"max", 0, "N|FILE",
     "upper bound of the codes, within the type (store: wrap: as it is, before that)"},
    {"type", 0, "TYPE",
     "of the codes: i8, u8, i16, i32 (default: the scheme's activations); u: its unsigned_ops"},
    {"output", 'o', "FILE|DIR", "apply: codes, .npy; dot: patterns, .npy; vectors: a new folder"},
    {"errors", 0, "FILE", "apply, derive: .npy of 1 where the target refuses a row"},
    {"op", 0, "NAME",
     "whose arithmetic it is (default: conv); of rows: an op that is a single rescale"},
    {"wide", 0, NULL, "the arithmetic of codes of more than 8 bits (int64 accumulators to i16)"},
    {"in-scale", 0, "X|FILE", "try, apply: the three scales of which R is formed"},
    {"weight-scale", 0, "X|FILE", "(default 1)"},
    {"out-scale", 0, "X|FILE", "(default 1)"},
    {"a", 0, "FILE|N,...", "dot: A [n,k], unsigned, one raw pattern per element; try: patterns"},
    {"b", 0, "FILE|N,...", "dot: B [n,k], likewise"},
    {"c", 0, "FILE|N", "dot: C [n], patterns of the accumulator (default +0)"},
    {"scale-a", 0, "FILE|N,...", "dot: block scales of A, unsigned [n,k/block]"},
    {"scale-b", 0, "FILE|N,...", "dot: block scales of B, likewise"},
    {"units", 0, NULL, "list: the matrix units"},
    {"json", 0, "FILE", "not apply, derive, dot, new: the same as JSON (- for standard output)"},
    {"unit", 0, NULL, "new: a matrix unit"},
    {"model", 0, "MODEL", "diff: every layer of a quantized network"},
    {"scheme", 's', "NAME|FILE", "matrix: quantizes a float MODEL, with --profile"},
    {"schemes", 0, "A,B,...", "matrix: only these (default: every preset)"},
    {"profile", 'p', "FILE", "quantize a float MODEL with this profile first"},
    {"symmetry", 0, "NAME", "as in 'assay quantize'"},
    {"per-tensor", 0, NULL, "one weight scale per layer"},
    {"mutants", 0, NULL, "vectors: every record that differs from A in one parameter"},
    {"kind", 0, "multiplier|scale", "vectors: rows of a multiplier and a shift, or of a scale"},
    {"seed", 0, "N", "vectors: seed of the rows and networks that are tried"},
    {"as-is", 0, NULL, "diff, matrix: nodes that a scheme's types do not admit are compared too"},
    {NULL, 0, NULL, NULL},
};

const cli_command cli_cmd_scheme = {
    .name = "scheme",
    .usage = "VERB ...",
    .summary = "explain schemes: what they compute, where two differ, one rescale step by step",
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
        "  assay scheme dot nv-hopper-e4m3-f32 --a left.npy --b right.npy -o D.npy\n"
        "  assay scheme try nv-volta-f16-f32 --a 0x3c00,0x8c00,0,0 --b 0x3c00,0x0c00,0,0\n"
        "  assay scheme diff nv-volta-f16-f32 nv-hopper-f16-f32\n"
        "  assay scheme vectors tflite tflite-single xnnpack-qs8 -o rows\n"
        "  assay scheme vectors tflite tflite-single --op add -o network\n",
    .options = options,
    .verbs = verbs,
};
