/* The packed blocks of all moments, unpacked again. */
#include "analysis/replay/lives.h"

#include <stdlib.h>

#include "unit/analysis/analysis.h"

#define MOST_MOMENTS 5000000

static uint64_t take(const struct lives *lives, size_t *at)
{
    uint64_t number = 0;
    unsigned shift = 0;
    for (;; shift += 7) {
        unit_assert(*at < lives->packed.size);
        uint8_t byte = (uint8_t)lives->packed.bytes[(*at)++];
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return number;
    }
}

struct unpacked {
    struct block_life *blocks;
    size_t count;
};

static struct unpacked unpack(const struct lives *lives)
{
    struct unpacked all = {calloc(lives->block_count + 1, sizeof(*all.blocks)), 0};
    uint64_t addr = 0;
    for (size_t at = 0; at < lives->packed.size;) {
        addr += take(lives, &at);
        uint64_t size = take(lives, &at), count = take(lives, &at), from = 0;
        for (; count > 0; count--) {
            from += take(lives, &at);
            uint64_t moments = take(lives, &at), to = from + moments / 2;
            struct block_life life = {addr, size, (uint32_t)from, MOMENT_NEVER, MOMENT_NEVER};
            if (moments > 1) {
                life.to = (uint32_t)to;
                life.pending = (uint32_t)to - 1;
            }
            uint64_t wait = moments % 2 ? take(lives, &at) : 0;
            if (moments % 2)
                life.pending = wait > 0 ? (uint32_t)(from + wait - 1) : MOMENT_NEVER;
            unit_assert(all.count < lives->block_count);
            all.blocks[all.count++] = life;
        }
    }
    return all;
}

static struct lives make(size_t count, uint32_t last)
{
    struct lives lives = {.last = last, .peak = last / 3, .stride = 1, .block_count = count};
    lives.blocks = calloc(count, sizeof(*lives.blocks));
    return lives;
}

static void release(struct lives *lives)
{
    free(lives->blocks);
    buffer_release(&lives->packed);
}

START_TEST(all_kinds)
{
    static const struct block_life kinds[] = {
        {512, 512, 0, MOMENT_NEVER, MOMENT_NEVER},
        {1024, 512, 0, 0, MOMENT_NEVER},
        {2048, 512, 0, 0, 5},
        {2048, 512, 7, 8, 9},
        {2048, 512, 9, 9, 12},
        {2048, 1024, 13, MOMENT_NEVER, 14},
        {4096, UINT64_C(1) << 62, 3, 15, MOMENT_NEVER},
        {UINT64_MAX, UINT64_MAX, 20, 20, 21},
    };
    const size_t count = sizeof(kinds) / sizeof(kinds[0]);
    struct lives lives = make(count, 30);
    struct error err;
    bool fits;
    for (size_t i = 0; i < count; i++)
        lives.blocks[i] = kinds[count - 1 - i];
    ck_assert(lives_pack(&lives, &fits, &err) && fits);
    ck_assert_uint_eq(lives.stride, 1);
    struct unpacked all = unpack(&lives);
    ck_assert_uint_eq(all.count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(all.blocks[i].addr, kinds[i].addr);
        ck_assert_uint_eq(all.blocks[i].size, kinds[i].size);
        ck_assert_uint_eq(all.blocks[i].from, kinds[i].from);
        ck_assert_uint_eq(all.blocks[i].to, kinds[i].to);
        ck_assert_uint_eq(all.blocks[i].pending, kinds[i].pending);
    }
    free(all.blocks);
    release(&lives);
}
END_TEST

static size_t existing(const struct block_life *blocks, size_t count, uint32_t moment)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += blocks[i].from <= moment && moment < blocks[i].to;
    return found;
}

START_TEST(fewer_moments)
{
    const size_t count = 400000;
    struct lives lives = make(count, MOST_MOMENTS);
    struct error err;
    bool fits;
    for (size_t i = 0; i < count; i++) {
        uint32_t from = (uint32_t)(i * 7919 % MOST_MOMENTS);
        lives.blocks[i] = (struct block_life){512 * i, 512 + 512 * (i % 1000), from, from + 9,
                                              from + 10 + (uint32_t)(i % 1000)};
    }
    ck_assert(lives_pack(&lives, &fits, &err) && fits);
    ck_assert_uint_gt(lives.stride, 1);
    ck_assert_uint_lt(lives.stride, 100000);
    ck_assert_uint_le(lives.packed.size, LIVES_BYTES);
    struct unpacked all = unpack(&lives);
    const uint32_t moments[] = {0, lives.stride, 17 * lives.stride, lives.peak, lives.last};
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
        ck_assert_uint_eq(existing(all.blocks, all.count, moments[i]),
                          existing(lives.blocks, count, moments[i]));
    free(all.blocks);
    release(&lives);
}
END_TEST

START_TEST(too_many_at_once)
{
    const size_t count = 900000;
    struct lives lives = make(count, 100);
    struct error err;
    bool fits;
    for (size_t i = 0; i < count; i++)
        lives.blocks[i] = (struct block_life){512 * i, 512, 1, MOMENT_NEVER, MOMENT_NEVER};
    ck_assert(lives_pack(&lives, &fits, &err));
    ck_assert(!fits);
    release(&lives);
}
END_TEST

TCase *replay_lives_tests(void)
{
    TCase *tests = tcase_create("replay lives");
    tcase_add_test(tests, all_kinds);
    tcase_add_test(tests, fewer_moments);
    tcase_add_test(tests, too_many_at_once);
    return tests;
}
