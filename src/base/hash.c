/* The construction is that of wyhash (public domain, Wang Yi): words are folded by 64x64->128 bit
 * multiplications. Unlike in wyhash, both factors are masked with the seed, so that input chosen
 * without knowing the seed cannot make a factor zero. */
#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define K0 UINT64_C(0xa0761d6478bd642f)
#define K1 UINT64_C(0xe7037ed1a0b428db)
#define K2 UINT64_C(0x8ebc6af09c88c6e3)
#define K3 UINT64_C(0x589965cc75374cc3)

__extension__ typedef unsigned __int128 uint128;

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t read8(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

static uint64_t read4(const unsigned char *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

uint64_t hash_seed(void)
{
    static _Atomic uint64_t drawn;
    uint64_t seed = atomic_load_explicit(&drawn, memory_order_relaxed);
    if (seed)
        return seed;

    uint64_t fresh;
    if (getrandom(&fresh, sizeof(fresh), 0) != (ssize_t)sizeof(fresh)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        fresh = mix((uint64_t)now.tv_nsec ^ K0, (uint64_t)(uintptr_t)&now ^ K1);
    }
    fresh |= 1; /* 0 stands for "not drawn yet" */
    uint64_t expected = 0;
    return atomic_compare_exchange_strong(&drawn, &expected, fresh) ? fresh : expected;
}

/* Folds all but the last 1..16 bytes into the state. Long input is folded in three independent
 * chains. */
static uint64_t fold(const unsigned char *p, size_t *left, uint64_t state, uint64_t seed)
{
    size_t size = *left;
    if (size > 48) {
        uint64_t state1 = state, state2 = state;
        for (; size > 48; size -= 48, p += 48) {
            state = mix(read8(p) ^ K1 ^ seed, read8(p + 8) ^ state);
            state1 = mix(read8(p + 16) ^ K2 ^ seed, read8(p + 24) ^ state1);
            state2 = mix(read8(p + 32) ^ K3 ^ seed, read8(p + 40) ^ state2);
        }
        state ^= state1 ^ state2;
    }
    for (; size > 16; size -= 16, p += 16)
        state = mix(read8(p) ^ K1 ^ seed, read8(p + 8) ^ state);
    *left = size;
    return state;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t state = mix(seed ^ K0, K1);
    uint64_t a = 0, b = 0;
    if (size > 16) {
        size_t left = size;
        state = fold(p, &left, state, seed);
        a = read8(p + size - 16);
        b = read8(p + size - 8);
    } else if (size >= 8) {
        a = read8(p);
        b = read8(p + size - 8);
    } else if (size >= 4) {
        a = read4(p);
        b = read4(p + size - 4);
    } else if (size > 0) {
        a = (uint64_t)p[0] << 16 | (uint64_t)p[size / 2] << 8 | p[size - 1];
    }
    uint128 product = (uint128)(a ^ K1 ^ seed) * (b ^ state);
    return mix((uint64_t)product ^ K0 ^ size, (uint64_t)(product >> 64) ^ K1 ^ seed);
}
