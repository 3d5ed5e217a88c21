#include <string.h>
#include <unistd.h>

#include "commands/cli/closest.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"

const struct command *const commands[] = {&command_analyze,
                                          &command_backends,
                                          &command_check,
                                          &command_convert,
                                          &command_diff,
                                          &command_dump,
                                          &command_export,
                                          &command_flame,
                                          &command_help,
                                          &command_plot,
                                          &command_suggest,
                                          &command_version,
                                          NULL};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

enum status command_unknown(const char *name)
{
    struct closest closest = {.word = name};
    for (size_t i = 0; commands[i]; i++)
        closest_offer(&closest, commands[i]->name);
    if (closest.best)
        return complain_usage("unknown command '%s'; did you mean '%s'?", name, closest.best);
    if (access(name, F_OK) == 0)
        return complain_usage("'%s' is a file, not a command; did you mean 'memsnap analyze %s'?",
                              name, name);
    return complain_usage("unknown command '%s'; see 'memsnap help'", name);
}
