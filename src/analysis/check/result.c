#define _GNU_SOURCE /* vasprintf */
#include "analysis/check/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/internal.h"
#include "analysis/code/labels.h"

#define TEXT_MOST 4096 /* bytes of a label or a path that are kept */

static bool out_of_memory(struct error *err)
{
    return error_set(err, STATUS_LIMIT, "out of memory while checking");
}

bool check_copy(char **copy, const char *text, size_t size, struct error *err)
{
    struct buffer shown = BUFFER_INIT;
    label_add_bytes(&shown, text_first((struct text){text, size}, TEXT_MOST - 1));
    buffer_add(&shown, "", 0);
    if (shown.failed) {
        buffer_release(&shown);
        return out_of_memory(err);
    }
    *copy = shown.bytes;
    return true;
}

bool check_copy_words(char **copy, const char *words, struct error *err)
{
    *copy = NULL;
    return !words || check_copy(copy, words, strlen(words), err);
}

static void release_row(struct check_row *row)
{
    free(row->blame.label);
    free(row->blame.file);
    free(row->why);
    free(row->next);
}

bool check_add(struct check_result *result, struct check_row *row, struct error *err)
{
    struct check_row *grown = realloc(result->rows, (result->count + 1) * sizeof(*grown));
    if (!grown) {
        release_row(row);
        return out_of_memory(err);
    }
    result->rows = grown;
    result->rows[result->count++] = *row;
    return true;
}

bool check_add_warning(struct check_result *result, struct error *err, const char *format, ...)
{
    char *text = NULL;
    char **grown = realloc(result->warnings, (result->warning_count + 1) * sizeof(*grown));
    va_list arguments;
    if (!grown)
        return out_of_memory(err);
    result->warnings = grown;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return out_of_memory(err);
    result->warnings[result->warning_count++] = text;
    return true;
}

void check_result_release(struct check_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        release_row(&result->rows[i]);
    for (size_t i = 0; i < result->warning_count; i++)
        free(result->warnings[i]);
    free(result->rows);
    free(result->warnings);
    *result = (struct check_result){0};
}

bool check_result_passed(const struct check_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        if (!result->rows[i].passed)
            return false;
    return true;
}
