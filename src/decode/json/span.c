/* Finds the end of a container 64 bytes at a time, where the processor can compare 16 at once. */
#include "decode/json/reader.h"

#ifdef __SSE2__
#include <emmintrin.h>

#define BLOCK 64 /* the source's buffer is followed by this many zero bytes */
_Static_assert(BLOCK <= SOURCE_PAD, "a block that begins in the buffer ends in its padding");

/* One bit for each byte of a block, the lowest for the first. */
struct block {
    uint64_t quotes, opening, closing; /* opening and closing brackets */
    uint64_t control;                  /* bytes below 0x20 */
    uint64_t special;                  /* backslashes, and bytes above 0x7f */
};

static uint64_t bits(__m128i bytes)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(bytes);
}

static struct block read_block(const uint8_t *at)
{
    const __m128i case_bit = _mm_set1_epi8(0x20), highest_control = _mm_set1_epi8(0x1f);
    struct block block = {0};
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(at + i));
        __m128i folded = _mm_or_si128(bytes, case_bit); /* '[' becomes '{', ']' becomes '}' */
        block.quotes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'))) << i;
        block.opening |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) << i;
        block.closing |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) << i;
        block.control |= bits(_mm_cmpeq_epi8(_mm_min_epu8(bytes, highest_control), bytes)) << i;
        block.special |= bits(_mm_or_si128(bytes, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')))) << i;
    }
    return block;
}

/* Sets the bits from the first, third, fifth, ... set bit up to before the next one: the bytes
 * within strings. */
static uint64_t between(uint64_t quotes)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        quotes ^= quotes << shift;
    return quotes;
}

const uint8_t *json_find_end(const struct json_reader *reader)
{
    const struct source *source = reader->source;
    uint64_t in_string = 0; /* all ones if the block begins in a string */
    size_t depth = 1;
    for (const uint8_t *at = source->pos; at < source->end; at += BLOCK) {
        struct block block = read_block(at);
        uint64_t strings = between(block.quotes) ^ in_string;
        uint64_t brackets = (block.opening | block.closing) & ~strings;
        if (block.special != 0 || (block.control & strings) != 0)
            return NULL;
        for (; brackets != 0; brackets &= brackets - 1) {
            uint64_t lowest = brackets & (0 - brackets);
            if (block.opening & lowest)
                depth++;
            else if (--depth == 0)
                return at + __builtin_ctzll(brackets) + 1;
        }
        in_string = 0 - (strings >> 63);
    }
    return NULL;
}

#else

const uint8_t *json_find_end(const struct json_reader *reader)
{
    (void)reader;
    return NULL;
}

#endif
