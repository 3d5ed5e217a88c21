#include "commands/cli/closest.h"

#include <string.h>

#define LONGEST 32 /* no candidate is longer, and no slip makes it so */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that turn one word into the other: a letter added, dropped, changed, or two swapped. */
static size_t edit_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t rows[LONGEST + 1][LONGEST + 1];
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
    if (word_size == 0 || word_size > LONGEST || size > LONGEST)
        return;
    size_t distance = edit_distance(closest->word, word_size, candidate, size);
    /* the beginning of a longer word is as good as one slip */
    if (word_size >= 2 && word_size < size && strncmp(closest->word, candidate, word_size) == 0)
        distance = 1;
    if (distance <= (size + 2) / 3 && (!closest->best || distance < closest->distance)) {
        closest->best = candidate;
        closest->distance = distance;
    }
}
