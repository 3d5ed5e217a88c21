/* The options of `memsnap diff`. */
#ifndef MEMSNAP_COMMANDS_DIFF_OPTIONS_H
#define MEMSNAP_COMMANDS_DIFF_OPTIONS_H

#include "commands/cli/arguments.h"
#include "commands/cli/capture.h"
#include "commands/cli/command.h"
#include "render/diff/diff.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_CSV };

struct diff_settings {
    struct capture_options capture; /* for both; `device` is unused */
    int64_t devices[2];             /* of A and B; or ALL_DEVICES */
    struct when at[2];
    const char *at_text[2]; /* as given */
    size_t top;             /* call sites that changed; 0: all */
    bool top_given;
    enum unit unit;
    enum diff_format format;
    enum diff_by by;
    enum stack_detail stacks;
    const char *fail_over; /* as given; NULL: no limit */
    int64_t fail_bytes;
    double fail_share; /* share of A; negative: fail_bytes counts instead */
    const char *rules, *output;
    const char *snapshot_option; /* the first given option that applies only to snapshots */
};

extern const struct option_spec diff_option_specs[];

/* The settings without any option. */
struct diff_settings diff_settings_default(void);
/* Stores one option, with its argument in optarg. */
bool diff_option(int option, void *to, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. */
bool diff_options_complete(struct diff_settings *settings, struct error *err);

/* Compares the increase from `a` to `b`, in bytes, with the limit of --fail-over. */
struct diff_limit diff_limit_check(const struct diff_settings *settings, int64_t a, int64_t b);

#endif
