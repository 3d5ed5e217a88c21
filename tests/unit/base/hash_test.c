#include "base/hash.h"

#include <stdlib.h>

#include "unit/base/base.h"

#define LENGTHS 300

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_equal(uint64_t *hashes, size_t count)
{
    qsort(hashes, count, sizeof(*hashes), compare);
    size_t equal = 0;
    for (size_t i = 1; i < count; i++)
        equal += hashes[i] == hashes[i - 1];
    return equal;
}

START_TEST(seed_is_drawn_once)
{
    ck_assert_uint_ne(hash_seed(), 0);
    ck_assert_uint_eq(hash_seed(), hash_seed());
}
END_TEST

/* Every byte counts at every length: one flipped bit anywhere changes the hash. */
START_TEST(every_bit_counts)
{
    unsigned char bytes[LENGTHS];
    for (size_t i = 0; i < LENGTHS; i++)
        bytes[i] = (unsigned char)(i * 37);
    size_t unnoticed = 0;
    for (size_t size = 1; size < LENGTHS; size++) {
        uint64_t plain = hash_bytes(bytes, size, 1);
        for (size_t bit = 0; bit < size * 8; bit += size < 64 ? 1 : 7) {
            unsigned char mask = (unsigned char)(1U << bit % 8);
            bytes[bit / 8] ^= mask;
            unnoticed += hash_bytes(bytes, size, 1) == plain;
            bytes[bit / 8] ^= mask;
        }
    }
    ck_assert_uint_eq(unnoticed, 0);
}
END_TEST

START_TEST(length_and_seed_count)
{
    static const char zeros[LENGTHS];
    uint64_t hashes[2 * LENGTHS];
    for (size_t size = 0; size < LENGTHS; size++) {
        hashes[2 * size] = hash_bytes(zeros, size, 1);
        hashes[2 * size + 1] = hash_bytes(zeros, size, 2);
    }
    ck_assert_uint_eq(count_equal(hashes, 2 * LENGTHS), 0);
    ck_assert_uint_eq(hash_bytes(NULL, 0, 5), hash_bytes("", 0, 5));
}
END_TEST

/* Tables look at the low bits first, so similar keys must spread over them. */
START_TEST(alike_keys_spread)
{
    enum { BUCKETS = 256, KEYS = BUCKETS * 256 };
    unsigned from_bytes[BUCKETS] = {0}, from_words[BUCKETS] = {0};
    uint64_t seed = hash_seed();
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t address = UINT64_C(0x7f0000000000) + i * 512;
        from_bytes[hash_bytes(&address, sizeof(address), seed) % BUCKETS]++;
        from_words[hash_word(address, seed) % BUCKETS]++;
    }
    for (int i = 0; i < BUCKETS; i++) {
        ck_assert_uint_gt(from_bytes[i], 128);
        ck_assert_uint_lt(from_bytes[i], 384);
        ck_assert_uint_gt(from_words[i], 128);
        ck_assert_uint_lt(from_words[i], 384);
    }
}
END_TEST

TCase *hash_tests(void)
{
    TCase *tests = tcase_create("hash");
    tcase_add_test(tests, seed_is_drawn_once);
    tcase_add_test(tests, every_bit_counts);
    tcase_add_test(tests, length_and_seed_count);
    tcase_add_test(tests, alike_keys_spread);
    return tests;
}
