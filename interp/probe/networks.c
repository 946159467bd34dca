/* The networks of networks.def, by name. */
#include "interp/probe/makers.h"

const probe_network probe_networks[] = {
#define PROBE(name, maker, bits) {#name, probe_##maker, bits},
#include "interp/probe/networks.def"
    {NULL, NULL, 0},
};

assay_status probe_make(const probe_network *p, probe_net *n)
{
    n->status = assay_graph_new(p->name, &n->graph, n->err);
    if (!n->status)
        p->make(n, p->name);
    return probe_net_end(n);
}
