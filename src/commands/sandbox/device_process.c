#define _GNU_SOURCE /* pipe2 */
#include "commands/sandbox/device_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "solve/backend/remote.h"
#include "solve/choice/choice.h"

static pid_t process;
static int to = -1, from = -1;

static void close_pipe(int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* Discards what drivers and compilers print. */
static void be_silent(void)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0)
        _exit(1);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2(nothing, fd) < 0)
            _exit(1);
}

/* _exit: what the parent has buffered is not to be written twice, and drivers are not to be asked
 * to tidy up. */
static void serve(pid_t parent, int requests, int answers)
{
    be_silent();
    remote_disconnect();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent)
        remote_serve(requests, answers);
    _exit(0);
}

/* The process, or -1. */
static pid_t start(int requests[2], int answers[2])
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        close(requests[1]);
        close(answers[0]);
        serve(parent, requests[0], answers[1]);
    }
    return child;
}

void device_process_start(void)
{
    int requests[2], answers[2];
    remote_connect(-1, -1);
    if (pipe2(requests, O_CLOEXEC) != 0)
        return;
    if (pipe2(answers, O_CLOEXEC) != 0) {
        close_pipe(requests);
        return;
    }
    process = start(requests, answers);
    if (process < 0) {
        close_pipe(requests);
        close_pipe(answers);
        return;
    }
    close(requests[0]);
    close(answers[1]);
    to = requests[1];
    from = answers[0];
    remote_connect(to, from);
}

bool device_process_stop(void)
{
    int status = 0;
    if (process <= 0)
        return true;
    remote_disconnect();
    close(to);
    close(from);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    process = 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
