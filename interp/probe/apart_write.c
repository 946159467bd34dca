/* The nodes that tell schemes apart as a folder of probes, and what each scheme answers; see
 * apart.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/probe/apart.h"
#include "interp/probe/folder.h"

const char *probe_apart_name(int node, char text[16])
{
    snprintf(text, 16, "apart%d", node);
    return text;
}

static void prefix_of(int node, char text[17])
{
    char name[16];
    snprintf(text, 17, "%s_", probe_apart_name(node, name));
}

static assay_status fill(probe_folder *w, void *user, assay_error *err)
{
    const probe_apart *x = user;
    probe_net net = {.types = w->types, .err = err};
    char prefix[17];
    assay_status status = assay_graph_new(x->network->name, &net.graph, err);
    for (int i = 0; i < x->n && !status; i++) {
        prefix_of(i, prefix);
        probe_copy_node(&net, &x->found[i].item[0].node, prefix);
        status = net.status;
    }
    if (!status)
        status = probe_net_end(&net);
    if (!status)
        status = probe_folder_add(w, x->network->name, &net, &net, err);
    assay_graph_free(net.graph);
    return status;
}

static void say_nothing(void *user, const char *op, const char *missing, const char *scheme)
{
    (void)user, (void)op, (void)missing, (void)scheme;
}

/* Folder `part` in `path`. */
static assay_status enter(char *path, size_t size, const char *part, assay_error *err)
{
    const size_t used = strlen(path);
    if ((size_t)snprintf(path + used, size - used, "/%s", part) >= size - used)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", path);
    for (char *p = path + used + 1; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
            *p = '_';
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_IO, "%.300s: %s", path, strerror(errno));
}

/* What a scheme gives; a node that it refuses has no file. */
static assay_status write_answers(const probe_apart *x, const char *dir, size_t s, assay_error *err)
{
    char path[4096], file[4096 + 128];
    snprintf(path, sizeof path, "%.3000s", dir);
    assay_status status = enter(path, sizeof path, "expected", err);
    if (!status)
        status = enter(path, sizeof path, x->scheme[s]->name, err);
    if (!status)
        status = enter(path, sizeof path, x->network->name, err);
    for (int i = 0; i < x->n && !status; i++) {
        const blame_case *c = &x->found[i].item[0].node;
        char prefix[17];
        void *out;
        prefix_of(i, prefix);
        snprintf(file, sizeof file, "%s/%s%.80s.npy", path, prefix, c->out_name);
        status = probe_apart_run(x, s, i, &out, err);
        if (!status && out)
            status = golden_dump_npy(file, &c->out, out, err);
        free(out);
    }
    return status;
}

assay_status probe_apart_write(const probe_apart *x, const char *dir, size_t n, assay_error *err)
{
    probe_folder w = {
        .types = x->types, .seed = x->seed, .scheme = x->scheme[0], .told = say_nothing};
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/networks", dir);
    assay_status status = probe_folder_write(&w, path, fill, (void *)(uintptr_t)x, err);
    for (size_t s = 0; s < n && !status; s++)
        status = write_answers(x, dir, s, err);
    return status;
}
