#include <jansson.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/sandbox/sandbox.h"

void version_print(void)
{
    printf("memsnap %s\n"
           "reads allocator snapshots: pickle protocols 0 to 5, JSON; plain or gzip\n"
           "      layer traces of FairScale's LayerwiseMemoryTracker: JSON, pickle, msgpack\n"
           "      curves of MemoryTracker: pickle\n"
           "libraries: zlib %s, Jansson %s\n"
           "sandbox: %s\n",
           PACKAGE_VERSION, zlibVersion(), JANSSON_VERSION, sandbox_kind());
}

static enum status run(int argc, char **argv)
{
    int option = options_next(&command_version, argc, argv);
    if (option == OPTION_HELP) {
        options_help(&command_version);
        return STATUS_OK;
    }
    if (option != OPTIONS_END)
        return STATUS_USAGE;
    if (optind < argc)
        return complain_usage("version: unexpected argument '%.60s'", argv[optind]);
    version_print();
    return STATUS_OK;
}

static const struct option_spec options[] = {
    ROW_HELP,
    {0, NULL, NULL, NULL},
};

const struct command command_version = {
    .name = "version",
    .summary = "print the version, formats and libraries",
    .arguments = "",
    .about = "Prints the version, the formats that memsnap reads, the libraries it uses, and\n"
             "how it is confined while it reads a file.\n",
    .options = options,
    .run = run,
};
