/* Lists of sentences about a comparison. */
#ifndef MEMSNAP_ANALYSIS_DIFF_WORDS_H
#define MEMSNAP_ANALYSIS_DIFF_WORDS_H

#include <stddef.h>

#include "base/error.h"
#include "base/units.h"

/* malloc'ed raw bytes: escape before showing. */
struct diff_words {
    char *items[16]; /* more are dropped */
    size_t count;
};

/* Adds a sentence. */
bool diff_say(struct diff_words *words, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "The peak grew by 3.20 GiB (+12.1%): from 26.50 GiB to 29.70 GiB.", or "The peak: 26.50 GiB in
 * both." */
bool diff_say_change(struct diff_words *words, const char *what, const int64_t bytes[2],
                     enum unit unit, struct error *err);
void diff_words_release(struct diff_words *words);

/* B minus A; saturates. Each sum is valid, but their difference may overflow. */
int64_t diff_delta(int64_t a, int64_t b);
/* The absolute value; saturates. */
int64_t diff_magnitude(int64_t value);

#endif
