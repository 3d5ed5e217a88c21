#include "decode/run/words.h"

#include <ctype.h>
#include <string.h>

#define SPELLINGS_MOST 3

struct word {
    unsigned number;
    const char *spellings[SPELLINGS_MOST]; /* in lower case, with spaces */
};

static const struct word kinds[] = {
    {RUN_SHARDED_PARAM, {"sharded param"}},
    {RUN_UNSHARDED_PARAM, {"unsharded param"}},
    {RUN_PARAM, {"parameter", "param"}},
    {RUN_BUFFER, {"buffer"}},
    {RUN_SHARDED_GRAD, {"sharded grad"}},
    {RUN_UNSHARDED_GRAD, {"unsharded grad"}},
    {RUN_GRAD, {"gradient", "grad"}},
    {RUN_ACTIVATION, {"activation", "act"}},
    {RUN_TEMP, {"temp"}},
    {RUN_ALL_GATHER, {"all gather"}},
    {RUN_REDUCE_SCATTER, {"reduce scatter"}},
    {RUN_OPT_STATE, {"optstate", "opt"}},
    {RUN_INPUTS, {"inputs", "inp"}},
    {RUN_OTHER, {"other", "oth"}},
    {RUN_TOTAL, {"total"}},
};

static const struct word states[] = {
    {RUN_PEAK_FORWARD, {"peak forward", "peak fw"}},
    {RUN_BEFORE_PRE_FORWARD, {"before pre forward", "bef pre fw"}},
    {RUN_PRE_FORWARD, {"pre forward", "pre fw"}},
    {RUN_AFTER_PRE_FORWARD, {"after pre forward", "aft pre fw"}},
    {RUN_BEFORE_POST_FORWARD, {"before post forward", "bef post fw"}},
    {RUN_POST_FORWARD, {"post forward", "post fw"}},
    {RUN_AFTER_POST_FORWARD, {"after post forward", "aft post fw"}},
    {RUN_PEAK_BACKWARD, {"peak backward", "peak bw"}},
    {RUN_BEFORE_PRE_BACKWARD, {"before pre backward", "bef pre bw"}},
    {RUN_PRE_BACKWARD, {"pre backward", "pre bw"}},
    {RUN_AFTER_PRE_BACKWARD, {"after pre backward", "aft pre bw"}},
    {RUN_BEFORE_POST_BACKWARD, {"before post backward", "bef post bw"}},
    {RUN_POST_BACKWARD, {"post backward", "post bw"}},
    {RUN_AFTER_POST_BACKWARD, {"after post backward", "aft post bw"}},
    {RUN_PRE_FORWARD_AC, {"pre forward ac", "pre fw ac"}},
    {RUN_POST_FORWARD_AC, {"post forward ac", "post fw ac"}},
};

/* Hyphens and underscores count as spaces, capitals as small letters. */
static bool is_spelling(struct text text, const char *spelling)
{
    size_t i = 0;
    for (; i < text.size && spelling[i] != '\0'; i++) {
        char c = text.bytes[i];
        c = c == '-' || c == '_' ? ' ' : (char)tolower((unsigned char)c);
        if (c != spelling[i])
            return false;
    }
    return i == text.size && spelling[i] == '\0';
}

static bool find_word(struct text text, const struct word *words, size_t count, unsigned *number)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < SPELLINGS_MOST && words[i].spellings[k]; k++)
            if (is_spelling(text, words[i].spellings[k])) {
                *number = words[i].number;
                return true;
            }
    return false;
}

/* Cuts off the name of the enum: "_FSDPRefType.ACT" becomes "ACT". */
static struct text without_class(struct text text)
{
    const char *dot =
        text.size > 0 && *text.bytes == '_' ? memchr(text.bytes, '.', text.size) : NULL;
    if (!dot)
        return text;
    return (struct text){dot + 1, text.size - (size_t)(dot + 1 - text.bytes)};
}

bool run_kind_parse(struct text text, enum run_kind *kind)
{
    unsigned number;
    if (!find_word(without_class(text), kinds, sizeof(kinds) / sizeof(kinds[0]), &number))
        return false;
    *kind = (enum run_kind)number;
    return true;
}

bool run_state_parse(struct text text, enum run_state *state)
{
    unsigned number;
    if (!find_word(without_class(text), states, sizeof(states) / sizeof(states[0]), &number))
        return false;
    *state = (enum run_state)number;
    return true;
}

static bool parse_unit(struct text text, int64_t *unit)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB"};
    for (int i = 0; i < 4; i++)
        if (text_equals(text, names[i])) {
            *unit = INT64_C(1) << (10 * i);
            return true;
        }
    return false;
}

bool run_decimal_parse(struct text text, uint64_t *digits, uint64_t *scale)
{
    bool has_point = false, has_digit = false;
    *digits = 0;
    *scale = 1;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.bytes[i];
        if (c == '.' && !has_point && has_digit) {
            has_point = true;
            continue;
        }
        if (c < '0' || c > '9' || __builtin_mul_overflow(*digits, 10u, digits) ||
            __builtin_add_overflow(*digits, (unsigned)(c - '0'), digits) ||
            (has_point && __builtin_mul_overflow(*scale, 10u, scale)))
            return false;
        has_digit = true;
    }
    return has_digit && text.bytes[text.size - 1] != '.';
}

bool run_size_parse(struct text text, int64_t *bytes, int64_t *unit)
{
    const char *space = memchr(text.bytes, ' ', text.size);
    uint64_t digits, scale;
    if (!space)
        return false;
    size_t size = (size_t)(space - text.bytes);
    if (!parse_unit((struct text){space + 1, text.size - size - 1}, unit) ||
        !run_decimal_parse((struct text){text.bytes, size}, &digits, &scale))
        return false;
    unsigned __int128 exact = digits;
    exact = (exact * (uint64_t)*unit + scale / 2) / scale;
    if (exact > INT64_MAX)
        return false;
    *bytes = (int64_t)exact;
    return true;
}
