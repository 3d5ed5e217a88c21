#include <stdio.h>
#include <unistd.h>

#include "commands/command.h"
#include "commands/completion.h"
#include "commands/options.h"

enum { OPTION_COMPLETION = OPTION_LONG_ONLY };

void help_overview(void)
{
    printf("usage: memsnap COMMAND [OPTION]... [FILE]...\n"
           "       memsnap help COMMAND\n\n"
           "Explains what filled GPU memory, from a snapshot that PyTorch wrote.\n\n"
           "Commands:\n");
    for (size_t i = 0; commands[i]; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
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
    if (!command)
        return command_unknown(name);
    options_help(command);
    return STATUS_OK;
}

static const struct option_spec options[] = {
    {OPTION_COMPLETION, "completion", NULL, "all that shells complete, for their scripts"},
    {OPTION_HELP, "help", NULL, "show this help"},
    {0, NULL, NULL, NULL},
};

const struct command command_help = {
    .name = "help",
    .summary = "show how to use memsnap, or one of its commands",
    .arguments = "[COMMAND]",
    .about = "Shows how to use memsnap, or one of its commands.\n",
    .examples = "  memsnap help analyze\n",
    .options = options,
    .run = run,
};
