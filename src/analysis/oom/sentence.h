/* Composes a sentence with sizes in an array of char. */
#ifndef MEMSNAP_ANALYSIS_OOM_SENTENCE_H
#define MEMSNAP_ANALYSIS_OOM_SENTENCE_H

#include <stddef.h>

#include "base/units.h"

/* A text that grows as far as there is room. */
struct words {
    char *out; /* NUL-terminated */
    size_t size;
    enum unit unit;
};

void say(const struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct size_text {
    char text[UNITS_TEXT_SIZE];
};

struct size_text size_text(const struct words *words, uint64_t bytes);

#define SIZE(bytes) (size_text(words, bytes).text)

#endif
