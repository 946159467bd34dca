/* Entry of a profile that serves a value of a graph, and the fit of a profile to a graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/core/digest.h"
#include "graph/memory.h"
#include "opt/profile/state.h"

/* ---- the entry of a value ---- */

/* Its one output holds just the elements of its one input, each as often: once, or as copies, which
 * are none and no node where they are over a batch of one. */
static bool only_rearranges(const assay_graph *g, const assay_node *n)
{
    const bool copies = n->op == ASSAY_OP_EXPAND || n->op == ASSAY_OP_TILE;
    return (assay_op_get(n->op)->traits & ASSAY_T_MOVE) && n->n_in == 1 && n->n_out == 1 &&
           (copies || assay_shape_count(&g->value[n->in[0]].type) ==
                          assay_shape_count(&g->value[n->out[0]].type));
}

#define FARTHEST 16 /* rearrangements between a value and one with an entry */

static const assay_profile_entry *find(const assay_profile *p, const assay_graph *g, int v,
                                       int came_by, int left)
{
    const assay_profile_entry *e = profile_find(p, g->value[v].name);
    for (int i = 0; i < g->n_nodes && !e && left > 0; i++) {
        const assay_node *n = &g->node[i];
        if (i == came_by || !only_rearranges(g, n))
            continue;
        if (n->in[0] == v)
            e = find(p, g, n->out[0], i, left - 1);
        else if (n->out[0] == v)
            e = find(p, g, n->in[0], i, left - 1);
    }
    return e;
}

const assay_profile_entry *profile_entry_of(const assay_profile *p, const assay_graph *g, int v)
{
    return find(p, g, v, -1, FARTHEST);
}

/* ---- fitness for a graph ---- */

typedef struct name_list {
    int n;
    char text[200];
} name_list;

/* Appends 'name', or '...' behind the last that has room. */
static void list_name(name_list *l, const char *name)
{
    const size_t used = strlen(l->text), room = sizeof l->text - used;
    const bool was_full = l->n > 0 && used > 0 && l->text[used - 1] == '.';
    l->n++;
    if (was_full)
        return;
    const bool fits = l->n <= 4 && strlen(name) + 10 < room;
    snprintf(l->text + used, room, "%s%s%s%s", used > 0 ? ", " : "", fits ? "'" : "",
             fits ? name : "...", fits ? "'" : "");
}

/* Values of g by what the profile has of them, and what g has not. */
typedef struct fitness {
    name_list missing, unseen, differing, foreign;
} fitness;

static bool is_in(const assay_graph *g, const assay_profile_entry *e)
{
    const int v = assay_graph_find_value(g, e->name);
    return v >= 0 && profile_is_profiled(&g->value[v]);
}

/* Whether a value of g was seen to hold the very elements of e: the other lowering rearranges them.
 */
static bool has_twin_in(const assay_profile *p, const assay_graph *g, const assay_profile_entry *e)
{
    for (int i = 0; i < p->n_entries; i++) {
        const assay_profile_entry *o = &p->entry[i];
        if (o != e && o->lineage == e->lineage && profile_histogram_equal(&o->seen, &e->seen) &&
            is_in(g, o))
            return true;
    }
    return false;
}

/* Whether a value of g was profiled under another lineage. */
static bool differs(const assay_profile *p, const assay_graph *g, const uint64_t *lineage)
{
    for (int v = 0; v < g->n_values; v++) {
        const assay_profile_entry *e =
            profile_is_profiled(&g->value[v]) ? profile_entry_of(p, g, v) : NULL;
        if (e && e->lineage != lineage[v])
            return true;
    }
    return false;
}

/* lineage: of every value in each form, those of older versions after today's. */
static bool has_lineage(const assay_graph *g, const uint64_t *lineage, int v, uint64_t of)
{
    for (int form = 0; form < ASSAY_LINEAGE_FORMS; form++)
        if (lineage[form * g->n_values + v] == of)
            return true;
    return false;
}

static void look(const assay_profile *p, const assay_graph *g, const uint64_t *lineage, fitness *f)
{
    for (int v = 0; v < g->n_values; v++) {
        if (!profile_is_profiled(&g->value[v]))
            continue;
        const assay_profile_entry *e = profile_entry_of(p, g, v);
        if (!e)
            list_name(&f->missing, g->value[v].name);
        else if (e->seen.finite == 0 && assay_shape_count(&g->value[v].type) > 0)
            list_name(&f->unseen, g->value[v].name);
        else if (!has_lineage(g, lineage, v, e->lineage))
            list_name(&f->differing, g->value[v].name);
    }
    for (int i = 0; i < p->n_entries; i++)
        if (!is_in(g, &p->entry[i]) && !has_twin_in(p, g, &p->entry[i]))
            list_name(&f->foreign, p->entry[i].name);
}

assay_status profile_check(const assay_profile *p, const assay_graph *g, assay_error *err)
{
    fitness f = {0};
    char digest[33];
    const size_t n = (size_t)g->n_values;
    uint64_t *lineage = calloc(ASSAY_LINEAGE_FORMS * n + 1, sizeof *lineage);
    if (!lineage)
        return assay_out_of_memory(err);
    assay_status status = assay_value_lineage(g, ASSAY_LINEAGE, lineage, err);
    for (size_t form = 1; form < ASSAY_LINEAGE_FORMS && !status && differs(p, g, lineage); form++)
        status = assay_value_lineage(g, (enum assay_lineage)form, lineage + form * n, err);
    if (!status)
        status = assay_graph_digest(g, digest, err);
    if (!status)
        look(p, g, lineage, &f);
    free(lineage);
    if (status)
        return status;
    if (f.missing.n > 0 && strcmp(digest, p->graph) == 0)
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "profile was taken on this network, but %d value(s) are missing in it: %s", f.missing.n,
            f.missing.text);
    if (f.missing.n > 0 && f.foreign.n > 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profile is of another network: %d value(s) of this network are not in "
                          "it: %s; %d of its values are not in this network: %s",
                          f.missing.n, f.missing.text, f.foreign.n, f.foreign.text);
    if (f.unseen.n > 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profile holds only NaN and infinities for %d value(s): %s", f.unseen.n,
                          f.unseen.text);
    if (f.differing.n > 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profile is of another network: %d value(s) were profiled with other "
                          "weights: %s",
                          f.differing.n, f.differing.text);
    return ASSAY_OK;
}
