/* `memsnap version`. */
#include <getopt.h>
#include <jansson.h>
#include <msgpack.h>
#include <stdio.h>
#include <yaml.h>
#include <zlib.h>
#ifdef HAVE_PROTOBUF_C
#include <protobuf-c/protobuf-c.h>
#endif
#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif

#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/options.h"
#include "commands/sandbox/sandbox.h"
#include "decode/core/sniff.h"

static const char *protobuf_version(void)
{
#ifdef HAVE_PROTOBUF_C
    return protobuf_c_version();
#else
    return "(not built in)";
#endif
}

static const char *sqlite_version(void)
{
#ifdef HAVE_SQLITE
    return sqlite3_libversion();
#else
    return "(not built in)";
#endif
}

void version_print(void)
{
    printf("memsnap %s\nreads, plain or gzip:\n", PACKAGE_VERSION);
    for (enum file_kind kind = KIND_UNKNOWN + 1; kind < FILE_KINDS; kind++)
        if (*kind_encodings(kind) != '\0') /* others are only recognised */
            printf("  %s: %s\n", kind_name(kind), kind_encodings(kind));
    printf("  a log with out-of-memory errors: text\n"
           "and, not compressed, a history of runs: SQLite\n"
           "libraries: zlib %s, Jansson %s, msgpack-c %s, libyaml %s,\n"
           "  protobuf-c %s, SQLite %s\n"
           "sandbox: %s\n",
           zlibVersion(), JANSSON_VERSION, msgpack_version(), yaml_get_version_string(),
           protobuf_version(), sqlite_version(), sandbox_kind());
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
    ROWS_END,
};

const struct command command_version = {
    .name = "version",
    .summary = "print the version, formats and libraries",
    .arguments = "",
    .about = "Prints the version, the formats that memsnap reads, the libraries it uses, and\n"
             "which sandbox confines it while it reads a file.\n",
    .options = options,
    .run = run,
};
