/* The next probe, made and told in lines. */
#include "interp/probe/probe.h"

static void tell_next(void *user, const probe_next_said *said)
{
    FILE *f = user;
    if (said->nodes == 0)
        fprintf(f, "  %s: none of the %lld networks tried distinguishes the %d remaining records\n",
                said->op, (long long)said->tried, said->records);
    else
        fprintf(f, "  %s: %d %s with %lld elements part %d records into %d\n", said->op,
                said->nodes, said->nodes == 1 ? "node" : "nodes", (long long)said->elements,
                said->records, said->classes);
}

assay_status probe_next_print(FILE *f, const char *dir, const char *device, const probe_ask *ask,
                              const probe_findings *found, const char *dir2, assay_error *err)
{
    int asked;
    fprintf(f, "next:\n");
    const assay_status status =
        probe_next(dir, device, ask, found, dir2, tell_next, f, &asked, err);
    if (status)
        return status;
    if (asked > 0)
        fprintf(f,
                "  run %s/OP/OP.onnx (.tflite, .assay) as before, then\n"
                "  assay infer '%s' OUTPUTS2, which takes these answers into account, too\n",
                dir2, dir2);
    else
        fprintf(f, "  nothing is asked; %s is not made\n", dir2);
    return ASSAY_OK;
}
