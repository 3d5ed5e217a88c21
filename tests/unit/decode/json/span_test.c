/* json_find_end() and json_leave() on random texts, against a plain loop. */
#include <string.h>

#include "decode/json/reader.h"
#include "unit/decode/json/json.h"

#define SIZE_MOST 400

/* The size up to the bracket that closes the container. 0 if there is no such bracket, or if a
 * string before it is invalid. Sets `plain` if the text up to there is ASCII without backslashes.
 */
static size_t plain_end(const uint8_t *text, size_t size, bool *plain)
{
    size_t depth = 1;
    bool in_string = false;
    *plain = true;
    for (size_t i = 0; i < size; i++) {
        *plain &= text[i] < 0x80 && text[i] != '\\';
        if (in_string && (text[i] < 0x20 || text[i] >= 0x80))
            return 0;
        if (text[i] == '"')
            in_string = !in_string;
        else if (in_string && text[i] == '\\' && (++i == size || !strchr("\"\\bn", text[i])))
            return 0;
        else if (!in_string && strchr("{[", text[i]) && text[i])
            depth++;
        else if (!in_string && strchr("}]", text[i]) && text[i] && --depth == 0)
            return i + 1;
    }
    return 0;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Fills the text with letters and a few brackets and quotes. Without `odd`, only with what
 * json_find_end() handles. */
static size_t fill(uint8_t *text, uint32_t *seed, bool odd)
{
    static const char letters[] = "{[]}]\"\"\"abc,: 019xyzABCDEFGHIJKLMNOPQ";
    static const char odd_letters[] = "\\\\n\n\x01\x80\"";
    size_t size = next_random(seed) % SIZE_MOST;
    for (size_t i = 0; i < size; i++) {
        text[i] = (uint8_t)letters[next_random(seed) % (sizeof(letters) - 1)];
        if (odd && next_random(seed) % 60 == 0)
            text[i] = (uint8_t)odd_letters[next_random(seed) % (sizeof(odd_letters) - 1)];
    }
    return size;
}

static size_t left(struct json_reader *reader, bool *ok)
{
    struct error err;
    uint64_t before = source_offset(reader->source);
    *ok = json_leave(reader, &err);
    return (size_t)(source_offset(reader->source) - before);
}

static void check_text(const uint8_t *text, size_t size, unsigned *found)
{
    struct budget budget = {.limit = JSON_PLENTY};
    struct source source;
    struct error err;
    struct json_reader reader;
    bool plain, ok;
    size_t end = plain_end(text, size, &plain);
    ck_assert(source_open_memory(&source, text, size, &budget, &err));
    ck_assert(source_fill(&source, size, &err));
    json_reader_init(&reader, &source);
    const uint8_t *fast = json_find_end(&reader);
    if (fast)
        ck_assert_uint_eq((size_t)(fast - source.pos), end);
    *found += fast && plain;
    size_t slow = left(&reader, &ok);
    ck_assert_int_eq(ok, end > 0);
    if (ok)
        ck_assert_uint_eq(slow, end);
    json_reader_release(&reader);
    source_close(&source);
}

START_TEST(random_texts)
{
    uint8_t text[SIZE_MOST];
    uint32_t seed = 18;
    unsigned found = 0;
    for (int i = 0; i < 60000; i++)
        check_text(text, fill(text, &seed, i % 2), &found);
#ifdef __SSE2__
    ck_assert_uint_ge(found, 10000);
#else
    ck_assert_uint_eq(found, 0);
#endif
}
END_TEST

TCase *json_span_tests(void)
{
    TCase *tests = tcase_create("the end of a container");
    tcase_add_test(tests, random_texts);
    return tests;
}
