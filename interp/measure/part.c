/* Measures of some samples; see part.h. */
#include "interp/measure/part.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>

double measure_powers_decibels(assay_powers all)
{
    return all.noise == 0 ? INFINITY : 10 * log10(all.signal / all.noise);
}

assay_powers measure_powers_sum(const assay_powers *p, int64_t samples, int stride)
{
    assay_powers all = {0, 0, 0};
    for (int64_t i = 0; i < samples; i++) {
        all.signal += p[i * stride].signal;
        all.noise += p[i * stride].noise;
        all.n += p[i * stride].n;
    }
    return all;
}

assay_status measure_part_make(assay_part *p, bool twin, assay_error *err)
{
    const size_t n = (size_t)p->count + 1;

    p->hash[1] = calloc(n, sizeof *p->hash[1]);
    p->loss[1] = calloc(n, sizeof *p->loss[1]);
    if (twin) {
        p->loss[0] = calloc(n, sizeof *p->loss[0]);
        p->hash[0] = calloc(n, sizeof *p->hash[0]);
        p->noise = calloc(n, sizeof *p->noise);
    }
    return p->hash[1] && p->loss[1] && (!twin || (p->hash[0] && p->loss[0] && p->noise))
               ? ASSAY_OK
               : assay_out_of_memory(err);
}

void measure_part_free(assay_part *p)
{
    for (int k = 0; k < 2; k++) {
        measure_tally_free(&p->tally[k]);
        free(p->hash[k]);
        free(p->loss[k]);
    }
    free(p->noise);
    *p = (assay_part){0};
}
