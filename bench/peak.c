/* The machine's int8 peak, measured. */
#include "bench/peak.h"

#include "bench/ours.h"
#include "interp/fast/isa.h"

double bench_peak(const char **isa)
{
    const assay_isa_kernels *k;
    assay_error err;
    bench_check(fast_isa_choose(NULL, &k, &err), &err);
    *isa = k->name;
#ifdef ASSAY_X86
    if (k == &fast_isa_vnni)
        return bench_peak_vnni();
    if (k == &fast_isa_avx2)
        return bench_peak_avx2();
#endif
    return 0;
}
