/* A fast 64-bit hash for internal tables. It is not cryptographic: tables with untrusted keys mix
 * in hash_seed(), which is drawn once per process. */
#ifndef MEMSNAP_BASE_HASH_H
#define MEMSNAP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_seed(void);
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* One word, for integer keys such as addresses. */
static inline uint64_t hash_word(uint64_t word, uint64_t seed)
{
    uint64_t x = (word ^ seed) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 29);
}

#endif
