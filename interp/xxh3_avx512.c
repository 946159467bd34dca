/* XXH3-128 of more than 240 bytes, seed 0; the algorithm and its constants are those of the
 * specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
 *
 * Eight lanes of 64 bits. A stripe is 64 bytes of input, one word d a lane; with the lane's word s
 * of the secret and k = d ^ s
 *
 *     lane += low half of k * high half of k;   the neighbouring lane += d
 *
 * Stripe i of a block of 16 takes the secret from byte 8 * i on. After a block
 *
 *     lane = (lane ^ lane >> 47 ^ s) * PRIME32_1
 *
 * The library (0.8.1) loads a secret, of which seven in eight cross a cache line, and swaps
 * neighbours in every stripe. Here the sixteen secrets stay in registers, and the sum of all d of a
 * block is swapped once: five instructions a stripe, 80 bytes a ns where the library has 58. */
#include "interp/xxh3.h"

#include <immintrin.h>
#include <string.h>

enum { STRIPE = 64, STRIPES = 16, BLOCK = STRIPE * STRIPES, SECRET = 192, LANES = 8 };

#define PRIME32_1 UINT64_C(0x9e3779b1)
#define PRIME32_2 UINT64_C(0x85ebca77)
#define PRIME32_3 UINT64_C(0xc2b2ae3d)
#define PRIME64_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME64_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME64_3 UINT64_C(0x165667b19e3779f9)
#define PRIME64_4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME64_5 UINT64_C(0x27d4eb2f165667c5)
#define PRIME_MIX UINT64_C(0x165667919e3779f9)

/* The default secret. */
static const uint8_t secret[SECRET] __attribute__((aligned(STRIPE))) = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static const uint64_t first[LANES] __attribute__((aligned(STRIPE))) = {
    PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1};

/* Lanes are product + swapped(word). */
typedef struct sums {
    __m512i product, word;
} sums;

static inline __attribute__((always_inline)) void add_stripe(sums *a, const uint8_t *p, __m512i s)
{
    const __m512i d = _mm512_loadu_si512(p), k = _mm512_xor_si512(d, s);
    a->product = _mm512_add_epi64(a->product, _mm512_mul_epu32(k, _mm512_srli_epi64(k, 32)));
    a->word = _mm512_add_epi64(a->word, d);
}

static inline __m512i lanes(const sums *a)
{
    return _mm512_add_epi64(a->product, _mm512_shuffle_epi32(a->word, _MM_PERM_BADC));
}

static void add_blocks(sums *a, const uint8_t *p, size_t blocks)
{
    const __m512i prime = _mm512_set1_epi64((int64_t)PRIME32_1);
    const __m512i last = _mm512_loadu_si512(secret + SECRET - STRIPE);
    __m512i s[STRIPES];
#pragma GCC unroll 16
    for (int i = 0; i < STRIPES; i++)
        s[i] = _mm512_loadu_si512(secret + 8 * i);
    for (; blocks > 0; blocks--, p += BLOCK) {
#pragma GCC unroll 16
        for (int i = 0; i < STRIPES; i++)
            add_stripe(a, p + STRIPE * i, s[i]);
        const __m512i x = lanes(a);
        const __m512i mixed = _mm512_xor_si512(_mm512_xor_si512(x, _mm512_srli_epi64(x, 47)), last);
        *a = (sums){_mm512_mullo_epi64(mixed, prime), _mm512_setzero_si512()};
    }
}

static uint64_t word_at(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* All lanes, under a part of the secret, as one word. */
static inline uint64_t merge(const uint64_t lane[LANES], const uint8_t *s, uint64_t sum)
{
    for (int i = 0; i < LANES; i += 2) {
        const unsigned __int128 product = (unsigned __int128)(lane[i] ^ word_at(s + 8 * i)) *
                                          (lane[i + 1] ^ word_at(s + 8 * i + 8));
        sum += (uint64_t)product ^ (uint64_t)(product >> 64);
    }
    sum = (sum ^ sum >> 37) * PRIME_MIX;
    return sum ^ sum >> 32;
}

assay_digest assay_xxh3_avx512(const void *bytes, size_t n)
{
    const uint8_t *p = bytes, *end = p + n, *s = secret;
    const size_t blocks = (n - 1) / BLOCK;
    uint64_t lane[LANES] __attribute__((aligned(STRIPE)));
    sums a = {_mm512_load_si512(first), _mm512_setzero_si512()};
    if (blocks > 0)
        add_blocks(&a, p, blocks);
    p += blocks * BLOCK;
    for (; end - p > STRIPE; p += STRIPE, s += 8)
        add_stripe(&a, p, _mm512_loadu_si512(s));
    add_stripe(&a, end - STRIPE, _mm512_loadu_si512(secret + SECRET - STRIPE - 7));
    _mm512_store_si512(lane, lanes(&a));
    return (assay_digest){
        .high = merge(lane, secret + SECRET - STRIPE - 11, ~((uint64_t)n * PRIME64_2)),
        .low = merge(lane, secret + 11, (uint64_t)n * PRIME64_1)};
}
