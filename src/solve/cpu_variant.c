#include "solve/cpu_variant.h"

static bool always(void)
{
    return true;
}

/* Comparisons of vectors give masks of all ones or none. */
#define VARIANT plain
#define TARGET
#define LANES       4
#define COLUMNS     2
#define LEAST(a, b) (((a) & ((a) < (b))) | ((b) & ~((a) < (b))))
#include "solve/cpu_product.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define VARIANT     avx2
#define TARGET      __attribute__((target("avx2")))
#define LANES       8
#define COLUMNS     2
#define LEAST(a, b) ((avx2_vector)_mm256_min_epi32((__m256i)(a), (__m256i)(b)))
#include "solve/cpu_product.h"

#define VARIANT     avx512
#define TARGET      __attribute__((target("avx512f")))
#define LANES       16
#define COLUMNS     4
#define LEAST(a, b) ((avx512_vector)_mm512_min_epi32((__m512i)(a), (__m512i)(b)))
#include "solve/cpu_product.h"

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}
#elif defined(__aarch64__)
#include <arm_neon.h>

#define VARIANT neon
#define TARGET
#define LANES       4
#define COLUMNS     4
#define LEAST(a, b) ((neon_vector)vminq_s32((int32x4_t)(a), (int32x4_t)(b)))
#include "solve/cpu_product.h"
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
