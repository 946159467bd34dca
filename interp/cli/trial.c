/* Trials of a quantization: what `sensitivity` and `tune` open before and close after. */
#include <unistd.h>

#include "interp/cli/session.h"

static int open_trial(cli_session *s, cli_data *d, assay_choices *q, const cli_args *a,
                      assay_trial *t)
{
    assay_judge judge;
    bool labelled;
    int status;

    if (!cli_has(a, "profile") || !cli_has(a, "scheme") || !cli_has(a, "dataset"))
        return cli_trouble("%s: --profile, --scheme and --dataset are needed", a->command->name);
    status = cli_session_load(s, a);
    if (status == CLI_OK)
        status = cli_quantize_options(a, q);
    if (status == CLI_OK && q->options.integer_io)
        status = cli_trouble("%s: --integer-io cannot be evaluated, as the samples are floats",
                             a->command->name);
    if (status == CLI_OK)
        status = cli_data_open(d, a, s->floating, a->command->name);
    if (status != CLI_OK)
        return status;
    if (s->floating->n_outputs > 0)
        status = cli_data_judge(d, &s->floating->value[s->floating->output[0]], &judge, &labelled);
    *t = (assay_trial){.floating = s->floating,
                       .profile = s->profile,
                       .scheme = s->scheme,
                       .options = &q->options,
                       .samples = &d->samples,
                       .threads = d->threads};
    return status;
}

/* A bar for each trial, where there is a terminal. */
static void sample_done(void *user)
{
    cli_data *d = user;
    cli_progress *p = &d->progress;
    cli_progress_step(p);
    if (p->done < p->total)
        return;
    cli_progress_end(p);
    cli_progress_begin(p, p->what, p->total, p->quiet);
}

int cli_trial_run(const cli_args *a, bool by_sample,
                  int (*judge)(const cli_args *a, const assay_trial *t))
{
    cli_session s = {0};
    cli_data d = {0};
    assay_choices q = {0};
    assay_trial trial;
    int status = open_trial(&s, &d, &q, a, &trial);

    d.samples.done = by_sample && isatty(STDERR_FILENO) ? sample_done : NULL;
    if (status == CLI_OK)
        status = judge(a, &trial);
    cli_data_close(&d);
    assay_choices_free(&q);
    cli_session_close(&s);
    return status;
}
