/* The options of `memsnap replay`. */
#ifndef MEMSNAP_COMMANDS_REPLAY_OPTIONS_H
#define MEMSNAP_COMMANDS_REPLAY_OPTIONS_H

#include "base/units.h"
#include "commands/cli/capture.h"
#include "commands/cli/choice.h"
#include "commands/cli/command.h"
#include "commands/replay/arguments.h"

enum replay_format { REPLAY_TEXT, REPLAY_JSON, REPLAY_CSV };

struct replay_command {
    struct capture_options capture; /* without a range: the whole trace is needed */
    struct file_choice files;
    struct window range;
    struct replay_options replay; /* `settings` points to the next member, or is NULL */
    struct allocator_settings settings[SETTINGS_MOST];
    enum replay_format format;
    enum unit unit;
    size_t jobs; /* threads; 0: one per core */
    const char *output;
};

extern const struct option_spec replay_option_specs[];
extern const struct option_words replay_option_words[];

/* Stores one option, with its argument in optarg. */
bool replay_option(int option, void *to, struct error *err);

#endif
