/* Measures by node as Google's Model Explorer takes them. Its form of "node data" (GraphNodeData of
 * google-ai-edge/model-explorer, src/server/package/src/model_explorer/node_data_builder.py):
 * {"results": {KEY: {"value": number or text, "bgColor": CSS colour}}}, where KEY is the name of a
 * tensor that the node makes. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "interp/page/html.h"
#include "interp/report/measure.h"

static const char *const colours[REPORT_GRADES] = {PAGE_C0, PAGE_C1, PAGE_C2,
                                                   PAGE_C3, PAGE_C4, PAGE_C5};

/* Infinite ratios have no number in JSON: such nodes are left out. */
static json_t *result_of(const report *r, const report_chapter *c, const report_node *node, int m)
{
    char text[64];
    double number;
    const int grade = report_measure_of(r, c, node, m, text, sizeof text);
    const bool counts = report_measure_number(r, c, node, m, &number);
    json_t *o = json_object();
    page_json_set(&o, "value", counts ? page_json_number(number) : json_string(text));
    if (grade >= 0)
        page_json_set(&o, "bgColor", json_string(colours[grade]));
    if (*text == 0 || json_is_null(json_object_get(o, "value"))) {
        json_decref(o);
        return NULL;
    }
    return o;
}

static json_t *data_of(const report *r, const report_chapter *c, int m)
{
    json_t *o = json_object(), *results = json_object();
    for (int i = 0; i < c->n_nodes; i++) {
        json_t *result = result_of(r, c, &c->node[i], m);
        if (result)
            page_json_set(&results, c->node[i].output, result);
    }
    page_json_set(&o, "results", results);
    return o;
}

/* "SQNR of diff, dB" -> DIR/sqnr_of_diff_db.json */
static assay_status write_measure(const report *r, const report_chapter *c, int m, const char *dir,
                                  assay_error *err)
{
    char path[4200];
    size_t n = (size_t)snprintf(path, sizeof path, "%.4000s/", dir);
    bool apart = false;
    for (const char *p = report_measures[m].name; *p; p++) {
        if (isalnum((unsigned char)*p)) {
            n += (size_t)snprintf(path + n, sizeof path - n, "%s%c", apart ? "_" : "",
                                  tolower((unsigned char)*p));
            apart = false;
        } else {
            apart = true;
        }
    }
    snprintf(path + n, sizeof path - n, ".json");
    json_t *o = data_of(r, c, m);
    const assay_status status = page_json_write(path, o, err);
    json_decref(o);
    return status;
}

/* A folder that a killed run left: nothing but such files. */
static bool is_ours(const char *folder)
{
    DIR *d = opendir(folder);
    bool ours = d != NULL;
    for (const struct dirent *e; ours && (e = readdir(d));) {
        const char *end = strrchr(e->d_name, '.');
        ours = *e->d_name == '.' || (end && strncmp(end, ".json", 5) == 0);
    }
    if (d)
        closedir(d);
    return ours;
}

assay_status report_write_explorer(const report *r, const char *dir, assay_error *err)
{
    assay_partial partial = ASSAY_PARTIAL_NONE;
    const report_chapter *c = NULL;
    int n = 0;
    for (int i = r->n - 1; i >= 0; i--)
        c = r->chapter[i].source.bundle ? &r->chapter[i] : c;
    for (int m = 0; c && m < report_n_measures; m++)
        n += report_measure_says(r, c, m);
    if (n == 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          c ? "%s: nothing is said of the nodes of this bundle"
                            : "%s: measures by node need a golden bundle among the files",
                          c ? c->source.path : dir);
    assay_status status = report_check_place(r, dir, err);
    if (!status)
        status = file_new_folder(dir, is_ours, &partial, err);
    for (int m = 0; m < report_n_measures && !status; m++)
        if (report_measure_says(r, c, m))
            status = write_measure(r, c, m, partial.path, err);
    return file_new_folder_end(&partial, dir, status, err);
}
