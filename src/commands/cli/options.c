#include "commands/cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "analysis/ranks/rank_name.h"
#include "commands/cli/arguments.h"
#include "commands/cli/complain.h"

#define MAX_OPTIONS 48
#define MOST_JOBS   1024
#define RANK_MOST   999999999
#define HELP_COLUMN 26 /* where the descriptions begin */

static const struct option_spec *spec_of(const struct command *command, int value)
{
    for (const struct option_spec *spec = command_options(command); spec->name; spec++)
        if (spec->value == value)
            return spec;
    return NULL;
}

static size_t count_prefixed(const struct command *command, const char *name, size_t size)
{
    size_t count = 0;
    for (const struct option_spec *spec = command_options(command); spec->name; spec++)
        count += strncmp(spec->name, name, size) == 0;
    return count;
}

static void bad_long_option(const struct command *command, const char *argument)
{
    char name[64];
    size_t size = strcspn(argument + 2, "=");
    snprintf(name, sizeof(name), "%.*s", (int)(size < sizeof(name) ? size : sizeof(name) - 1),
             argument + 2);
    struct closest closest = {.word = name};
    for (const struct option_spec *spec = command_options(command); spec->name; spec++)
        closest_offer(&closest, spec->name);
    if (count_prefixed(command, name, strlen(name)) > 1)
        complain("%s: option --%s is ambiguous; see 'memsnap %s --help'", command->name, name,
                 command->name);
    else if (closest.best)
        complain("%s: unknown option --%s; did you mean --%s?", command->name, name, closest.best);
    else
        complain("%s: unknown option --%s; see 'memsnap %s --help'", command->name, name,
                 command->name);
}

static void bad_option(const struct command *command, char **argv, bool missing_argument)
{
    const struct option_spec *spec = optopt ? spec_of(command, optopt) : NULL;
    if (spec && missing_argument)
        complain("%s: option --%s needs an argument: --%s %s", command->name, spec->name,
                 spec->name, spec->argument);
    else if (spec)
        complain("%s: option --%s takes no argument", command->name, spec->name);
    else if (optopt)
        complain("%s: unknown option -%c; see 'memsnap %s --help'", command->name, optopt,
                 command->name);
    else
        bad_long_option(command, argv[optind - 1]);
}

static int argument_kind(const struct option_spec *spec)
{
    if (!spec->argument)
        return no_argument;
    return *spec->argument == '[' ? optional_argument : required_argument;
}

int options_next(const struct command *command, int argc, char **argv)
{
    struct option longs[MAX_OPTIONS + 1] = {{0}};
    char shorts[2 * MAX_OPTIONS + 3] = ""; /* getopt's colon tells a missing argument */
    size_t count = 0, short_size = 0;
    if (command->stops_at_argument)
        shorts[short_size++] = '+';
    shorts[short_size++] = ':';
    for (const struct option_spec *spec = command_options(command);
         spec->name && count < MAX_OPTIONS; spec++) {
        longs[count++] =
            (struct option){.name = spec->name, .has_arg = argument_kind(spec), .val = spec->value};
        if (spec->value >= OPTION_LONG_ONLY)
            continue;
        shorts[short_size++] = (char)spec->value;
        if (spec->argument)
            shorts[short_size++] = ':';
    }
    opterr = 0;
    int value = getopt_long(argc, argv, shorts, longs, NULL);
    if (value != ':' && value != '?')
        return value;
    bad_option(command, argv, value == ':');
    return OPTIONS_BAD;
}

static void put_option(const struct option_spec *spec)
{
    char left[64];
    int size = 0;
    if (spec->value < OPTION_LONG_ONLY)
        size = snprintf(left, sizeof(left), "  -%c, --%s", spec->value, spec->name);
    else
        size = snprintf(left, sizeof(left), "      --%s", spec->name);
    if (spec->argument)
        size += snprintf(left + size, sizeof(left) - (size_t)size, "%s%s",
                         argument_kind(spec) == optional_argument ? "" : " ", spec->argument);
    if (size + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    for (const char *line = spec->help; *line;) {
        size_t length = strcspn(line, "\n");
        printf("%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
        if (*line)
            printf("%*s", HELP_COLUMN, "");
    }
}

void options_help(const struct command *command)
{
    printf("usage: memsnap %s%s%s\n\n%s", command->name, *command->arguments ? " " : "",
           command->arguments, command->about);
    printf("\nOptions:\n");
    for (const struct option_spec *spec = command_options(command); spec->name; spec++)
        put_option(spec);
    if (command->help_more)
        command->help_more();
    if (command->examples)
        printf("\nExamples:\n%s", command->examples);
}

bool options_read(const struct command *command, int argc, char **argv, option_taker *take,
                  void *options, enum status *status)
{
    struct error err;
    for (int option; (option = options_next(command, argc, argv)) != OPTIONS_END;) {
        *status = STATUS_USAGE;
        if (option == OPTIONS_BAD)
            return false;
        if (option == OPTION_HELP) {
            options_help(command);
            *status = STATUS_OK;
            return false;
        }
        if (!take(option, options, &err)) {
            complain("%s: %s", command->name, err.text);
            *status = err.status;
            return false;
        }
    }
    return true;
}

bool shared_option(int option, const struct shared_options *to, struct error *err)
{
    switch (option) {
    case OPTION_AT:
        return argument_when(optarg, to->at, err);
    case OPTION_DEVICE:
        return argument_device(optarg, to->device, err);
    case OPTION_JOBS:
        return argument_count("jobs", optarg, MOST_JOBS, to->jobs, err);
    case OPTION_MAX_MEMORY:
        return argument_memory(optarg, to->max_memory, err);
    case OPTION_RANGE:
        return window_parse(optarg, to->range, err);
    case OPTION_OF_RANK:
        to->files->has_rank = true;
        return argument_number("rank", optarg, RANK_MOST, &to->files->rank, err);
    case OPTION_RANK_PATTERN:
        to->files->rank_pattern = optarg;
        return rank_pattern_is_valid(optarg) ||
               error_set(err, STATUS_USAGE, "--rank-pattern needs " RANK_PLACEHOLDER " once");
    case OPTION_RULES:
        *to->rules = optarg;
        return true;
    case OPTION_UNITS:
        return argument_unit(optarg, to->unit, err);
    default:
        *to->output = optarg;
        return true;
    }
}

bool option_word(const struct option_words *words, const char *option, const char *what,
                 unsigned *index, struct error *err)
{
    char list[80] = "";
    size_t used = 0, size;
    while (strcmp(words->option, option) != 0)
        words++;
    *index = 0;
    for (const char *word = words->words; *word; word += size + (word[size] == ' '), ++*index) {
        size = strcspn(word, " ");
        if (strlen(optarg) == size && strncmp(optarg, word, size) == 0)
            return true;
        const char *before = used == 0 ? "" : word[size] ? ", " : " or ";
        int added = snprintf(list + used, sizeof(list) - used, "%s%.*s", before, (int)size, word);
        used += (size_t)added < sizeof(list) - used ? (size_t)added : 0;
    }
    return error_set(err, STATUS_USAGE, "invalid %s '%.60s' (expected %s)", what, optarg, list);
}

void option_note(int option, const struct option_spec *specs, const int *listed, const char **first)
{
    while (*listed && *listed != option)
        listed++;
    for (; *listed && !*first && specs->name; specs++)
        if (specs->value == option)
            *first = specs->name;
}
