#define _GNU_SOURCE /* pipe2 */
#include "commands/cluster/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/cli/complain.h"

static struct {
    struct cluster self;
    int fd; /* socket to the leader */
} member;

const struct cluster *cluster_self(void)
{
    return member.self.size > 0 ? &member.self : NULL;
}

static bool lost_leader(struct error *err)
{
    return error_set(err, STATUS_IO, "the other processes of MPI have ended");
}

bool cluster_broadcast(struct buffer *bytes, struct error *err)
{
    enum frame_kind kind;
    if (bytes->size > FRAME_MOST)
        return error_set(err, STATUS_LIMIT, "too many files for the processes of MPI");
    if (!frame_write(member.fd, FRAME_BROADCAST, bytes->bytes, bytes->size))
        return lost_leader(err);
    return member.self.rank == 0 ||
           (frame_read(member.fd, &kind, bytes) && kind == FRAME_BROADCAST) || lost_leader(err);
}

bool cluster_send(struct text record, struct error *err)
{
    return frame_write(member.fd, FRAME_RECORD, record.bytes, record.size) || lost_leader(err);
}

bool cluster_finish(struct error *err)
{
    return frame_write(member.fd, FRAME_END, NULL, 0) || lost_leader(err);
}

bool cluster_receive(struct buffer *record, struct error *err)
{
    enum frame_kind kind;
    if (!frame_read(member.fd, &kind, record) || (kind != FRAME_RECORD && kind != FRAME_END))
        return lost_leader(err);
    if (kind == FRAME_END)
        buffer_clear(record);
    return true;
}

void cluster_fail(const struct error *err)
{
    (void)frame_write(member.fd, FRAME_FAILED, err, sizeof(*err));
}

/* Only process 0 speaks. */
static bool be_silent(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 &&
           dup2(nothing, STDERR_FILENO) >= 0;
}

/* Waits until the leader knows the other processes. */
static bool become_member(int fd)
{
    struct buffer bytes = BUFFER_INIT;
    enum frame_kind kind;
    bool ok =
        frame_read(fd, &kind, &bytes) && kind == FRAME_START && bytes.size == sizeof(member.self);
    if (ok)
        memcpy(&member.self, bytes.bytes, sizeof(member.self));
    buffer_release(&bytes);
    member.fd = fd;
    return ok && (member.self.rank == 0 || be_silent());
}

/* Its output goes through a pipe: a launcher may give a process a terminal of its own, and then
 * the report would look as on a terminal. */
static enum status work(pid_t leader, int fd, int output, const struct command *command, int argc,
                        char **argv)
{
    if (dup2(output, STDOUT_FILENO) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) != 0 ||
        getppid() != leader || !become_member(fd))
        return STATUS_IO;
    close(output);
    return command->run(argc, argv);
}

bool worker_start(struct worker *worker, const struct command *command, int argc, char **argv,
                  enum status *status)
{
    int sockets[2], output[2];
    pid_t leader = getpid();
    *worker = (struct worker){.process = -1, .fd = -1, .output = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return true;
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(sockets[0]);
        close(sockets[1]);
        return true;
    }
    worker->process = fork();
    if (worker->process == 0) {
        close(sockets[0]);
        close(output[0]);
        *status = work(leader, sockets[1], output[1], command, argc, argv);
        return false;
    }
    signal(SIGPIPE, SIG_IGN);
    close(sockets[1]);
    close(output[1]);
    worker->fd = sockets[0];
    worker->output = output[0];
    return true;
}

bool worker_begin(struct worker *worker, const struct cluster *self)
{
    return frame_write(worker->fd, FRAME_START, self, sizeof(*self));
}

/* Copies what there is of the output; closes it at its end. */
static void copy_output(struct worker *worker)
{
    char bytes[65536];
    ssize_t size = read(worker->output, bytes, sizeof(bytes));
    if (size < 0 && errno == EINTR)
        return;
    if (size > 0 && fwrite(bytes, 1, (size_t)size, stdout) == (size_t)size)
        return;
    close(worker->output); /* main() reports a write error */
    worker->output = -1;
}

bool worker_await(struct worker *worker, enum frame_kind *kind, struct buffer *bytes)
{
    for (;;) {
        struct pollfd wait[] = {{.fd = worker->fd, .events = POLLIN},
                                {.fd = worker->output, .events = POLLIN}};
        if (worker->process < 0 || (poll(wait, 2, -1) < 0 && errno != EINTR))
            return false;
        if (wait[1].revents)
            copy_output(worker);
        else if (wait[0].revents)
            return frame_read(worker->fd, kind, bytes);
    }
}

static int await_end(struct worker *worker)
{
    int how = 0;
    if (worker->fd >= 0)
        close(worker->fd);
    if (worker->output >= 0)
        close(worker->output);
    while (worker->process > 0 && waitpid(worker->process, &how, 0) < 0 && errno == EINTR)
        ;
    return how;
}

bool worker_finish(struct worker *worker, enum status *status, struct error *err)
{
    if (worker->process < 0)
        return error_set(err, STATUS_IO, "cannot start the process that reads captures");
    while (worker->output >= 0)
        copy_output(worker);
    int how = await_end(worker);
    if (WIFEXITED(how)) {
        *status = (enum status)WEXITSTATUS(how);
        return true;
    }
    return error_set(err, STATUS_IO, "the process that reads captures was ended by signal %d (%s)",
                     WTERMSIG(how), strsignal(WTERMSIG(how)));
}

void worker_kill(struct worker *worker)
{
    if (worker->process > 0)
        kill(worker->process, SIGTERM);
    await_end(worker);
}
