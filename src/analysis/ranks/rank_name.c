#include "analysis/ranks/rank_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"

#define DIGITS_MOST    9
#define NAME_DIGITS    5 /* of a rank at the end of a name; more are a date */
#define VERSION_DIGITS 3 /* after a dot, at most; more are a date */
#define MANY_DIGITS    INT64_MAX
#define NUMBERS_A_FILE 8 /* at most, if they are ranks: one file of each node */

/* The digits at `at`, before `end`; -1 if there are none, or too many. */
static int64_t number_at(const char *at, const char *end)
{
    int64_t number = 0;
    int digits = 0;
    for (; at < end && ascii_is_digit(*at); at++, digits++) {
        if (digits == DIGITS_MOST)
            return -1;
        number = 10 * number + (*at - '0');
    }
    return digits > 0 ? number : -1;
}

static bool begins(const char *at, const char *end, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(end - at) >= size && strncasecmp(at, word, size) == 0;
}

static bool ends(const char *begin, const char *at, const char *word)
{
    size_t size = strlen(word);
    return (size_t)(at - begin) >= size && strncasecmp(at - size, word, size) == 0;
}

bool rank_pattern_is_valid(const char *pattern)
{
    const char *at = strstr(pattern, RANK_PLACEHOLDER);
    return at && !strstr(at + 1, RANK_PLACEHOLDER);
}

static int64_t by_pattern(const char *path, const char *pattern)
{
    const char *placeholder = strstr(pattern, RANK_PLACEHOLDER);
    const char *rest = placeholder + strlen(RANK_PLACEHOLDER), *end = path + strlen(path);
    size_t before = (size_t)(placeholder - pattern);
    for (const char *at = end; at >= path; at--) {
        if ((size_t)(end - at) < before || memcmp(at, pattern, before) != 0)
            continue;
        /* The number must be all of the digits: "w{RANK}" does not begin within "w12". */
        if (before == 0 && at > path && ascii_is_digit(at[-1]))
            continue;
        const char *digits = at + before;
        int64_t rank = number_at(digits, end);
        size_t count = strspn(digits, "0123456789");
        if (rank >= 0 && strncmp(digits + count, rest, strlen(rest)) == 0)
            return rank;
    }
    return -1;
}

/* True if the word before `at` says that the rank is one within a group, as in "local_rank". */
static bool is_of_group(const char *begin, const char *at)
{
    static const char *const groups[] = {"local", "node", "group", "tp", "pp",
                                         "dp",    "ep",   "cp",    "mp"};
    if (at > begin && strchr("_-.", at[-1]))
        at--;
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        const char *word = at - strlen(groups[i]);
        if (ends(begin, at, groups[i]) && (word == begin || !isalnum((unsigned char)word[-1])))
            return true;
    }
    return false;
}

/* The number after the last "rank" in a part of the path. */
static int64_t after_word(const char *begin, const char *end)
{
    for (const char *at = end; at-- > begin;) {
        if (!begins(at, end, "rank") || is_of_group(begin, at))
            continue;
        at += 4;
        int64_t rank = number_at(at, end);
        if (rank < 0 && at < end && strchr("_-=.", *at))
            rank = number_at(at + 1, end);
        if (rank >= 0)
            return rank;
        at -= 4;
    }
    return -1;
}

static bool is_word(const char *begin, const char *end, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = end - strlen(words[i]);
        if (ends(begin, end, words[i]) && (at == begin || !isalnum((unsigned char)at[-1])))
            return true;
    }
    return false;
}

/* The number before `*at`, with the separator before it unless the name begins with it; moves `*at`
 * before both. -1 if there is none. */
static int64_t number_before(const char *begin, const char **at)
{
    const char *from = *at, *end = *at;
    while (from > begin && ascii_is_digit(from[-1]))
        from--;
    if (from == end || (from > begin && !strchr("_-", from[-1])))
        return -1;
    *at = from > begin ? from - 1 : from;
    return end - from > DIGITS_MOST ? MANY_DIGITS : number_at(from, end);
}

static bool is_year(int64_t number)
{
    return number >= 1900 && number <= 2099;
}

/* True for a number that ends a date or a time, as in "host_Nov_22_20_31_05" or "2026-11-22". */
static bool is_of_time(const char *begin, const char *stop)
{
    const char *at = stop;
    int64_t last = number_before(begin, &at), before = number_before(begin, &at);
    bool three = before >= 0 && number_before(begin, &at) >= 0;
    bool is_clock = before > 10000000 && last >= 100; /* "20261122_1430" */
    return three || is_year(last) || is_year(before) || is_clock;
}

/* True if a number that a dot ends is part of a version or a decimal number, or the number of a
 * process, which a time follows: "torch-2.8.pickle", "host_4711.1700000000000.pt.trace.json". */
static bool is_of_version(const char *begin, const char *word_end, const char *stop,
                          const char *end)
{
    static const char *const workers[] = {"worker", "gpu", "cuda", "device", "rank"};
    size_t digits = stop == end ? 0 : strspn(stop + 1, "0123456789");
    if (digits > DIGITS_MOST)
        return !is_word(begin, word_end, workers, sizeof(workers) / sizeof(*workers));
    return digits > 0 && digits <= VERSION_DIGITS;
}

/* "_3" before the file's extensions. */
static int64_t at_end_of_name(const char *begin, const char *end)
{
    static const char *const others[] = {
        /* counters and sizes */
        "step", "steps", "iter", "iteration", "epoch", "batch", "batchsize", "bs", "run", "trial",
        "try", "attempt", "restart", "version", "ver", "v", "seed", "job", "pid", "node", "host",
        "nodes", "gpus", "world", "nproc", "ws", "layer", "layers", "seq", "seqlen", "len", "ctx",
        "checkpoint", "ckpt", "chunk", "part", "torch", "micro", "microbatch", "mb", "accum",
        /* numbers of models of GPUs */
        "rtx", "gtx", "titan", "tesla", "quadro", "geforce", "radeon",
        /* ranks within a group */
        "tp", "pp", "dp", "ep", "cp", "mp", "stage"};
    const char *dot = memchr(begin, '.', (size_t)(end - begin)), *stop = dot ? dot : end;
    const char *at = stop;
    while (at > begin && ascii_is_digit(at[-1]))
        at--;
    if (at == stop || at == begin || (at[-1] != '_' && at[-1] != '-'))
        return -1;
    /* On one node the local rank is the rank. */
    if (ends(begin, at - 1, "rank") && !ends(begin, at - 1, "local_rank"))
        return -1;
    if (stop - at > NAME_DIGITS || is_of_time(begin, stop) ||
        is_word(begin, at - 1, others, sizeof(others) / sizeof(*others)) ||
        is_of_version(begin, at - 1, stop, end))
        return -1;
    return number_at(at, stop);
}

static int64_t by_name(const char *path, enum rank_source *source)
{
    const char *end = path + strlen(path), *file = strrchr(path, '/');
    file = file ? file + 1 : path;
    for (const char *stop = end, *begin = file;;) {
        int64_t rank = after_word(begin, stop);
        *source = RANK_NAMED;
        if (rank >= 0)
            return rank;
        *source = RANK_NUMBER;
        if (begin == path)
            return at_end_of_name(file, end);
        stop = begin - 1;
        for (begin = stop; begin > path && begin[-1] != '/';)
            begin--;
    }
}

int64_t rank_of_path(const char *path, const char *pattern, enum rank_source *source)
{
    enum rank_source found = RANK_PATTERN;
    int64_t rank = pattern ? by_pattern(path, pattern) : by_name(path, &found);
    if (source)
        *source = rank < 0 ? RANK_UNKNOWN : found;
    return rank;
}

bool rank_numbers_may_be_ranks(int64_t highest, size_t count)
{
    return highest < NUMBERS_A_FILE * ((int64_t)count + 1);
}

const char *rank_source_name(enum rank_source source)
{
    static const char *const names[] = {[RANK_UNKNOWN] = "unknown",
                                        [RANK_NUMBER] = "number",
                                        [RANK_NAMED] = "name",
                                        [RANK_PATTERN] = "pattern",
                                        [RANK_IN_FILE] = "file"};
    return names[source];
}
