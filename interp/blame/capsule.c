/* Capsules: the smallest cut of a faulty node that shows its fault; see capsule.h. */
#include "interp/blame/capsule_parts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/memory.h"
#include "interp/page/column.h"

/* The element at the centre, `reach` positions to either side along each axis that can be cut;
 * channels have a reach of their own. Less than 0: all. */
static blame_cut cut_around(const blame_capsule_parts *c, unsigned axes, int channel_axis,
                            int64_t reach, int64_t channels)
{
    const assay_type *t = blame_capsule_type(c);
    int64_t rest = c->element;
    blame_cut cut;
    for (int k = t->rank - 1; k >= 0; k--) {
        const int64_t at = rest % t->dim[k], far = k == channel_axis ? channels : reach;
        const bool whole = far < 0 || !(axes >> k & 1);
        rest /= t->dim[k];
        cut.first[k] = whole || at < far ? 0 : at - far;
        cut.end[k] = whole || at + far + 1 > t->dim[k] ? t->dim[k] : at + far + 1;
    }
    return cut;
}

/* ---- the smallest that shows it ---- */

static const char *const parts[] = {"golden",    "device",      "node.assay", "node.assay.d",
                                    "node.onnx", "node.tflite", "README.md"};
enum { N_PARTS = sizeof parts / sizeof *parts };

static void clear(const blame_capsule_parts *c)
{
    char path[BLAME_CAPSULE_PATH];
    for (int i = 0; i < N_PARTS; i++) {
        blame_capsule_join(c, parts[i], path);
        file_remove_tree(path);
    }
}

/* Blames the capsule as it is; *shows: it shows what it is to show. */
static assay_status judge(const blame_capsule_parts *c, bool *shows, assay_error *err)
{
    const blame_options o = {.threads = 1, .rel = c->r->rel, .work = BLAME_WORK};
    char golden[BLAME_CAPSULE_PATH], device[BLAME_CAPSULE_PATH];
    blame_report *r;
    blame_capsule_join(c, "golden", golden);
    blame_capsule_join(c, "device", device);
    assay_status status = blame_run(golden, device, &o, &r, err);
    *shows = false;
    if (status)
        return status;
    if (r->n_faults > 0) {
        const blame_fault *f = &r->fault[0];
        *shows = !c->class || strcmp(f->class, c->class) == 0;
        snprintf(c->out->class, sizeof c->out->class, "%s", f->class);
        c->out->elements = f->elements;
        c->out->differing = f->differing;
    }
    blame_free(r);
    return status;
}

/* The samples that are taken: the one, or all whose output was dumped. */
static int samples_of(const blame_capsule_parts *c, int *sample)
{
    int n = 0;
    for (int k = 0; k < c->r->device.n_samples; k++)
        if (k == c->sample ||
            (c->all_samples && blame_at(&c->r->device, k, c->r->row[c->row].value)->device))
            sample[n++] = k;
    return n;
}

static assay_status try_cut(const blame_capsule_parts *c, const blame_cut *cut, bool *shows,
                            assay_error *err)
{
    int *sample = calloc((size_t)c->r->device.n_samples + 1, sizeof *sample);
    if (!sample)
        return assay_out_of_memory(err);
    const int n = samples_of(c, sample);
    clear(c);
    c->out->cut = *cut;
    c->out->samples = n;
    c->out->tries++;
    assay_status status = blame_capsule_golden(c, cut, sample, n, err);
    if (!status)
        status = blame_capsule_device(c, cut, sample, err);
    if (!status)
        status = judge(c, shows, err);
    free(sample);
    return status;
}

enum { MAX_TRIES = 16 }; /* from which on the smallest so far is taken */

/* Reaches along the other axes and along channels, the smallest first. */
static const struct {
    int64_t reach, channels;
} sizes[] = {{0, 0}, {0, 1}, {1, 0},  {1, 1},   {3, 1},  {3, 3},
             {7, 1}, {7, 7}, {-1, 1}, {15, 15}, {-1, -1}};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Halves an axis from either side as long as it shows. */
static assay_status trim_axis(const blame_capsule_parts *c, int axis, blame_cut *best, bool *last,
                              assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (bool shows = true; shows && best->end[axis] - best->first[axis] > 1;) {
        if (c->out->tries >= MAX_TRIES)
            break;
        const int64_t half = (best->end[axis] - best->first[axis] + 1) / 2;
        shows = false;
        for (int side = 0; side < 2 && !shows && !status; side++) {
            blame_cut cut = *best;
            if (side == 0)
                cut.end[axis] -= half;
            else
                cut.first[axis] += half;
            status = try_cut(c, &cut, &shows, err);
            *best = shows ? cut : *best;
            *last = shows;
        }
    }
    return status;
}

static assay_status trim(const blame_capsule_parts *c, unsigned axes, blame_cut *best,
                         assay_error *err)
{
    assay_status status = ASSAY_OK;
    bool last = true; /* what was tried last is the best */
    for (int k = 0; k < blame_capsule_type(c)->rank && !status; k++)
        if (axes >> k & 1)
            status = trim_axis(c, k, best, &last, err);
    return !status && !last ? try_cut(c, best, &last, err) : status;
}

static int channel_axis_of(const blame_capsule_parts *c)
{
    const assay_node *n = blame_capsule_node(c);
    const bool first = (assay_op_get(n->op)->traits & ASSAY_T_LAYOUT) &&
                       n->attr.layout.layout == ASSAY_LAYOUT_NCHW &&
                       blame_capsule_type(c)->rank > 2;
    return first ? 1 : blame_capsule_type(c)->rank - 1;
}

static assay_status shrink(const blame_capsule_parts *c, assay_error *err)
{
    assay_arena *arena = assay_arena_new();
    const assay_type *t = blame_capsule_type(c);
    blame_case whole;
    blame_cut cut, last = {.end = {-1}};
    bool shows = false;
    assay_status status = arena ? ASSAY_OK : assay_out_of_memory(err);
    if (!status)
        blame_case_fill(&whole, c->r->device.graph, blame_capsule_node(c), c->r->device.scheme,
                        (const void *[BLAME_IN]){NULL}, arena);
    const unsigned axes = !status ? blame_case_axes(&whole) : 0;
    /* What is wrong with the order of elements shows in many of them. */
    const bool is_order = c->class && strcmp(c->class, "output.layout") == 0;
    for (int i = is_order ? N_SIZES - 3 : 0; i < N_SIZES && !status && !shows; i++) {
        cut = cut_around(c, axes, channel_axis_of(c), sizes[i].reach, sizes[i].channels);
        const size_t used = (size_t)t->rank * sizeof cut.first[0];
        if (memcmp(cut.first, last.first, used) != 0 || memcmp(cut.end, last.end, used) != 0)
            status = try_cut(c, &cut, &shows, err);
        last = cut;
    }
    if (!status && shows)
        status = trim(c, axes, &cut, err);
    assay_arena_free(arena);
    return status;
}

/* ---- the folder ---- */

static void print_readme(FILE *f, const void *what)
{
    const blame_capsule_parts *c = what;
    const blame_capsule *o = c->out;
    const blame_device *d = &c->r->device;
    fprintf(f, "# One node of %s at fault: %s (%s)\n\n", d->graph->name,
            blame_capsule_node(c)->name, assay_op_get(blame_capsule_node(c)->op)->name);
    fprintf(f, "Of its output");
    for (int k = 0; k < blame_capsule_type(c)->rank; k++)
        fprintf(f, "%s%" PRId64 "..%" PRId64, k ? ", " : " [", o->cut.first[k], o->cut.end[k] - 1);
    fprintf(f, "], %d sample%s, %" PRId64 " of %" PRId64 " elements differ: %s.\n\n", o->samples,
            page_plural(o->samples), o->differing, o->elements, o->class);
    fprintf(f, "Reproduced in this folder by\n\n    assay blame golden device");
    if (c->r->rel >= 0)
        fprintf(f, " --rel %g", c->r->rel);
    fprintf(f, "\n\n");
    fprintf(f,
            "`golden/` is a golden bundle of the node alone (scheme %s), on the device's own "
            "inputs; `device/` what the\ndevice gave. `node.assay`, `node.onnx`, `node.tflite`: "
            "the network, in the forms that can hold it%s%s.\n",
            d->scheme ? d->scheme->name : "none", o->missing[0] ? "; not in " : "", o->missing);
}

/* A folder that holds nothing but what a capsule does, as one that was left half written. */
static bool is_partial(const char *folder)
{
    DIR *dir = opendir(folder);
    bool ours = dir != NULL;
    for (struct dirent *e; ours && (e = readdir(dir));) {
        ours = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        for (int i = 0; i < N_PARTS && !ours; i++)
            ours = strncmp(e->d_name, parts[i], strlen(parts[i])) == 0;
    }
    if (dir)
        closedir(dir);
    return ours;
}

static assay_status choose(blame_capsule_parts *c, assay_error *err)
{
    const blame_report *r = c->r;
    const blame_row *row = &r->row[c->row];
    for (int k = 0; k < r->device.n_samples; k++) {
        const blame_tensor *at = blame_at(&r->device, k, row->value);
        const size_t width = assay_elem_size(blame_capsule_type(c)->elem);
        for (int64_t i = 0; at->device && i < assay_shape_count(blame_capsule_type(c)); i++)
            if ((!at->mask || at->mask[i]) &&
                memcmp((char *)at->device + (size_t)i * width,
                       (char *)at->replayed + (size_t)i * width, width) != 0) {
                c->sample = k;
                c->element = i;
                return ASSAY_OK;
            }
    }
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "node '%s': no element differs from its replay: there is no fault of its own "
                      "to put in a capsule",
                      blame_capsule_node(c)->name);
}

static assay_status write_all(blame_capsule_parts *c, const char *dir, assay_error *err)
{
    assay_partial partial;
    char path[BLAME_CAPSULE_PATH];
    assay_status status = file_new_folder(dir, is_partial, &partial, err);
    if (status)
        return status;
    snprintf(c->dir, sizeof c->dir, "%s", partial.path);
    status = shrink(c, err);
    blame_capsule_join(c, "README.md", path);
    if (!status)
        status = file_print(path, print_readme, c, err);
    return file_new_folder_end(&partial, dir, status, err);
}

assay_status blame_capsule_write(const blame_report *r, int row, const char *dir,
                                 blame_capsule *out, assay_error *err)
{
    blame_capsule_parts c = {.r = r, .out = out, .row = row};
    *out = (blame_capsule){.row = row};
    const assay_node *n = blame_capsule_node(&c);
    if (!blame_case_can(n))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "node '%s' (%s) cannot stand as a network of its own", n->name,
                          assay_op_get(n->op)->name);
    for (int i = r->n_faults - 1; i >= 0; i--)
        if (r->fault[i].row == row && strcmp(r->fault[i].class, "unexplained") != 0)
            c.class = r->fault[i].class;
    c.all_samples = c.class && strcmp(c.class, "stale.sample") == 0;
    const assay_status status = choose(&c, err);
    return status ? status : write_all(&c, dir, err);
}
