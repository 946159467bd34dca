/* A network in text form, optimized, and checks of the result. */
#include "test/support/rewrite_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/text/text.h"
#include "interp/run/evaluate.h"
#include "interp/run/program.h"
#include "opt/check/proof.h"
#include "opt/target/target.h"

static void keep_line(void *user, const char *line)
{
    assay_buf_printf(user, "%s\n", line);
}

rewrite_outcome rewrite_graph(const char *scheme, assay_graph *g,
                              const assay_optimize_options *given)
{
    rewrite_outcome o = {.before = g};
    assay_error err;
    assay_optimize_options options = *given;
    options.run = run_whole_graph;
    options.log = keep_line;
    options.user = &o.log;
    assert_ok(assay_scheme_open(scheme, &o.scheme, &err), &err);
    assert_ok(assay_graph_clone(o.before, &o.after, &err), &err);
    assert_ok(rewrite_optimize(o.after, o.scheme, &options, &o.report, &err), &err);
    assert_ok(text_graph_print(o.after, NULL, &o.text, &err), &err);
    return o;
}

rewrite_outcome rewrite_with(const char *scheme, const char *text,
                             const assay_optimize_options *given)
{
    assay_graph *g;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "text", NULL, &g, &err), &err);
    return rewrite_graph(scheme, g, given);
}

rewrite_outcome rewrite_run(const char *scheme, const char *text)
{
    return rewrite_with(scheme, text, &(assay_optimize_options){0});
}

rewrite_outcome rewrite_preferring(const char *scheme, const char *prefer, const char *network)
{
    char text[200];
    assay_target *target;
    assay_error err;
    int n = snprintf(text, sizeof text, "target: npu\nothers: {types: [i8, u8]}\nprefer: {%s}\n",
                     prefer);
    assert_ok(target_parse("npu.yaml", text, (size_t)n, &target, &err), &err);
    rewrite_outcome o = rewrite_with(scheme, network, &(assay_optimize_options){.target = target});
    target_free(target);
    return o;
}

void rewrite_finish(rewrite_outcome *o)
{
    assay_buf_free(&o->log);
    assay_buf_free(&o->text);
    assay_buf_free(&o->report.certificate);
    assay_graph_free(o->before);
    assay_graph_free(o->after);
    assay_scheme_free(o->scheme);
}

static void *random_data(test_rng *r, const assay_type *t, int trial)
{
    size_t n = (size_t)assay_shape_count(t);
    void *data = calloc(n + 1, assay_elem_size(t->elem));
    for (size_t i = 0; i < n; i++)
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = (float)((test_unit(r) - 0.5) * (trial ? 20 : 2000));
        else
            assay_elem_set(t->elem, data, i,
                           trial ? test_between(r, assay_elem_min(t->elem), assay_elem_max(t->elem))
                           : test_random(r) & 1 ? assay_elem_min(t->elem)
                                                : assay_elem_max(t->elem));
    return data;
}

/* Greatest difference of dequantized values, in codes; floats from elsewhere must be equal. */
static int64_t float_difference(const assay_graph *g, int value, const float *a, const float *b)
{
    const assay_value *v = &g->value[value];
    const assay_node *n = v->producer >= 0 ? &g->node[v->producer] : NULL;
    double worst = 0, scale = 1e-30;
    if (n && n->op == ASSAY_OP_DEQUANTIZE)
        scale = (double)g->value[n->in[0]].type.q.scale[0];
    for (size_t i = 0; i < (size_t)assay_shape_count(&v->type); i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return (int64_t)fmin(round(worst / scale), 1e15);
}

/* Greatest difference of one output's elements. */
static int64_t difference(const assay_graph *g, int value, const void *a, const void *b)
{
    const assay_type *t = &g->value[value].type;
    int64_t worst = 0;
    if (t->elem.kind == ASSAY_KIND_F32)
        return float_difference(g, value, a, b);
    for (size_t i = 0; i < (size_t)assay_shape_count(t); i++) {
        int64_t d = assay_elem_get(t->elem, a, i) - assay_elem_get(t->elem, b, i);
        d = d < 0 ? -d : d;
        worst = d > worst ? d : worst;
    }
    return worst;
}

int64_t rewrite_worst_difference(const rewrite_outcome *o, test_rng *r, int trials)
{
    int64_t worst = 0;
    for (int trial = 0; trial < trials; trial++) {
        void *in[8], *a[16], *b[16];
        assay_error err;
        for (int i = 0; i < o->before->n_inputs; i++)
            in[i] = random_data(r, &o->before->value[o->before->input[i]].type, trial);
        for (int i = 0; i < o->before->n_outputs; i++) {
            size_t bytes = assay_type_bytes(&o->before->value[o->before->output[i]].type);
            a[i] = malloc(bytes + 1);
            b[i] = malloc(bytes + 1);
        }
        assert_ok(run_whole_graph(o->before, o->scheme, (const void *const *)in, a, &err), &err);
        assert_ok(run_whole_graph(o->after, o->scheme, (const void *const *)in, b, &err), &err);
        for (int i = 0; i < o->before->n_outputs; i++) {
            int64_t d = difference(o->before, o->before->output[i], a[i], b[i]);
            worst = d > worst ? d : worst;
            free(a[i]);
            free(b[i]);
        }
        for (int i = 0; i < o->before->n_inputs; i++)
            free(in[i]);
    }
    return worst;
}

void rewrite_engines_agree(const rewrite_outcome *o, test_rng *r, int trials)
{
    const assay_program_options options = {.engine = ASSAY_ENGINE_BOTH};
    assay_program *p;
    assay_run *run;
    assay_error err;
    assert_ok(run_program_make_with(o->after, o->scheme, &options, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int trial = 0; trial < trials; trial++) {
        for (int i = 0; i < o->after->n_inputs; i++) {
            const assay_type *t = &o->after->value[o->after->input[i]].type;
            void *in = random_data(r, t, trial);
            memcpy(assay_run_data(run, o->after->input[i]), in, assay_type_bytes(t));
            free(in);
        }
        assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
    }
    assay_run_free(run);
    assay_program_free(p);
}

/* The test fails; standard error has the network whole, which a message would cut short. */
static void fail_network(const rewrite_outcome *o, const char *what)
{
    assay_buf before = {0};
    assay_error unused;
    text_graph_print(o->before, NULL, &before, &unused);
    fprintf(stderr, "scheme %s\n%s\n%s\n%s\n", o->scheme->name, before.text, o->log.text,
            o->text.text);
    assay_buf_free(&before);
    fail_msg("%s", what);
}

void rewrite_same_bits(const rewrite_outcome *o, test_rng *r, int trials)
{
    if (rewrite_worst_difference(o, r, trials) != 0)
        fail_network(o, "outputs differ");
}

static void check_with(const rewrite_outcome *o, const assay_proof_networks *networks)
{
    assay_proof_report r;
    assay_error err;
    const assay_buf *text = &o->report.certificate;
    if (check_proof(text->text, text->length, "cert", networks, &r, &err) != ASSAY_OK)
        fail_network(o, err.text);
    assert_int_equal(r.steps, o->report.applied);
}

void rewrite_certified(const rewrite_outcome *o)
{
    assay_graph *again; /* the result as its text gives it back */
    assay_error err;
    check_with(o, &(assay_proof_networks){.plugin = o->scheme});
    check_with(o, &(assay_proof_networks){o->before, o->after, o->scheme});
    assert_ok(text_graph_parse(o->text.text, o->text.length, "text", NULL, &again, &err), &err);
    check_with(o, &(assay_proof_networks){o->before, again, o->scheme});
    assay_graph_free(again);
}

void rewrite_has(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text ? text : "(nothing)");
}

void rewrite_lacks(const char *text, const char *part)
{
    if (text && strstr(text, part))
        fail_msg("'%s' is in:\n%s", part, text);
}

/* One rule on one network: exact, and with the line of text that it must leave behind. */
void rewrite_expect_exact(const char *scheme, const char *in, const char *log, const char *out,
                          const char *gone)
{
    test_rng r = test_seed("expect_exact", 1);
    rewrite_outcome o = rewrite_run(scheme, in);
    rewrite_has(o.log.text, log);
    rewrite_has(o.log.text, "exact");
    rewrite_has(o.text.text, out);
    rewrite_lacks(o.text.text, gone);
    rewrite_same_bits(&o, &r, 4);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

/* Nothing applies, and the log gives the reason. */
void rewrite_expect_refused(const char *scheme, const char *in, const char *rule,
                            const char *counterexample)
{
    rewrite_outcome o = rewrite_run(scheme, in);
    assert_int_equal(o.report.applied, 0);
    assert_true(o.report.refused > 0);
    rewrite_has(o.log.text, rule);
    rewrite_has(o.log.text, "refused");
    rewrite_has(o.log.text, counterexample);
    rewrite_finish(&o);
}

const assay_rule *rewrite_rule(const char *name)
{
    size_t n;
    const assay_rule *rules = rewrite_rules(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    fail_msg("no rule %s", name);
    return NULL;
}

assay_status rewrite_with_data(const char *base, assay_graph *g, const assay_match *m,
                               const assay_rule_image *image, const void *data, assay_error *err)
{
    assay_match other = *m;
    other.data = data;
    return rewrite_rule(base)->rewrite(g, &other, image, err);
}

bool rewrite_first_two(const assay_graph *g, const int *uses, assay_match *m)
{
    (void)uses;
    m->n_upper = 1;
    m->upper[0] = 0;
    m->slot[0] = -1;
    return m->lower == 1 && g->node[0].op == g->node[1].op;
}

assay_node *rewrite_find(assay_graph *g, assay_op op)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->node[i].op == op)
            return &g->node[i];
    return NULL;
}

void rewrite_catches(const rewrite_mutant *mutants, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assay_rule rule = *rewrite_rule(mutants[i].base);
        rule.bounds = false;
        rule.preference = 0;
        rule.obligation = mutants[i].obligation;
        if (mutants[i].matches)
            rule.matches = mutants[i].matches;
        if (mutants[i].rewrite)
            rule.rewrite = mutants[i].rewrite;
        rewrite_outcome o = rewrite_with("tflite", mutants[i].text,
                                         &(assay_optimize_options){.rule = &rule, .n_rules = 1});
        if (o.report.applied || !o.report.refused)
            fail_msg("mutant '%s' got through: %s\n%s", mutants[i].what,
                     o.log.text ? o.log.text : "no match", o.text.text);
        if (!strstr(o.log.text, "became") && !strstr(o.log.text, "changes the type"))
            fail_msg("mutant '%s' without a counterexample: %s", mutants[i].what, o.log.text);
        rewrite_finish(&o);
    }
    print_message("# %zu mutants\n", n);
}
