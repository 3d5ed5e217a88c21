#include "analysis/ranks/rank_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MOST 9
#define NAME_DIGITS 5 /* of a rank at the end of a name; more are a date */

/* The digits at `at`, before `end`; -1 if there are none, or too many. */
static int64_t number_at(const char *at, const char *end)
{
    int64_t number = 0;
    int digits = 0;
    for (; at < end && isdigit((unsigned char)*at); at++, digits++) {
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
        if (before == 0 && at > path && isdigit((unsigned char)at[-1]))
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

/* Skips digits and the separator before them, backwards. False if they are not there. */
static bool skip_back(const char *begin, const char **at)
{
    const char *to = *at;
    while (to > begin && isdigit((unsigned char)to[-1]))
        to--;
    if (to == *at || to == begin || !strchr("_-", to[-1]))
        return false;
    *at = to - 1;
    return true;
}

/* True for a number that ends a time, as in "host_Nov_22_20_31_05", or a number of a process before
 * a time, as in "host_4711.1700000000000.pt.trace.json". */
static bool is_of_time(const char *begin, const char *stop, const char *end)
{
    const char *at = stop;
    bool three = skip_back(begin, &at) && skip_back(begin, &at) && skip_back(begin, &at);
    return three || (stop < end && strspn(stop + 1, "0123456789") > DIGITS_MOST);
}

/* "_3" before the file's extensions. */
static int64_t at_end_of_name(const char *begin, const char *end)
{
    static const char *const counters[] = {"step", "iter", "iteration", "epoch", "batch", "run"};
    const char *dot = memchr(begin, '.', (size_t)(end - begin)), *at = dot ? dot : end;
    const char *stop = at;
    while (at > begin && isdigit((unsigned char)at[-1]))
        at--;
    if (at == stop || at == begin || (at[-1] != '_' && at[-1] != '-'))
        return -1;
    /* On one node the local rank is the rank. */
    if (ends(begin, at - 1, "rank") && !ends(begin, at - 1, "local_rank"))
        return -1;
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        if (ends(begin, at - 1, counters[i]))
            return -1;
    return stop - at > NAME_DIGITS || is_of_time(begin, stop, end) ? -1 : number_at(at, stop);
}

static int64_t by_name(const char *path)
{
    const char *end = path + strlen(path), *file = strrchr(path, '/');
    file = file ? file + 1 : path;
    for (const char *stop = end, *begin = file;;) {
        int64_t rank = after_word(begin, stop);
        if (rank >= 0)
            return rank;
        if (begin == path)
            return at_end_of_name(file, end);
        stop = begin - 1;
        for (begin = stop; begin > path && begin[-1] != '/';)
            begin--;
    }
}

int64_t rank_of_path(const char *path, const char *pattern)
{
    return pattern ? by_pattern(path, pattern) : by_name(path);
}
