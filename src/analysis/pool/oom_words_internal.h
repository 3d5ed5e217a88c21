/* What the files of sentences on out-of-memory events share. */
#ifndef MEMSNAP_ANALYSIS_POOL_OOM_WORDS_INTERNAL_H
#define MEMSNAP_ANALYSIS_POOL_OOM_WORDS_INTERNAL_H

#include "analysis/pool/oom_words.h"

/* A text that grows, as far as there is room. */
struct words {
    char *out; /* NUL-terminated */
    size_t size;
    enum unit unit;
};

void oom_say(const struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct size_text {
    char text[UNITS_TEXT_SIZE];
};

struct size_text oom_size(const struct words *words, uint64_t bytes);

#define SIZE(bytes) (oom_size(words, bytes).text)

/* Of OOM_OTHER_POOL: where memory lay unused, and how the request could have had it. */
void oom_say_elsewhere(const struct words *words, const struct oom_layout *layout);
void oom_say_elsewhere_next(const struct words *words, const struct oom_elsewhere *elsewhere,
                            const struct allocator_rules *rules);

#endif
