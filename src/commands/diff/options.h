/* The options of `memsnap diff`. */
#ifndef MEMSNAP_COMMANDS_DIFF_OPTIONS_H
#define MEMSNAP_COMMANDS_DIFF_OPTIONS_H

#include "commands/cli/arguments.h"
#include "commands/cli/capture.h"
#include "commands/cli/command.h"
#include "render/diff/diff.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_CSV };

struct diff_settings {
    struct capture_options capture; /* of both; its device is not looked at */
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
    double fail_share; /* of A, where not below 0; then fail_bytes does not count */
    const char *rules, *output;
    const char *snapshot_option; /* the first option given that is only for allocator snapshots */
};

extern const struct option_spec diff_option_specs[];

/* What holds where no option says otherwise. */
struct diff_settings diff_settings_default(void);
/* Takes in one option, with its argument in optarg. */
bool diff_option(int option, void *to, struct error *err);
/* What the options leave open, once all are taken in; false where they do not go together. */
bool diff_options_complete(struct diff_settings *settings, struct error *err);

/* Whether B exceeds A by more than --fail-over allows. */
struct diff_limit diff_limit_check(const struct diff_settings *settings, int64_t a, int64_t b);

#endif
