#define _GNU_SOURCE /* memmem */
#include "decode/log/prefix.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"

#define LOOK_BYTES  ((size_t)160) /* a timestamp and a host may stand before the rank */
#define PREFIXES    4             /* a time, torchrun's and PyTorch's own, one after the other */
#define MOST_DIGITS 9
#define NAME_MOST   ((size_t)64)
#define POD_MOST    ((size_t)320) /* names of pods have at most 253 characters, of containers 63 */

static bool is_one_of(char c, const char *characters)
{
    return c && strchr(characters, c);
}

static bool take_number(struct text line, size_t *at, int64_t *number)
{
    size_t from = *at;
    while (*at < line.size && *at - from < MOST_DIGITS && ascii_is_digit(line.bytes[*at]))
        ++*at;
    return text_number((struct text){line.bytes + from, *at - from}, number);
}

/* The number after `word` in [at, end), or false. */
static bool find_number(struct text line, size_t at, size_t end, const char *word, int64_t *number)
{
    const char *found = memmem(line.bytes + at, end - at, word, strlen(word));
    size_t from = found ? (size_t)(found - line.bytes) + strlen(word) : 0;
    return found && take_number((struct text){line.bytes, end}, &from, number);
}

static size_t skip_colon(struct text line, size_t at)
{
    if (at < line.size && line.bytes[at] == ':')
        at++;
    if (at < line.size && line.bytes[at] == ' ')
        at++;
    return at;
}

/* "[rank3]:", "[Rank 3]", "[default3]:" */
static bool take_bracket(struct text line, size_t at, struct log_prefix *prefix)
{
    static const char *const words[] = {"[rank", "[default"};
    int64_t rank;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t from = at, size = strlen(words[i]);
        if (line.size - at <= size || strncasecmp(line.bytes + at, words[i], size) != 0)
            continue;
        from += size;
        if (line.bytes[from] == ' ' || line.bytes[from] == ':')
            from++;
        if (take_number(line, &from, &rank) && from < line.size && line.bytes[from] == ']') {
            prefix->rank = rank;
            prefix->size = skip_colon(line, from + 1);
            return true;
        }
    }
    return false;
}

/* "(RayTrainWorker pid=4711, ip=10.0.0.1) " */
static bool take_worker(struct text line, size_t at, struct log_prefix *prefix)
{
    size_t end = at + LOOK_BYTES < line.size ? at + LOOK_BYTES : line.size;
    const char *close =
        at < end && line.bytes[at] == '(' ? memchr(line.bytes + at, ')', end - at) : NULL;
    if (!close)
        return false;
    end = (size_t)(close - line.bytes);
    if (!find_number(line, at, end, "pid=", &prefix->pid))
        return false;
    find_number(line, at, end, "rank=", &prefix->rank);
    prefix->size = skip_colon(line, end + 1);
    return true;
}

/* "3: ", with spaces before it, as srun --label writes */
static bool take_label(struct text line, struct log_prefix *prefix)
{
    size_t at = 0;
    int64_t rank;
    while (at < line.size && at < MOST_DIGITS && line.bytes[at] == ' ')
        at++;
    if (!take_number(line, &at, &rank) || line.size - at < 2 || line.bytes[at] != ':' ||
        line.bytes[at + 1] != ' ')
        return false;
    prefix->rank = rank;
    prefix->size = at + 2;
    return true;
}

/* True if the text goes on like the pattern, in which a 0 stands for any digit. */
static bool is_like(struct text line, size_t at, const char *pattern)
{
    size_t size = strlen(pattern);
    if (line.size < size || at > line.size - size)
        return false;
    for (size_t i = 0; i < size; i++) {
        bool is_digit = ascii_is_digit(line.bytes[at + i]);
        if (pattern[i] == '0' ? !is_digit : line.bytes[at + i] != pattern[i])
            return false;
    }
    return true;
}

/* "2026-07-01T12:33:44.123Z ", "[2026-07-01 12:33:44,123] ", and what Kubernetes writes after it:
 * "stderr F " */
static bool take_time(struct text line, size_t at, struct log_prefix *prefix)
{
    static const char day[] = "0000-00-00", time[] = "00:00:00";
    static const char *const streams[] = {"stderr F ", "stdout F "};
    size_t from = at + (at < line.size && line.bytes[at] == '[');
    size_t then = from + strlen(day) + 1;
    if (!is_like(line, from, day) || !is_like(line, then, time))
        return false;
    for (then += strlen(time); then < line.size && line.bytes[then] != ' '; then++)
        if (!is_one_of(line.bytes[then], "0123456789.,:+-Z]"))
            return false;
    prefix->size = then < line.size ? then + 1 : then;
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        if (is_like(line, prefix->size, streams[i]))
            prefix->size += strlen(streams[i]);
    return true;
}

/* "[1,3]<stderr>:", as mpirun --tag-output writes: the job and the rank */
static bool take_tag(struct text line, size_t at, struct log_prefix *prefix)
{
    int64_t job, rank;
    if (at >= line.size || line.bytes[at++] != '[' || !take_number(line, &at, &job) ||
        at >= line.size || line.bytes[at++] != ',' || !take_number(line, &at, &rank) ||
        (!is_like(line, at, "]<stderr>:") && !is_like(line, at, "]<stdout>:")))
        return false;
    prefix->rank = rank;
    prefix->size = at + strlen("]<stderr>:");
    return true;
}

/* "trainer-1  | ", as Docker Compose writes: the container, padded so that the bars align */
static bool take_container(struct text line, size_t at, struct log_prefix *prefix)
{
    size_t end = at;
    while (end < line.size && end - at < NAME_MOST &&
           (isalnum((unsigned char)line.bytes[end]) || is_one_of(line.bytes[end], "_.-")))
        end++;
    size_t bar = end;
    while (bar < line.size && bar - at < LOOK_BYTES && line.bytes[bar] == ' ')
        bar++;
    if (end == at || bar == end || !is_like(line, bar, "| "))
        return false;
    prefix->container = (struct text){line.bytes + at, end - at};
    prefix->size = bar + strlen("| ");
    return true;
}

/* "[pod/trainer-0/main] ", as kubectl logs --prefix writes: the pod and the container */
static bool take_pod(struct text line, size_t at, struct log_prefix *prefix)
{
    static const char word[] = "[pod/";
    if (!is_like(line, at, word))
        return false;
    size_t name = at + strlen(word), end = name;
    while (end < line.size && end - name < POD_MOST &&
           (isalnum((unsigned char)line.bytes[end]) || is_one_of(line.bytes[end], "_.-/")))
        end++;
    if (!is_like(line, end, "] "))
        return false;
    prefix->container = (struct text){line.bytes + name, end - name};
    prefix->size = end + strlen("] ");
    return true;
}

static bool take_any(struct text line, struct log_prefix *prefix)
{
    return take_bracket(line, prefix->size, prefix) || take_worker(line, prefix->size, prefix) ||
           take_time(line, prefix->size, prefix) || take_tag(line, prefix->size, prefix) ||
           take_pod(line, prefix->size, prefix) ||
           (prefix->size == 0 && take_container(line, 0, prefix));
}

struct log_prefix log_prefix_of(struct text line)
{
    struct log_prefix prefix = {.end = line.size, .rank = -1, .pid = -1, .container = {"", 0}};
    for (int i = 0; i < PREFIXES && take_any(line, &prefix); i++)
        ;
    if (prefix.size == 0)
        take_label(line, &prefix);
    bool is_record = prefix.size < line.size && line.bytes[prefix.size] == '{'; /* record.h */
    if (prefix.pid < 0 && !is_record) /* a host may stand before the rank */
        for (size_t at = prefix.size;
             at < line.size && at - prefix.size < LOOK_BYTES && prefix.rank < 0; at++)
            if (line.bytes[at] == '[')
                take_bracket(line, at, &prefix);
    return prefix;
}

int64_t log_prefix_last_rank(struct text text)
{
    struct log_prefix prefix = {.rank = -1};
    for (size_t at = text.size; at-- > 0 && prefix.rank < 0;)
        if (text.bytes[at] == '[')
            take_bracket(text, at, &prefix);
    return prefix.rank;
}
