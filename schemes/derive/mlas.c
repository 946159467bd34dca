/* Functions as MLAS approximates them, ONNX Runtime's library of kernels, on x86-64 with fused
 * multiply-add; see mlas.h. */
#include "schemes/derive/mlas.h"

#include <math.h>
#include <stddef.h>

/* c[0]*x^(n-1) + ... + c[n-1], fused. */
static float polynomial(const float *c, size_t n, float x)
{
    float y = c[0];
    for (size_t i = 1; i < n; i++)
        y = fmaf(y, x, c[i]);
    return y;
}

#define POLYNOMIAL(c, x) polynomial(c, sizeof(c) / sizeof *(c), x)

/* Adding and taking away 1.5 * 2^23 rounds to an integer. */
static const float rounder = 12582912.0F;

/* e^x = 2^m * e^r, |r| <= ln(2)/2; r is brought back into *x. */
static float reduce(float *x)
{
    float m = fmaf(*x, 1.44269504088896341F, rounder) - rounder;
    *x = fmaf(m, -6.93145752e-1F, *x);
    *x = fmaf(m, -1.42860677e-6F, *x);
    return m;
}

float derive_mlas_exp(float x)
{
    static const float p[] = {
        0x1.694000p-10F, 0x1.125edcp-7F, 0x1.555b5ap-5F, 0x1.555450p-3F, 0x1.fffff6p-2F, 1, 1};
    if (isnan(x))
        return x;
    x = fminf(fmaxf(x, -103.9720840454F), 88.7762626647950F);
    float m = reduce(&x);
    return ldexpf(POLYNOMIAL(p, x), (int)m);
}

float derive_mlas_sigmoid(float x)
{
    static const float p[] = {4.37031012579801e-11F, 1.15627324459942e-07F, 6.08574864600143e-05F,
                              8.51377133304701e-03F, 2.48287947061529e-01F};
    static const float q[] = {6.10247389755681e-13F, 5.76102136993427e-09F, 6.29106785017040e-06F,
                              1.70198817374094e-03F, 1.16817656904453e-01F, 9.93151921023180e-01F};
    float v = fminf(fmaxf(x, -18), 18), square = v * v;
    if (isnan(x))
        return x;
    return fminf(fmaxf(POLYNOMIAL(p, square) * v / POLYNOMIAL(q, square) + 0.5F, 0), 1);
}

float derive_mlas_tanh(float x)
{
    static const float p[] = {-2.76076847742355e-16F, 2.00018790482477e-13F, -8.60467152213735e-11F,
                              5.12229709037114e-08F,  1.48572235717979e-05F, 6.37261928875436e-04F,
                              4.89352455891786e-03F};
    static const float q[] = {1.19825839466702e-06F, 1.18534705686654e-04F, 2.26843463243900e-03F,
                              4.89352518554385e-03F};
    float v = fminf(fmaxf(x, -9), 9), square = v * v;
    if (isnan(x))
        return x;
    return POLYNOMIAL(p, square) * v / POLYNOMIAL(q, square);
}

float derive_mlas_erf(float x)
{
    static const float small[] = {-5.99104969e-4F, 4.99339588e-3F,  -2.67667342e-2F,
                                  1.12818025e-1F,  -3.76124859e-1F, 1.28379151e-1F};
    static const float big[] = {1.72948930e-5F, -3.83208680e-4F, 3.88393435e-3F, -2.42545605e-2F,
                                1.06777847e-1F, 6.34846687e-1F,  1.28717512e-1F};
    static const float p[] = {
        1.38319808e-3F, 8.37550033e-3F, 4.16689515e-2F, 1.66664466e-1F, 4.99999851e-1F, 1, 1};
    float v = fminf(fabsf(x), 3.925F);
    if (isnan(x))
        return x;
    if (v < 0.921875F)
        return copysignf(fmaf(POLYNOMIAL(small, v * v), v, v), x);
    float r = -fmaf(POLYNOMIAL(big, v), v, v);
    float m = reduce(&r);
    return copysignf(1 - ldexpf(POLYNOMIAL(p, r), (int)m), x);
}

float derive_mlas_hard_swish(float x)
{
    const float gate = x * (1.0F / 6.0F) + 0.5F;
    return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
}

float derive_mlas_gelu(float x)
{
    return 0.5F * x * (derive_mlas_erf(x * 0.70710678118654752F) + 1);
}

float derive_mlas_gelu_tanh(float x)
{
    const float b = 0.7978845608028654F, c = 0.035677408136300125F;
    return 0.5F * x * (derive_mlas_tanh(x * (c * x * x + b)) + 1);
}
