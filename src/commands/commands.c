/* The table of commands, `memsnap help`, and the data for shell completion. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/cli/topics.h"

enum { OPTION_COMPLETION = OPTION_LONG_ONLY };

/* A help topic other than a command. */
struct topic {
    const char *name;
    const char *summary; /* half a line, for the overview */
    const unsigned char *text;
    const size_t *size;
};

static const struct topic topics[] = {
    {"categories", "the purposes of memory, and how memsnap infers them", topic_categories,
     &topic_categories_size},
    {"formats", "the files that memsnap reads, and how to record them", topic_formats,
     &topic_formats_size},
    {"numbers", "definitions of active, allocated, reserved, ...", topic_numbers,
     &topic_numbers_size},
    {"record", "how to record layers and snapshots in a PyTorch program", topic_record,
     &topic_record_size},
    {NULL, NULL, NULL, NULL},
};

static const struct topic *find_topic(const char *name)
{
    for (const struct topic *topic = topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}

const struct command *const commands[] = {
    &command_analyze, &command_backends, &command_check,  &command_convert, &command_diff,
    &command_dryrun,  &command_dump,     &command_export, &command_flame,   &command_help,
    &command_merge,   &command_oom,      &command_plot,   &command_ranks,   &command_replay,
    &command_shard,   &command_suggest,  &command_trend,  &command_version, NULL};

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

static void put_completion(const struct command *command, const struct option_spec *spec)
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

/* Prints the data for shell completion. Fields are separated by tabs; "-" stands for an absent one:
 *     command NAME SUMMARY
 *     topic   NAME SUMMARY
 *     option  COMMAND --NAME -LETTER ARGUMENT WORDS SUMMARY
 * ARGUMENT is as in --help, "[=WORD]" if it is optional. WORDS are the possible values of the
 * argument, separated by spaces; a word that ends in "=" takes more text after it. */
static void print_completions(void)
{
    for (size_t i = 0; commands[i]; i++)
        printf("command\t%s\t%s\n", commands[i]->name, commands[i]->summary);
    for (const struct topic *topic = topics; topic->name; topic++)
        printf("topic\t%s\t%s\n", topic->name, topic->summary);
    for (size_t i = 0; commands[i]; i++)
        for (const struct option_spec *spec = command_options(commands[i]); spec->name; spec++)
            put_completion(commands[i], spec);
}

void help_overview(void)
{
    printf("usage: memsnap COMMAND [OPTION]... [FILE]...\n"
           "       memsnap help COMMAND|TOPIC\n\n"
           "Reads a GPU memory snapshot that PyTorch wrote, and explains where the memory\n"
           "went.\n\n"
           "Commands:\n");
    for (size_t i = 0; commands[i]; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nTopics:\n");
    for (const struct topic *topic = topics; topic->name; topic++)
        printf("  %-11s %s\n", topic->name, topic->summary);
    printf("\n"
           "Start here:\n"
           "  memsnap analyze snapshot.pickle   explain a snapshot\n"
           "  memsnap help analyze              describe the options of analyze\n"
           "\n"
           "Record a snapshot, in the training script:\n"
           "  torch.cuda.memory._record_memory_history()\n"
           "  train()   # or whatever runs out of memory\n"
           "  torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\n");
}

static enum status unknown(const char *name)
{
    struct closest closest = {.word = name};
    for (size_t i = 0; commands[i]; i++)
        closest_offer(&closest, commands[i]->name);
    for (const struct topic *topic = topics; topic->name; topic++)
        closest_offer(&closest, topic->name);
    if (closest.best)
        return complain_usage("unknown command or topic '%s'; did you mean '%s'?", name,
                              closest.best);
    return complain_usage("unknown command or topic '%s'; see 'memsnap help'", name);
}

static enum status run(int argc, char **argv)
{
    int option = options_next(&command_help, argc, argv);
    if (option == OPTION_HELP) {
        options_help(&command_help);
        return STATUS_OK;
    }
    if (option == OPTION_COMPLETION) {
        print_completions();
        return STATUS_OK;
    }
    if (option != OPTIONS_END)
        return STATUS_USAGE;
    if (optind == argc) {
        help_overview();
        return STATUS_OK;
    }
    if (optind + 1 < argc)
        return complain_usage("help: unexpected argument '%.60s'", argv[optind + 1]);
    const char *name = argv[optind];
    const struct command *command = command_find(name);
    const struct topic *topic = find_topic(name);
    if (command)
        options_help(command);
    else if (topic)
        fwrite(topic->text, 1, *topic->size, stdout);
    else
        return unknown(name);
    return STATUS_OK;
}

static const struct option_spec options[] = {
    {OPTION_COMPLETION, "completion", NULL, "print the commands and options for shell completion"},
    ROWS_END,
};

const struct command command_help = {
    .name = "help",
    .summary = "explain memsnap, one of its commands, or a topic",
    .arguments = "[COMMAND|TOPIC]",
    .about = "Explains memsnap, one of its commands, or a topic. The topics are formats (the\n"
             "files that memsnap reads, and how to record them), categories (the purposes of\n"
             "memory, and how memsnap infers them), numbers (their definitions) and record\n"
             "(how to record layers and snapshots in a PyTorch program). They are also manual\n"
             "pages: memsnap-formats(7), memsnap-categories(7), memsnap-numbers(7) and\n"
             "memsnap-record(7).\n",
    .examples = "  memsnap help analyze\n"
                "  memsnap help formats\n",
    .options = options,
    .run = run,
};
