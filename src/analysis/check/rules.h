/* The kinds of rule that `memsnap check` knows.
 *
 * A kind is one row of check_kinds, in rules.c. Options, --help, completion, policies and reports
 * follow from the row; a new kind also needs its words in render/check/words.c, a property in
 * share/policy.schema.json and a paragraph in memsnap-check(1). */
#ifndef MEMSNAP_ANALYSIS_CHECK_RULES_H
#define MEMSNAP_ANALYSIS_CHECK_RULES_H

#include <stdbool.h>
#include <stddef.h>

enum check_unit { CHECK_BYTES, CHECK_BYTES_A_STEP, CHECK_EVENTS, CHECK_SITES };

/* The argument of a rule. From CHECK_TAKES_CATEGORY on it is SUBJECT=SIZE, and the user may give
 * one rule for each subject. */
enum check_takes {
    CHECK_TAKES_NOTHING,
    CHECK_TAKES_SIZE,
    CHECK_TAKES_SIZE_OR_SHARE, /* "2GiB" or "30%" */
    CHECK_TAKES_CATEGORY,      /* "activation=2GiB" */
    CHECK_TAKES_PATTERN,       /* "model.py:*=4GiB" */
    CHECK_TAKES_CHECKPOINTS,   /* "4=8GiB" */
};

/* The captures that a kind of rule applies to. */
enum {
    CHECK_OF_SNAPSHOT = 1 << 0,
    CHECK_OF_LAYERS = 1 << 1,
    CHECK_OF_CURVES = 1 << 2,  /* MemoryTracker's curves of memory by operator */
    CHECK_OF_HISTORY = 1 << 3, /* a history of runs, as memsnap trend reads */
    CHECK_OF_SUMMARY = 1 << 4,
    CHECK_OF_ANY = CHECK_OF_SNAPSHOT | CHECK_OF_LAYERS | CHECK_OF_CURVES | CHECK_OF_SUMMARY,
};

struct judge;
struct check_row;
typedef bool check_function(struct judge *judge, struct check_row *row);

struct check_kind {
    const char *name;            /* of the option, of the key in a policy, in reports */
    const char *argument, *help; /* for --help; argument NULL: takes nothing */
    const char *example;         /* of an argument, for error messages */
    enum check_takes takes;
    enum check_unit unit;
    unsigned captures;   /* CHECK_OF_*, any of them */
    bool needs_baseline; /* compares with the capture of --baseline */
    /* Why the value never exceeds the bytes that a share is of, so that a limit of 100% or more
     * cannot fail; NULL: it may exceed them. */
    const char *at_most_whole;
    const char *absence; /* why a capture may have nothing to judge; the end of an error message */
    /* Fills in row->value and row->whole, or says that there is nothing to judge. */
    check_function *judge;
    /* On a device of a snapshot: fills in the code to blame, and what to do about it. */
    check_function *blame;
};

#define CHECK_KINDS 11
extern const struct check_kind check_kinds[CHECK_KINDS + 1]; /* ends with a NULL name */

const struct check_kind *check_kind_find(const char *name); /* NULL: no such kind */

#endif
