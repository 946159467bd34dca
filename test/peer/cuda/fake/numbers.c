/* A float's fields: sign, exponent, fraction; the exponent's bias is half of its range less one. */
#include <math.h>
#include <string.h>

#include "numbers.h"

int number_bits(const char *format)
{
    if (strcmp(format, "e2m1") == 0)
        return 4;
    if (strcmp(format, "e2m3") == 0 || strcmp(format, "e3m2") == 0)
        return 6;
    if (strcmp(format, "tf32") == 0 || strcmp(format, "f32") == 0)
        return 32;
    return strcmp(format, "f16") == 0 || strcmp(format, "bf16") == 0 ? 16 : 8;
}

static int exponent_bits(const char *format)
{
    if (strcmp(format, "f16") == 0 || strcmp(format, "e5m2") == 0)
        return 5;
    if (strcmp(format, "e4m3") == 0 || strcmp(format, "ue4m3") == 0)
        return 4;
    if (strcmp(format, "e3m2") == 0)
        return 3;
    return strcmp(format, "e2m1") == 0 || strcmp(format, "e2m3") == 0 ? 2 : 8;
}

double number_decoded(const char *format, uint32_t code)
{
    if (strcmp(format, "ue8m0") == 0)
        return ldexp(1, (int)code - 127);
    const int e = exponent_bits(format), f = number_bits(format) - 1 - e, bias = (1 << (e - 1)) - 1;
    const int field = (int)(code >> f) & ((1 << e) - 1);
    const uint32_t fraction = code & ((1U << f) - 1);
    const double size =
        ldexp(field ? fraction + ldexp(1, f) : fraction, (field ? field : 1) - bias - f);
    return code >> (number_bits(format) - 1) ? -size : size;
}

uint32_t number_encoded(const char *format, double x)
{
    const int e = exponent_bits(format), f = number_bits(format) - 1 - e, bias = (1 << (e - 1)) - 1;
    int power;
    const double size = frexp(fabs(x), &power);
    if (x == 0)
        return 0;
    return (uint32_t)(x < 0) << (e + f) | (uint32_t)(power - 1 + bias) << f |
           (uint32_t)(ldexp(size, f + 1) - ldexp(1, f));
}
