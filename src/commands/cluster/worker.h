/* The worker of this process, as its leader sees it (cluster.h). */
#ifndef MEMSNAP_COMMANDS_CLUSTER_WORKER_H
#define MEMSNAP_COMMANDS_CLUSTER_WORKER_H

#include <sys/types.h>

#include "commands/cluster/cluster.h"
#include "commands/cluster/frame.h"

struct worker {
    pid_t process;
    int fd;     /* socket to the worker */
    int output; /* its standard output; -1: closed */
};

/* Forks the worker. Returns true in the leader; the worker waits for worker_begin(), runs the
 * command, and returns false with its status. */
bool worker_start(struct worker *worker, const struct command *command, int argc, char **argv,
                  enum status *status);
bool worker_begin(struct worker *worker, const struct cluster *self);

/* Waits for the next message of the worker, and meanwhile copies its output. False if it has
 * ended. */
bool worker_await(struct worker *worker, enum frame_kind *kind, struct buffer *bytes);

/* Copies the rest of its output, and waits for its end. True with its exit status; false with a
 * sentence if it was killed. */
bool worker_finish(struct worker *worker, enum status *status, struct error *err);
/* Stops it at once. */
void worker_kill(struct worker *worker);

#endif
