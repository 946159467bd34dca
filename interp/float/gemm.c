/* C = A*B + beta*C through CBLAS, with its 32-bit extents checked. */
#include <cblas.h>
#include <limits.h>

#include "interp/float/float.h"
#include "interp/float/setup.h"

void assay_float_single_thread(void)
{
    openblas_set_num_threads(1);
}

static void scale_rows(const assay_gemm *g)
{
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++)
            g->c[i * g->ldc + j] = g->beta == 0 ? 0 : g->beta * g->c[i * g->ldc + j];
}

assay_status assay_gemm_run(const assay_gemm *g, const char *node, assay_error *err)
{
    const int64_t extents[] = {g->m, g->n, g->k, g->lda, g->ldb, g->ldc};
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        if (extents[i] > INT_MAX)
            return assay_fail(err, ASSAY_ERR_LIMIT, "node '%s': a matrix extent is over 2^31",
                              node);
    if (g->m == 0 || g->n == 0)
        return ASSAY_OK;
    if (g->k == 0) {
        scale_rows(g);
        return ASSAY_OK;
    }
    cblas_sgemm(CblasRowMajor, g->a_t ? CblasTrans : CblasNoTrans,
                g->b_t ? CblasTrans : CblasNoTrans, (blasint)g->m, (blasint)g->n, (blasint)g->k,
                1.0F, g->a, (blasint)g->lda, g->b, (blasint)g->ldb, g->beta, g->c, (blasint)g->ldc);
    return ASSAY_OK;
}
