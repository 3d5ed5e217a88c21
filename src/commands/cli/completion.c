#include "commands/cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "analysis/code/reason.h"
#include "commands/cli/command.h"
#include "commands/cli/topics.h"

void completion_put_categories(void)
{
    for (int category = 0; category < CATEGORY_COUNT; category++)
        printf("%s%s=", category ? " " : "", category_name((enum category)category));
}

static void put_words(const struct command *command, const struct option_spec *spec)
{
    for (const struct option_words *row = command->words; row && row->option; row++) {
        if (strcmp(row->option, spec->name) != 0)
            continue;
        if (row->put)
            row->put();
        else
            fputs(row->words, stdout);
        return;
    }
    const char *argument = spec->argument ? spec->argument : "";
    if (strncmp(argument, "[=", 2) == 0) /* "[=all]" */
        printf("%.*s", (int)strcspn(argument + 2, "]"), argument + 2);
    else
        putchar('-');
}

static void put_option(const struct command *command, const struct option_spec *spec)
{
    printf("option\t%s\t--%s\t", command->name, spec->name);
    if (spec->value < OPTION_LONG_ONLY)
        printf("-%c\t", spec->value);
    else
        printf("-\t");
    printf("%s\t", spec->argument ? spec->argument : "-");
    put_words(command, spec);
    putchar('\t');
    for (const char *c = spec->help; *c; c++)
        putchar(*c == '\n' ? ' ' : *c);
    putchar('\n');
}

void completion_print(void)
{
    for (size_t i = 0; commands[i]; i++)
        printf("command\t%s\t%s\n", commands[i]->name, commands[i]->summary);
    for (const struct topic *topic = topics; topic->name; topic++)
        printf("topic\t%s\t%s\n", topic->name, topic->summary);
    for (size_t i = 0; commands[i]; i++)
        for (const struct option_spec *spec = command_options(commands[i]); spec->name; spec++)
            put_option(commands[i], spec);
}
