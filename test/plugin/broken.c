/* Plugins that the library must refuse: ASSAY_TEST_BROKEN names what is wrong with the vtable. */
#include <stdlib.h>
#include <string.h>

#include "schemes/vtable.h"

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    (void)s;
    (void)out;
    return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "broken: node %s: no arithmetic", spec->node);
}

static void release(assay_unit *u)
{
    (void)u;
}

static size_t params(const assay_unit *u, assay_unit_param *list, size_t max)
{
    (void)u;
    (void)list;
    (void)max;
    return 0;
}

static int64_t accumulate(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                          int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    (void)u;
    (void)x;
    (void)w;
    (void)n;
    (void)zx;
    (void)zw;
    (void)trapped;
    return bias;
}

static int64_t apply_overflow(const assay_unit *u, int64_t sum, bool *trapped)
{
    (void)u;
    (void)trapped;
    return sum;
}

__attribute__((visibility("default"))) const assay_scheme_vtable *assay_scheme_plugin(void);

const assay_scheme_vtable *assay_scheme_plugin(void)
{
    static assay_scheme_vtable vt;
    const char *wrong = getenv("ASSAY_TEST_BROKEN");
    vt = (assay_scheme_vtable){.abi = ASSAY_SCHEME_ABI,
                               .size = sizeof vt,
                               .name = "broken",
                               .description = "",
                               .prepare = prepare,
                               .release = release,
                               .params = params,
                               .accumulate = accumulate,
                               .apply_overflow = apply_overflow};
    if (wrong == NULL)
        return &vt;
    if (strcmp(wrong, "vtable") == 0)
        return NULL;
    vt.abi += strcmp(wrong, "abi") == 0;
    vt.size = strcmp(wrong, "size") == 0 ? 16 : vt.size;
    vt.name = strcmp(wrong, "name") == 0 ? NULL : vt.name;
    vt.prepare = strcmp(wrong, "prepare") == 0 ? NULL : vt.prepare;
    vt.release = strcmp(wrong, "release") == 0 ? NULL : vt.release;
    vt.params = strcmp(wrong, "params") == 0 ? NULL : vt.params;
    vt.accumulate = strcmp(wrong, "accumulate") == 0 ? NULL : vt.accumulate;
    vt.apply_overflow = strcmp(wrong, "apply_overflow") == 0 ? NULL : vt.apply_overflow;
    return &vt;
}
