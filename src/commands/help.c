#include <stdio.h>
#include <unistd.h>

#include "commands/cli/closest.h"
#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/completion.h"
#include "commands/cli/options.h"
#include "commands/cli/topics.h"

enum { OPTION_COMPLETION = OPTION_LONG_ONLY };

void help_overview(void)
{
    printf("usage: memsnap COMMAND [OPTION]... [FILE]...\n"
           "       memsnap help COMMAND|TOPIC\n\n"
           "Explains what filled GPU memory, from a snapshot that PyTorch wrote.\n\n"
           "Commands:\n");
    for (size_t i = 0; commands[i]; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nTopics:\n");
    for (const struct topic *topic = topics; topic->name; topic++)
        printf("  %-11s %s\n", topic->name, topic->summary);
    printf("\n"
           "Start here:\n"
           "  memsnap analyze snapshot.pickle   explain a snapshot\n"
           "  memsnap help analyze              everything that analyze can do\n"
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
        return complain_usage("no help on '%s'; did you mean '%s'?", name, closest.best);
    return complain_usage("no help on '%s'; 'memsnap help' lists what there is", name);
}

static enum status run(int argc, char **argv)
{
    int option = options_next(&command_help, argc, argv);
    if (option == OPTION_HELP) {
        options_help(&command_help);
        return STATUS_OK;
    }
    if (option == OPTION_COMPLETION) {
        completion_print();
        return STATUS_OK;
    }
    if (option != OPTIONS_END)
        return STATUS_USAGE;
    if (optind == argc) {
        help_overview();
        return STATUS_OK;
    }
    const char *name = argv[optind];
    const struct command *command = command_find(name);
    const struct topic *topic = topic_find(name);
    if (command)
        options_help(command);
    else if (topic)
        fwrite(topic->text, 1, *topic->size, stdout);
    else
        return unknown(name);
    return STATUS_OK;
}

static const struct option_spec options[] = {
    {OPTION_COMPLETION, "completion", NULL, "all that shells complete, for their scripts"},
    {OPTION_HELP, "help", NULL, "show this help"},
    {0, NULL, NULL, NULL},
};

const struct command command_help = {
    .name = "help",
    .summary = "show how to use memsnap, one of its commands, or a topic",
    .arguments = "[COMMAND|TOPIC]",
    .about = "Shows how to use memsnap, or one of its commands; or tells of a topic: formats\n"
             "(what it reads, and how to record that), categories (what memory is for, and how\n"
             "it tells), numbers (what they mean). These are manual pages, too:\n"
             "memsnap-formats(7), memsnap-categories(7), memsnap-numbers(7).\n",
    .examples = "  memsnap help analyze\n"
                "  memsnap help formats\n",
    .options = options,
    .run = run,
};
