#include "commands/cli/complain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "render/core/escape.h"

#define LINE_SIZE    4608 /* the longest path plus the longest error */
#define LONGEST_WORD 32   /* longer words are not compared */

static void put_line(const char *format, va_list args)
{
    char text[LINE_SIZE];
    struct buffer line = BUFFER_INIT;
    vsnprintf(text, sizeof(text), format, args);
    buffer_puts(&line, "memsnap: ");
    escape_text(&line, text, strlen(text));
    if (line.failed)
        fputs("memsnap: out of memory\n", stderr);
    else
        fprintf(stderr, "%s\n", line.bytes);
    buffer_release(&line);
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(format, args);
    va_end(args);
}

enum status complain_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_line(format, args);
    va_end(args);
    return STATUS_USAGE;
}

enum status complain_failure(const struct error *err)
{
    complain("%s", err->text);
    return err->status;
}

const char *path_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool path_ends_in(const char *path, const char *ending)
{
    size_t size = strlen(path), ending_size = strlen(ending);
    return size > ending_size && strcmp(path + size - ending_size, ending) == 0;
}

enum status complain_error(const char *path, const struct error *err)
{
    if (err->has_offset)
        complain("%s: byte %" PRIu64 ": %s", path_name(path), err->offset, err->text);
    else
        complain("%s: %s", path_name(path), err->text);
    return err->status;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance: letters added, dropped or changed, or two neighbours swapped. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[LONGEST_WORD + 1][LONGEST_WORD + 1];
    for (size_t i = 0; i <= a_size; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        for (size_t j = 1; j <= b_size; j++) {
            size_t cost = a[i - 1] != b[j - 1];
            rows[i][j] =
                least(least(rows[i - 1][j], rows[i][j - 1]) + 1, rows[i - 1][j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a_size][b_size];
}

void closest_offer(struct closest *closest, const char *candidate)
{
    size_t word_size = strlen(closest->word), size = strlen(candidate);
    if (word_size == 0 || word_size > LONGEST_WORD || size > LONGEST_WORD)
        return;
    size_t distance = edit_distance(closest->word, word_size, candidate, size);
    /* a prefix of a longer word counts as one edit */
    if (word_size >= 2 && word_size < size && strncmp(closest->word, candidate, word_size) == 0)
        distance = 1;
    if (distance <= (size + 2) / 3 && (!closest->best || distance < closest->distance)) {
        closest->best = candidate;
        closest->distance = distance;
    }
}
