/* The options of `memsnap diff`, and the job they describe. */
#ifndef MEMSNAP_COMMANDS_DIFF_OPTIONS_H
#define MEMSNAP_COMMANDS_DIFF_OPTIONS_H

#include "commands/cli/arguments.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"
#include "render/diff/diff.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_CSV };

struct diff_settings {
    struct capture_options capture; /* for both; `device` is unused */
    struct file_choice files;
    int64_t devices[2]; /* of A and B; or ALL_DEVICES */
    struct when at[2];
    const char *at_text[2]; /* as given */
    bool at_given;
    size_t top; /* call sites that changed; 0: all */
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
extern const struct option_words diff_option_words[];

/* The settings without any option. */
struct diff_settings diff_settings_default(void);
/* Stores one option, with its argument in optarg. */
bool diff_option(int option, void *to, struct error *err);
/* Sets defaults after the last option, and rejects conflicting options. */
bool diff_options_complete(struct diff_settings *settings, struct error *err);

/* Compares the increase from `a` to `b`, in bytes, with the limit of --fail-over. */
struct diff_limit diff_limit_check(const struct diff_settings *settings, int64_t a, int64_t b);

#define DIFF_NEITHER 2 /* the error concerns neither input */

/* Settings for any kind of file. */
struct diff_job {
    const struct diff_settings *settings;
    const struct page *page; /* the report goes to page->out */
    char *const *paths;      /* A, B */
    struct watch *watch;
    bool *exceeded; /* set if B exceeds A by more than --fail-over allows */
};

/* Takes ownership of both unread inputs and prints the report. On failure, `*blame` is the
 * index of the faulty input, or DIFF_NEITHER. */
typedef bool diff_files(const struct diff_job *job, struct input inputs[2], unsigned *blame,
                        struct error *err);

/* Allocator snapshots. A is reduced to its sums before B is read. */
diff_files diff_snapshots;
/* Captures of which at least one is a summary; the other one is summarised. */
diff_files diff_summaries;

#endif
