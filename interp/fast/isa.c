/* Choice of the inner loops that this machine can run. */
#include "interp/fast/isa.h"

#include <stdio.h>
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
    {&fast_isa_vnni, has_vnni},
    {&fast_isa_avx2, has_avx2},
#endif
    {&fast_isa_portable, has_portable},
};

/* The names of this machine's, the best first, as "vnni, avx2, portable". */
static const char *machine_has(char *buf, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known && used < size; i++)
        if (known[i].there())
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
                                     known[i].kernels->name);
    return buf;
}

assay_status fast_isa_choose(const char *name, const assay_isa_kernels **out, assay_error *err)
{
    char list[60];
    if (!name)
        name = getenv("ASSAY_ISA");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bool named = name && *name && strcmp(name, known[i].kernels->name) == 0;
        if (named && !known[i].there())
            return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                              "ASSAY_ISA: this machine has no %s, but %s", name,
                              machine_has(list, sizeof list));
        if (named || ((!name || !*name) && known[i].there())) {
            *out = known[i].kernels;
            return ASSAY_OK;
        }
    }
    return assay_fail(
        err, ASSAY_ERR_INPUT,
        "ASSAY_ISA: expected portable, avx2 or vnni (this machine has %s), found '%s'",
        machine_has(list, sizeof list), name);
}
