/* Sentences about the outcome of a rule, escaped, for any of the formats. */
#ifndef MEMSNAP_RENDER_CHECK_WORDS_H
#define MEMSNAP_RENDER_CHECK_WORDS_H

#include "render/check/check.h"

/* The command that shows more about a failure. */
enum check_look_closer {
    CLOSER_ANALYZE,
    CLOSER_STACKS, /* analyze with all call sites and their stacks */
    CLOSER_DIFF,
    CLOSER_SUGGEST,
    CLOSER_TREND,
    CLOSER_REPLAY,
    CLOSER_RANKS, /* of summaries */
    CLOSER_COMMANDS,
};

/* Limit minus value; saturates. */
int64_t check_margin(const struct check_row *row);

/* "max-category activation", "max-increase 2%" */
void check_words_rule(struct buffer *out, const struct check_rule *rule);
/* "425.15 MiB", "1" */
void check_words_value(struct buffer *out, const struct check_kind *kind, int64_t value,
                       enum unit unit);
/* "not judged: nothing in the file has this category." */
void check_words_not_judged(struct buffer *out, const struct check_row *row);
/* "the active peak is 425.15 MiB, 25.15 MiB above the limit of 400.00 MiB." */
void check_words_failure(struct buffer *out, const struct check_row *row, enum unit unit);
/* "The line that holds most of it is model.py:39 forward: 36.64 MiB (/home/user/model.py:39).";
 * adds nothing if no line of code is known. */
void check_words_blame(struct buffer *out, const struct check_row *row, enum unit unit);
/* The reason and the next step, if they are known. */
void check_words_advice(struct buffer *out, const struct check_row *row);
/* The command that shows more about the failure of a row. */
enum check_look_closer check_words_closer(const struct check_row *row);
/* "memsnap diff old.pickle new.pickle", quoted for a shell. */
void check_words_command(struct buffer *out, const struct check_row *row,
                         const struct check_report *report, const char *path);
/* "reserved_bytes": the JSON key of the total that a share is relative to; NULL if the kind has
 * none. */
const char *check_words_whole(const struct check_kind *kind);

/* Adds text from the input, escaped. */
void check_words_escaped(struct buffer *out, const char *text);
/* "f.pickle", "standard input" */
void check_words_path(struct buffer *out, const char *path);
/* "byte 12: expected ..." */
void check_words_error(struct buffer *out, const struct error *err);

#endif
