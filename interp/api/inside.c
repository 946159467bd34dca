/* One node of a device from inside: an element worked through, the node as a network of its own. */
#include "graph/memory.h"
#include "interp/api/options.h"
#include "interp/blame/capsule.h"
#include "interp/blame/worked.h"

static assay_status blame_one(const char *golden, const char *device, const char *what,
                              const assay_blame_options *options, blame_report **out,
                              assay_error *err)
{
    blame_options o = {.rel = -1, .threads = 2, .only = what, .work = BLAME_WORK};
    if (options) {
        o.rel = options->rel;
        o.schemes = options->schemes;
        o.n_schemes = options->n_schemes;
        o.threads = options->threads > 0 ? options->threads : 2;
    }
    return blame_run(golden, device, &o, out, err);
}

/* What print functions get: they take one pointer. */
typedef struct shown {
    const blame_report *report;
    const blame_worked *worked;
    const blame_capsule *capsule;
    const char *dir;
} shown;

static void print_worked(FILE *f, const void *what)
{
    const shown *s = what;
    blame_worked_print(s->report, s->worked, f);
}

static void print_capsule(FILE *f, const void *what)
{
    const shown *s = what;
    blame_capsule_print(s->report, s->capsule, s->dir, f);
}

assay_status assay_explain(const char *golden, const char *device, const char *what, int64_t sample,
                           const assay_blame_options *options, char **text, char **json,
                           assay_error *err)
{
    char **const texts[] = {text, json};
    blame_report *r = NULL;
    blame_worked w = {0};
    int64_t element;
    int row;
    assay_status status = blame_one(golden, device, what, options, &r, err);

    if (text)
        *text = NULL;
    if (json)
        *json = NULL;
    if (!status)
        status = blame_parse_element(r, what, &row, &element, err);
    if (!status)
        status = blame_work(r, row, sample < 0 ? -1 : sample, element, &w, err);
    const shown s = {.report = r, .worked = &w};
    if (!status)
        status = assay_text_of(print_worked, &s, text, err);
    if (!status && json)
        status = assay_text_of_json(blame_worked_json(r, &w), json, err);
    blame_worked_free(&w);
    blame_free(r);
    return assay_texts_end(status, texts, 2);
}

assay_status assay_capsule(const char *golden, const char *device, const char *node,
                           const char *dir, const assay_blame_options *options, char **text,
                           char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    blame_report *r = NULL;
    blame_capsule c;
    assay_status status = blame_one(golden, device, node, options, &r, err);

    if (text)
        *text = NULL;
    if (json)
        *json = NULL;
    const int row = status ? -1 : blame_find_row(r, node);
    if (!status && row < 0)
        status = assay_fail(err, ASSAY_ERR_INPUT, "%s: no node or tensor of a node is '%.200s'",
                            golden, node);
    if (!status)
        status = blame_capsule_write(r, row, dir, &c, err);
    const shown s = {.report = r, .capsule = &c, .dir = dir};
    if (!status)
        status = assay_text_of(print_capsule, &s, text, err);
    if (!status && json)
        status = assay_text_of_json(blame_capsule_json(r, &c), json, err);
    blame_free(r);
    return assay_texts_end(status, texts, 2);
}
