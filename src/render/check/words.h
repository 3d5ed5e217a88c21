/* How a rule's outcome is told in words; escaped, for any of the formats. */
#ifndef MEMSNAP_RENDER_CHECK_WORDS_H
#define MEMSNAP_RENDER_CHECK_WORDS_H

#include "render/check/check.h"

/* How much below the limit; negative where it is above. Saturates. */
int64_t check_margin(const struct check_row *row);

/* "max-category activation", "max-increase 2%" */
void check_words_rule(struct buffer *out, const struct check_rule *rule);
/* "425.15 MiB", "1" */
void check_words_value(struct buffer *out, enum check_kind kind, int64_t value, enum unit unit);
/* "the active peak is 425.15 MiB, 25.15 MiB above the limit of 400.00 MiB." */
void check_words_failure(struct buffer *out, const struct check_row *row, enum unit unit);
/* "The most is held by model.py:39 forward: 36.64 MiB (/home/user/model.py, line 39)."; nothing
 * where nobody is to blame. */
void check_words_blame(struct buffer *out, const struct check_row *row, enum unit unit);
/* What was found, and what to do about it; nothing where nothing is known. */
void check_words_advice(struct buffer *out, const struct check_row *row);
/* "memsnap diff old.pickle new.pickle", quoted for a shell: what shows more. */
void check_words_command(struct buffer *out, const struct check_row *row,
                         const struct check_report *report, const char *path);

/* Text of the input. */
void check_words_escaped(struct buffer *out, const char *text);
/* "f.pickle", "standard input" */
void check_words_path(struct buffer *out, const char *path);
/* "byte 12: expected ..." */
void check_words_error(struct buffer *out, const struct error *err);

#endif
