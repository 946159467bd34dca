/* Reports of an evaluation; see eval.h. */
#include <inttypes.h>
#include <math.h>

#include "interp/cli/eval.h"
#include "interp/cli/json.h"
#include "interp/measure/report.h"

static void print_row(const cli_evaluation *e, FILE *f, const char *what, const assay_accuracy *r)
{
    fprintf(f, "%-28s ", what);
    if (e->labelled && e->judge.maps)
        fprintf(f, "mean IoU %8.4f %%  pixels %8.4f %%  (%" PRId64 " of %" PRId64 ")  ",
                100.0 * r->mean_iou, measure_points(r, 1), r->top[0], r->samples);
    else if (e->labelled && e->judge.tokens)
        fprintf(f, "perplexity %.6g  top-1 %8.4f %%  (%" PRId64 " of %" PRId64 " tokens)  ",
                exp(r->loss), measure_points(r, 1), r->top[0], r->samples);
    else if (e->labelled)
        fprintf(f, "top-1 %8.4f %%  top-5 %8.4f %%  (%" PRId64 " of %" PRId64 ")  ",
                measure_points(r, 1), measure_points(r, 5), r->top[0], r->samples);
    fprintf(f, "outputs %s\n", r->digest);
}

static void print_difference(const cli_evaluation *e, FILE *to)
{
    const assay_accuracy *r = &e->result.other, *f = &e->result.reference;

    if (e->labelled && e->judge.maps)
        fprintf(to, "%-28s mean IoU %+8.4f    pixels %+8.4f    points\n", "difference",
                100.0 * (r->mean_iou - f->mean_iou), measure_points(r, 1) - measure_points(f, 1));
    else if (e->labelled && e->judge.tokens)
        fprintf(to, "%-28s perplexity %+.4f %%  top-1 %+8.4f points\n", "difference",
                100.0 * (exp(r->loss - f->loss) - 1), measure_points(r, 1) - measure_points(f, 1));
    else if (e->labelled)
        fprintf(to, "%-28s top-1 %+8.4f    top-5 %+8.4f    points\n", "difference",
                measure_points(r, 1) - measure_points(f, 1),
                measure_points(r, 5) - measure_points(f, 5));
    fprintf(to, "%-28s SQNR %.2f dB  MSE %.6g", "outputs against float", e->result.output_sqnr,
            e->result.output_mse);
    if (e->result.compared)
        fprintf(to, "  agreement %.4f %%  (%" PRId64 " of %" PRId64 "%s)",
                100.0 * (double)e->result.agree / (double)e->result.compared, e->result.agree,
                e->result.compared,
                e->judge.tokens                          ? " tokens"
                : e->result.compared > e->result.samples ? " pixels"
                                                         : "");
    fprintf(to, "\n");
}

static int write_json(const cli_evaluation *e, const assay_part *whole)
{
    json_t *o = json_object();

    page_json_set(&o, "scheme", page_json_text(e->name));
    measure_eval_json(&o, &e->result, e->twin, e->labelled, &e->judge);
    if (e->labelled && whole->tally[1].truth)
        measure_classes_json(&o, whole);
    return cli_json_write(e->args, o);
}

int cli_evaluation_options(const cli_args *a, cli_evaluation *e)
{
    e->args = a;
    return cli_number(a, "max-drop", INFINITY, 0.0, 1e6, &e->max_drop) &&
                   cli_number(a, "min-sqnr", -INFINITY, -1000, 1000, &e->min_sqnr)
               ? CLI_OK
               : CLI_TROUBLE;
}

int cli_evaluation_judges(const cli_evaluation *e, const char *where, bool merged)
{
    if (cli_has(e->args, "max-drop") && !e->labelled && !e->by_agreement)
        return cli_trouble(
            "%s: no sample has a label that --max-drop could count by; %s, or pass --min-sqnr DB",
            where, merged ? "run 'assay eval' with --labels PATH" : "pass --labels PATH");
    if (cli_has(e->args, "min-sqnr") && !e->twin)
        return cli_trouble("%s: --min-sqnr needs a float twin to compare with; %s --float MODEL "
                           "and --scheme",
                           where, merged ? "run 'assay eval' with" : "pass");
    return CLI_OK;
}

/* The limits that were given; what is beyond one is said. */
static int judge(const cli_evaluation *e, FILE *to)
{
    const double drop = measure_fidelity_drop(&e->result), sqnr = e->result.output_sqnr;

    if (drop > e->max_drop)
        fprintf(to, "FAILED: a drop of %.4f, --max-drop allows %g\n", drop, e->max_drop);
    if (sqnr < e->min_sqnr)
        fprintf(to, "FAILED: an SQNR of %.2f dB, --min-sqnr asks for %g\n", sqnr, e->min_sqnr);
    return drop > e->max_drop || sqnr < e->min_sqnr ? CLI_DIFFERENT : CLI_OK;
}

int cli_evaluation_report(cli_evaluation *e, const assay_part *whole)
{
    FILE *const notes = cli_notes_of(e->args);
    const assay_fidelity *f = &e->result;
    int status = CLI_OK;

    measure_fidelity_of(whole, &e->result);
    e->result.by_agreement = e->by_agreement;
    if (e->twin)
        print_row(e, notes, "float", &f->reference);
    print_row(e, notes, e->name, &f->other);
    if (e->twin)
        print_difference(e, notes);
    fputs(e->contract, notes);
    if (cli_has(e->args, "json"))
        status = write_json(e, whole);
    return status == CLI_OK && e->twin ? judge(e, notes) : status;
}
