/* The processes that share the work of one command, where a launcher of MPI (mpirun, srun) started
 * several of them. Only a build --with-mpi has them.
 *
 * Each process has two parts. The leader talks MPI, which opens files and sockets at any time and
 * does not survive a fork. The worker runs the command, in the sandbox; it is forked before MPI
 * starts, so it holds nothing of MPI, and may fork. Bytes go between them over a socket. */
#ifndef MEMSNAP_COMMANDS_CLUSTER_CLUSTER_H
#define MEMSNAP_COMMANDS_CLUSTER_CLUSTER_H

#include "base/buffer.h"
#include "base/text.h"
#include "commands/cli/command.h"

struct cluster {
    size_t rank, size; /* this process, among all */
    size_t local;      /* processes on this machine */
};

#ifdef HAVE_MPI

/* Runs a command that spreads, in as many processes as the launcher started, and any other command
 * as it is. Only process 0 reads standard input, prints, and returns the command's status. */
enum status cluster_run(const struct command *command, int argc, char **argv);

/* For the worker. NULL: this process is alone. */
const struct cluster *cluster_self(void);

/* Copies the bytes of process 0 to all others. All must call it, once. */
bool cluster_broadcast(struct buffer *bytes, struct error *err);

/* After it, each process but process 0 sends any number of records, and calls cluster_finish().
 * Process 0 receives them, in any order of processes; an empty one is the end. */
bool cluster_send(struct text record, struct error *err);
bool cluster_finish(struct error *err);
bool cluster_receive(struct buffer *record, struct error *err);

/* Tells process 0 why this one cannot do its part; the command then fails in all of them. */
void cluster_fail(const struct error *err);

#else

static inline enum status cluster_run(const struct command *command, int argc, char **argv)
{
    return command->run(argc, argv);
}

static inline const struct cluster *cluster_self(void)
{
    return NULL;
}

#endif
#endif
