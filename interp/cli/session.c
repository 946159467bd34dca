/* Sessions: the model, scheme and profile that most subcommands begin with. */
#include "interp/cli/session.h"

#include <stdlib.h>
#include <string.h>

#include "graph/onnx/export.h"
#include "interp/api/loading.h"
#include "interp/cli/shapes.h"
#include "interp/golden/contract.h"
#include "interp/kernel/kernel.h"
#include "interp/measure/moments.h"
#include "interp/page/column.h"
#include "interp/run/evaluate.h"
#include "interp/run/model.h"
#include "opt/quantize/adapt.h"
#include "opt/quantize/qdq.h"
#include "opt/quantize/units.h"
#include "schemes/node/admit.h"

void cli_report_print(const assay_quantize_report *r, FILE *f)
{
    fprintf(f,
            "%d node%s in integers (%d activation%s fused, %d rescale%s, %d conversion%s), "
            "%d in float\n",
            r->n_integer, page_plural(r->n_integer), r->n_fused, page_plural(r->n_fused),
            r->n_rescale, page_plural(r->n_rescale), r->n_convert, page_plural(r->n_convert),
            r->n_float);
    for (int i = 0; i < r->n_float; i++)
        fprintf(f, "  float: %-28s %-16s %s\n", r->float_node[i].node, r->float_node[i].op,
                r->float_node[i].reason);
    for (int i = 0; i < r->n_weak; i++)
        fprintf(f,
                "  warning: %-26s %-16s predicted SQNR %.1f dB: its input's codes are too coarse "
                "where it is steep; give what computes its input more bits (--precision), or keep "
                "both in float (--keep-float)\n",
                r->weak[i].node, r->weak[i].op, r->weak[i].sqnr);
    if (r->n_gptq > 0)
        fprintf(f, "  weights rounded by GPTQ: %d layer%s\n", r->n_gptq, page_plural(r->n_gptq));
    for (int i = 0; i < r->smoothing.n; i++) {
        const assay_smoothed *s = &r->smoothing.value[i];
        fprintf(f, "  smoothed: %-25s %d channels divided by 2^%d to 2^%d, ", s->value, s->channels,
                s->least, s->greatest);
        if (s->other)
            fprintf(f, "those of %s multiplied: exact in floats\n", s->other);
        else
            fprintf(f, "into %d layer%s: exact in floats\n", s->layers, page_plural(s->layers));
    }
}

/* Are the samples of --dataset read as those of the profile were? Samples that are taken as they
 * are stored, on either side, may have been preprocessed before. */
static int check_preprocessing(const cli_args *a, const assay_graph *g, const assay_profile *p)
{
    const char *then = profile_get_origin(p).preprocessing;
    char stored[ASSAY_PREPROCESS_TEXT], *now = NULL;
    assay_source *source;
    int first, status = CLI_OK;
    assay_error err;

    if (!cli_has(a, "dataset") || !then[0] || g->n_inputs < 1)
        return CLI_OK;
    source = calloc((size_t)g->n_inputs, sizeof *source);
    if (!source)
        return cli_out_of_memory();
    status = cli_sources_find(a, g, source, &first);
    if (status == CLI_OK && cli_sources_preprocess(a, source, g->n_inputs, &err))
        status = cli_failed(&err);
    if (status == CLI_OK && !(now = cli_sources_print(g, source, first)))
        status = cli_out_of_memory();
    dataset_preprocess_print(&(assay_preprocess){0}, stored);
    if (status == CLI_OK && strcmp(then, now) != 0 && strcmp(then, stored) != 0 &&
        strcmp(now, stored) != 0)
        status = cli_trouble(
            "%s: the profile was taken with preprocessing '%s', but %s is read with '%s'",
            cli_value(a, "profile", ""), then, source[first].path, now);
    free(now);
    free(source);
    return status;
}

/* The moments of --dataset's samples, where GPTQ is to round weights. */
static int observe_moments(const cli_args *a, const assay_graph *g, const assay_choices *q,
                           assay_moments **out)
{
    cli_data d = {0};
    assay_error err;
    int status;

    *out = NULL;
    if (!q->options.gptq || strcmp(a->command->name, "quantize") != 0 || !cli_has(a, "dataset"))
        return CLI_OK;
    status = cli_data_open(&d, a, g, "GPTQ");
    if (status == CLI_OK && measure_moments(g, &d.samples, out, &err))
        status = cli_failed(&err);
    cli_data_close(&d);
    return status;
}

/* s->graph becomes the integer network; the float one moves to s->floating. */
static int quantize(cli_session *s, const cli_args *a)
{
    assay_choices q;
    assay_graph *out = NULL;
    assay_moments *moments = NULL;
    assay_error err;
    assay_status status;
    int trouble;

    if (!s->scheme)
        return cli_trouble("--profile quantizes, and that needs --scheme");
    status = profile_load(cli_value(a, "profile", NULL), &s->profile, &err);
    if (status)
        return cli_failed(&err);
    if (profile_complete(s->profile, &err))
        return cli_trouble("%s: %s; 'assay profile merge' joins shards",
                           cli_value(a, "profile", NULL), err.text);
    if (check_preprocessing(a, s->graph, s->profile) != CLI_OK)
        return CLI_TROUBLE;
    if (profile_check(s->profile, s->graph, &err))
        return cli_trouble("%s: %s", cli_value(a, "profile", NULL), err.text);
    trouble = cli_quantize_options(a, &q);
    if (trouble == CLI_OK)
        trouble = observe_moments(a, s->graph, &q, &moments);
    q.options.moments = moments;
    if (trouble == CLI_OK) {
        status =
            quantize_network(s->graph, s->profile, s->scheme, &q.options, &out, &s->report, &err);
        trouble = !status ? CLI_OK : cli_failed(&err);
    }
    assay_choices_free(&q);
    profile_moments_free(moments);
    if (trouble != CLI_OK)
        return trouble;
    s->floating = s->graph;
    s->graph = out;
    if (s->report.n_float)
        fprintf(stderr, "assay: nodes that stay in float: %d; 'assay quantize' lists them\n",
                s->report.n_float);
    return CLI_OK;
}

/* The same for matrix units, whose scales come from the values: without a profile. The patterns of
 * constants are made here, once; but a bundle shows how. */
static int quantize_floats(cli_session *s, bool shows)
{
    assay_graph *out;
    assay_error err;

    if (run_quantize_for_units(s->graph, s->scheme, !shows, &out, &s->report, &err))
        return cli_failed(&err);
    s->floating = s->graph;
    s->graph = out;
    return CLI_OK;
}

/* Products on a matrix unit: the network was made for one. */
static bool has_products(const assay_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->node[i].op == ASSAY_OP_SCALED_MATMUL)
            return true;
    return false;
}

/* What --shape, --fix, --state and --batch say, in texts of `room`. */
static int load_options(const cli_args *a, const char **room, assay_load_options *o)
{
    o->shape = cli_values(a, "shape", &room, &o->n_shapes);
    o->fix = cli_values(a, "fix", &room, &o->n_fixed);
    o->state = cli_values(a, "state", &room, &o->n_states);
    return cli_integer(a, "batch", 0, 1, INT32_MAX, &o->batch) ? CLI_OK : CLI_TROUBLE;
}

static int load_with(const cli_args *a, const char *path, bool canonical,
                     const assay_load_options *o, assay_graph **g)
{
    assay_loading l;
    cli_shapes from_data;
    assay_error err;
    assay_status failed = assay_loading_take(o, &l, &err);
    int status = CLI_OK;

    l.model.sample = cli_shapes_sample(&from_data, a);
    if (!failed)
        failed = (canonical ? run_model_load_canonical : run_model_load)(path, &l.model, g, &err);
    if (!failed)
        status = cli_shapes_check(&from_data, path, *g);
    if (!failed && status == CLI_OK)
        failed = assay_loading_end(&l, path, *g, &err);
    assay_loading_free(&l);
    if (failed)
        return err.text[0] ? cli_failed(&err) : CLI_TROUBLE; /* without words: said already */
    return status;
}

static int load(const cli_args *a, const char *path, bool canonical, bool keep_narrow, bool hybrid,
                assay_graph **g)
{
    const char **room = calloc((size_t)a->n_given + 1, sizeof *room);
    assay_load_options o = {.keep_narrow = keep_narrow, .hybrid = hybrid};
    int status = room ? load_options(a, room, &o) : cli_out_of_memory();

    *g = NULL;
    if (status == CLI_OK)
        status = load_with(a, path, canonical, &o, g);
    if (status != CLI_OK) {
        assay_graph_free(*g);
        *g = NULL;
    }
    free(room);
    return status;
}

int cli_model_load(const cli_args *a, const char *path, bool canonical, assay_graph **g)
{
    return load(a, path, canonical, false, false, g);
}

assay_status cli_group(const cli_args *a, assay_graph *g, const assay_scheme *scheme,
                       assay_quantize_report *report, assay_error *err)
{
    assay_status s = ASSAY_OK;

    if (!run_model_is_onnx(a->positional[0]) || cli_has(a, "literal"))
        return ASSAY_OK;
    if (cli_has(a, "adapt"))
        s = quantize_adapt_parameters(g, scheme, NULL, err);
    return s ? s : quantize_group_qdq(g, scheme, run_has_integer_kernel, report, err);
}

static int group(cli_session *s, const cli_args *a)
{
    assay_error err;

    if (cli_group(a, s->graph, s->scheme, &s->report, &err))
        return cli_failed(&err);
    assay_scheme_caps caps;
    assay_scheme_get_caps(s->scheme, &caps);
    if (s->report.n_float)
        fprintf(stderr,
                "assay: nodes that stay in float: %d; 'assay inspect --scheme' lists them%s\n",
                s->report.n_float,
                caps.power_of_two && !cli_has(a, "adapt") ? "; --adapt makes scales powers of two"
                                                          : "");
    return CLI_OK;
}

/* A network that is quantized already: does the target file offer what is in it? */
static int verify_target(const assay_graph *g, const cli_args *a)
{
    assay_target *t;
    assay_error err;

    if (!cli_has(a, "target"))
        return CLI_OK;
    if (target_read(cli_value(a, "target", ""), &t, &err))
        return cli_failed(&err);
    const assay_status status = target_verify(t, g, &err);
    target_free(t);
    return !status ? CLI_OK : cli_failed(&err);
}

/* Options that nothing would read: how to quantize, without a profile to quantize with, and how to
 * take a quantized network, where one is made. */
static int check_used(const cli_args *a)
{
    static const char *const quantizing[] = {"symmetry",          "qparams-method", "calibration",
                                             "calibrate-weights", "per-tensor",     "keep-float",
                                             "precision",         "integer-io",     "smooth"};
    static const char *const quantized[] = {"adapt", "literal"};
    for (size_t i = 0; i < sizeof quantizing / sizeof *quantizing; i++)
        if (!cli_has(a, "profile") && cli_has(a, quantizing[i]))
            return cli_trouble(
                "%s: --%s says how to quantize a float network, which needs --profile",
                a->command->name, quantizing[i]);
    for (size_t i = 0; i < sizeof quantized / sizeof *quantized; i++)
        if (cli_has(a, "profile") && cli_has(a, quantized[i]))
            return cli_trouble(
                "%s: --%s applies to networks that come quantized, --profile to float ones",
                a->command->name, quantized[i]);
    return CLI_OK;
}

int cli_session_load(cli_session *s, const cli_args *a)
{
    const char *model = a->positional[0], *scheme = cli_value(a, "scheme", NULL);
    assay_error err;

    memset(s, 0, sizeof *s);
    if (check_used(a) != CLI_OK)
        return CLI_TROUBLE;
    if (load(a, model, true, !cli_has(a, "profile"), scheme && !cli_has(a, "profile"), &s->graph) !=
        CLI_OK)
        return CLI_TROUBLE;
    if (cli_has(a, "profile") && run_model_decode(&s->graph, NULL, true, &err))
        return cli_failed(&err);
    if (scheme && assay_scheme_open(scheme, &s->scheme, &err))
        return cli_failed(&err);
    if (s->scheme && s->scheme->mac && !has_products(s->graph))
        return quantize_floats(s, strcmp(a->command->name, "golden") == 0);
    if (run_model_is_quantized(s->graph) &&
        (s->scheme || cli_has(a, "profile") || !run_model_is_float(s->graph))) {
        if (cli_has(a, "profile"))
            return cli_trouble("%s: the network is quantized already; --profile is for float ones",
                               model);
        if (!s->scheme)
            return cli_trouble(
                "%s: the network is quantized; give --scheme, the arithmetic to run it with",
                model);
        const int status = group(s, a);
        return status == CLI_OK ? verify_target(s->graph, a) : status;
    }
    if (cli_has(a, "profile"))
        return quantize(s, a);
    if (s->scheme)
        return cli_trouble("%s: nothing in the network is quantized; give --profile to quantize "
                           "what is float in it under '%s', or no --scheme to run it as it is",
                           model, s->scheme->name);
    return CLI_OK;
}

int cli_check_output(const cli_args *a)
{
    const char *out = cli_value(a, "output", NULL);
    assay_error err;
    return !out || !run_model_check_ending(out, &err) ? CLI_OK : cli_failed(&err);
}

assay_status cli_admits(const cli_args *a, const assay_graph *g, const assay_scheme *s,
                        assay_error *err)
{
    assay_error why;

    if (!assay_scheme_admits_graph(s, g, &why))
        return ASSAY_OK;
    bool adapts = false;
    for (const cli_option *o = a->command->options; o->name; o++)
        adapts |= strcmp(o->name, "adapt") == 0;
    adapts = adapts && !cli_has(a, "adapt") && run_model_is_onnx(a->positional[0]);
    return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                      "%.200s: %.600s; --as-is takes the network all the same%s", a->positional[0],
                      why.text, adapts ? ", --adapt exchanges its parameters" : "");
}

/* A network that came quantized, and what the scheme says that its target holds. */
static int check_types(const cli_session *s, const cli_args *a)
{
    assay_error err;

    if (!s->scheme || s->floating || cli_has(a, "as-is") ||
        !cli_admits(a, s->graph, s->scheme, &err))
        return CLI_OK;
    return cli_failed(&err);
}

int cli_engine_options(const cli_args *a, assay_program_options *o)
{
    const char *engine = cli_value(a, "engine", "ref");
    int64_t threads;

    if (!run_engine_find(engine, &o->engine))
        return cli_trouble("--engine is ref, fast or both, not '%s'", engine);
    if (!cli_integer(a, "node-threads", 1, 1, ASSAY_MAX_THREADS, &threads))
        return CLI_TROUBLE;
    o->threads = (int)threads;
    return CLI_OK;
}

int cli_session_open(cli_session *s, const cli_args *a, bool keep_all)
{
    assay_program_options options = {.keep_all = keep_all, .outputs_only = !keep_all};
    assay_error err;
    int status = cli_session_load(s, a);

    if (status == CLI_OK && cli_has(a, "strict") && s->report.n_float) {
        cli_report_print(&s->report, stdout);
        return CLI_DIFFERENT;
    }
    if (status == CLI_OK)
        status = check_types(s, a);
    if (status == CLI_OK)
        status = cli_engine_options(a, &options);
    if (status == CLI_OK && run_program_make_with(s->graph, s->scheme, &options, &s->program, &err))
        return cli_failed(&err);
    return status;
}

void cli_session_close(cli_session *s)
{
    assay_program_free(s->program);
    quantize_report_free(&s->report);
    profile_free(s->profile);
    assay_scheme_free(s->scheme);
    assay_graph_free(s->floating);
    assay_graph_free(s->graph);
}
