/* The options that memsnap ranks and memsnap merge share. */
#ifndef MEMSNAP_COMMANDS_SUMMARY_OPTIONS_H
#define MEMSNAP_COMMANDS_SUMMARY_OPTIONS_H

#include "commands/cli/files.h"
#include "commands/cli/options.h"
#include "commands/summary/gather.h"

enum { OPTION_STRICT = OPTION_LONG_ONLY, OPTION_RANKS_OWN };

#define ROW_STRICT                                                                                 \
    {                                                                                              \
        OPTION_STRICT, "strict", NULL, "stop at the first file that cannot be read"                \
    }
#define ROW_LEFT_OUT                                                                               \
    {                                                                                              \
        'v', "verbose", NULL, "name the files in a folder that are left out"                       \
    }

/* Options that both commands have. */
struct summary_options {
    struct gather_options gather;
    struct file_choice files;
    bool verbose;
    const char *rules, *output;
};

/* Stores one of these options, or one of `shared`, with its argument in optarg. */
bool summary_option(int option, struct summary_options *options,
                    const struct shared_options *shared, struct error *err);

/* Runs the work, in several processes if MPI started them, with the files that the arguments name,
 * folders expanded. Reports failures. */
enum status summary_run(struct summary_options *options, char **named, int count, files_work *work,
                        void *self);

#endif
