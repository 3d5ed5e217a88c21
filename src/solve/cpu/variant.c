#include "solve/cpu/variant.h"

#include <string.h>

typedef int32_t quad_mask __attribute__((vector_size(16), may_alias));

/* mask ? a : b, lane by lane, for masks of all ones or all zeros. */
#define CHOOSE_BITS(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

static bool always(void)
{
    return true;
}

/* The mask is nearly always 0. */
static inline unsigned plain_mask(quad_mask lanes)
{
    uint64_t halves[2];
    memcpy(halves, &lanes, sizeof(halves));
    if ((halves[0] | halves[1]) == 0)
        return 0;
    return (unsigned)((halves[0] & 1) | (halves[0] >> 62 & 2) | (halves[1] << 2 & 4) |
                      (halves[1] >> 60 & 8));
}

/* Comparisons of vectors give masks of all ones or all zeros. */
#define VARIANT plain
#define TARGET
#define LANES       4
#define COLUMNS     2
#define LEAST(a, b) (((a) & ((a) < (b))) | ((b) & ~((a) < (b))))
#define CHOOSE      CHOOSE_BITS
#define MASK(v)     plain_mask(v)
#include "solve/cpu/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VARIANT     avx2
#define TARGET      __attribute__((target("avx2")))
#define LANES       8
#define COLUMNS     2
#define LEAST(a, b) ((avx2_vector)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define CHOOSE(mask, a, b)                                                                         \
    ((avx2_vector)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), (__m256i)(mask)))
#define MASK(v) ((unsigned)_mm256_movemask_ps((__m256)(v)))
#include "solve/cpu/loops.h"

#define VARIANT     avx512
#define TARGET      __attribute__((target("avx512f,avx512vl"))) /* to use its 32 registers */
#define LANES       8
#define COLUMNS     4
#define LEAST(a, b) ((avx512_vector)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#define CHOOSE(mask, a, b)                                                                         \
    ((avx512_vector)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), (__m256i)(mask)))
#define MASK(v) ((unsigned)_mm256_movemask_ps((__m256)(v)))
#include "solve/cpu/loops.h"

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__aarch64__)
#include <arm_neon.h>

#define VARIANT neon
#define TARGET
#define LANES       4
#define COLUMNS     4
#define LEAST(a, b) ((neon_vector)vminq_s32((int32x4_t)(a), (int32x4_t)(b)))
#define CHOOSE      CHOOSE_BITS
#define MASK(v)     plain_mask(v)
#include "solve/cpu/loops.h"
#endif

const struct cpu_variant cpu_variants[] = {
#if defined(__x86_64__)
    {"AVX-512", has_avx512, avx512_tile},
    {"AVX2", has_avx2, avx2_tile},
#elif defined(__aarch64__)
    {"NEON", always, neon_tile},
#endif
    {"plain C", always, plain_tile},
};

const size_t cpu_variant_count = sizeof(cpu_variants) / sizeof(cpu_variants[0]);

const struct cpu_variant *cpu_best_variant(void)
{
    size_t i = 0;
    while (!cpu_variants[i].supported())
        i++;
    return &cpu_variants[i];
}
