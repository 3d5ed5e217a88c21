#define _GNU_SOURCE /* pipe2, wait4 */
#include "commands/dryrun/child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define PATIENCE  (3 * SECOND_NS) /* between SIGTERM and SIGKILL */
/* Reads in a row, so that a program that prints much does not delay the others. */
#define READS_MOST 64

int64_t child_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static bool start_program(struct dryrun_child *child, const struct dryrun_options *options,
                          char *const *arguments, struct error *err)
{
    int output[2];
    if (pipe2(output, O_CLOEXEC) != 0)
        return error_set(err, STATUS_IO, "cannot start the program: %s", strerror(errno));
    const struct program program = {
        .arguments = arguments,
        .folder = child->folder.path,
        .options = options,
        .is_apart = true,
        .output = output[1],
    };
    bool ok = program_start(&program, &child->process, err);
    close(output[1]);
    child->output = output[0];
    if (ok)
        fcntl(child->output, F_SETFL, O_NONBLOCK);
    else
        close(child->output);
    return ok;
}

bool child_start(struct dryrun_child *child, const struct dryrun_options *options,
                 const char *library, char *const *arguments, struct error *err)
{
    memset(child, 0, sizeof(*child));
    if (!dryrun_folder_make(&child->folder, options, library, err))
        return false;
    child->started_ns = child_clock_ns();
    if (options->timeout > 0)
        child->deadline_ns = child->started_ns + (int64_t)options->timeout * SECOND_NS;
    if (start_program(child, options, arguments, err))
        return true;
    dryrun_folder_remove(&child->folder);
    return false;
}

void child_read(struct dryrun_child *child)
{
    char bytes[1 << 14];
    ssize_t size = 1;
    for (int i = 0; child->output >= 0 && size > 0 && i < READS_MOST; i++) {
        size = read(child->output, bytes, sizeof(bytes));
        if (size > 0)
            tail_add(&child->tail, bytes, (size_t)size);
    }
    if (child->output >= 0 && (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))) {
        close(child->output);
        child->output = -1;
    }
}

void child_stop(struct dryrun_child *child)
{
    if (child->process == 0 || child->stopped_ns > 0)
        return;
    child->stopped_ns = child_clock_ns();
    kill(-child->process, SIGTERM);
}

static void watch_time(struct dryrun_child *child)
{
    int64_t now = child_clock_ns();
    if (child->deadline_ns > 0 && now > child->deadline_ns && child->stopped_ns == 0) {
        child->has_timed_out = true;
        child_stop(child);
    }
    if (child->stopped_ns > 0 && now > child->stopped_ns + PATIENCE)
        kill(-child->process, SIGKILL);
}

bool child_has_ended(struct dryrun_child *child)
{
    struct rusage usage;
    siginfo_t info = {0};
    int status = 0;
    if (child->process == 0)
        return true;
    if (waitid(P_PID, (id_t)child->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != child->process) {
        watch_time(child);
        return false;
    }
    kill(-child->process, SIGKILL); /* processes that it left behind, while its id is not reused */
    while (wait4(child->process, &status, 0, &usage) < 0 && errno == EINTR)
        continue;
    child_read(child);
    child->process = 0;
    child->duration_us = (uint64_t)(child_clock_ns() - child->started_ns) / 1000;
    child->host_bytes = (uint64_t)usage.ru_maxrss * 1024;
    child->end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    child->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return true;
}

void child_release(struct dryrun_child *child)
{
    if (child->process > 0) {
        kill(-child->process, SIGKILL);
        while (waitpid(child->process, NULL, 0) < 0 && errno == EINTR)
            continue;
        child->process = 0;
    }
    if (child->output >= 0)
        close(child->output);
    child->output = -1;
    dryrun_folder_remove(&child->folder);
}
