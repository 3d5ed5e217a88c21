/* Runs the command named on the command line and exits with its status. */
#include <stdio.h>
#include <string.h>
#ifdef HAVE_MALLOC_H
#include <malloc.h>
#endif

#include "commands/cli/command.h"
#include "commands/cli/complain.h"
#include "commands/cli/output.h"
#include "commands/cluster/cluster.h"

static enum status dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        complain("missing command; try 'memsnap analyze snapshot.pickle', or see 'memsnap help'");
        return STATUS_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview();
        return STATUS_OK;
    }
    if (strcmp(name, "--version") == 0) {
        version_print();
        return STATUS_OK;
    }
    const struct command *command = command_find(name);
    if (command)
        return cluster_run(command, argc - 1, argv + 1);
    if (name[0] == '-')
        return complain_usage("unknown option %s before the command; see 'memsnap help'", name);
    return command_unknown(name);
}

/* Lets all threads allocate from one heap. glibc reserves 64 MiB of addresses for each further
 * heap, which a limit on the address space (ulimit -v) may then leave too few of. */
static void share_heap(void)
{
#if defined(HAVE_MALLOPT) && defined(M_ARENA_MAX)
    mallopt(M_ARENA_MAX, 1);
#endif
}

int main(int argc, char **argv)
{
    struct error err;
    share_heap();
    standard_streams_reserve();
    enum status status = dispatch(argc, argv);
    if (!standard_output_finish(&err)) {
        complain("%s", err.text);
        status = err.status;
    }
    return (int)status;
}
