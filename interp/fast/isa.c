/* Which inner loops this machine can run. */
#include "interp/fast/isa.h"

#include <stdlib.h>
#include <string.h>

static bool has_portable(void)
{
    return true;
}

#ifdef ASSAY_X86
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

static bool has_vnni(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif

/* The best first. */
static const struct {
    const assay_isa_kernels *kernels;
    bool (*there)(void);
} known[] = {
#ifdef ASSAY_X86
    {&assay_isa_vnni, has_vnni},
    {&assay_isa_avx2, has_avx2},
#endif
    {&assay_isa_portable, has_portable},
};

assay_status assay_isa_choose(const char *name, const assay_isa_kernels **out, assay_error *err)
{
    if (!name)
        name = getenv("ASSAY_ISA");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool named = name && *name && strcmp(name, known[i].kernels->name) == 0;
        if (named && !known[i].there())
            return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "ASSAY_ISA: this machine has no %s",
                              name);
        if (named || ((!name || !*name) && known[i].there())) {
            *out = known[i].kernels;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "ASSAY_ISA: expected portable, avx2 or vnni, found '%s'", name);
}
