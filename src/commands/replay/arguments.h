/* The arguments of the options by which commands ask for a replay. Each is in optarg. */
#ifndef MEMSNAP_COMMANDS_REPLAY_ARGUMENTS_H
#define MEMSNAP_COMMANDS_REPLAY_ARGUMENTS_H

#include "analysis/replay/replay.h"

#define SETTINGS_MOST 64

/* --alloc-conf: appends to `settings`, an array of SETTINGS_MOST that the options then point to. */
bool replay_argument_conf(struct replay_options *options, struct allocator_settings *settings,
                          struct error *err);
/* --gpu-memory, --other-use */
bool replay_argument_size(const char *option, uint64_t *bytes, struct error *err);
/* --torch: "2.8", "2.13.1" */
bool replay_argument_torch(enum tie_break *tie_break, struct error *err);

#endif
