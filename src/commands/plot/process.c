#define _GNU_SOURCE /* pipe2 */
#include "commands/plot/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"

static sigset_t before; /* the mask before plot_signals_hold() */

void plot_signals_hold(void)
{
    static const int held[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
        sigaddset(&set, held[i]);
    sigprocmask(SIG_BLOCK, &set, &before);
}

void plot_signals_release(void)
{
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static bool is_deadly_pending(void)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGINT) == 1 ||
           sigismember(&pending, SIGQUIT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

/* Waits for the process, and ends it early if a signal arrived. Returns its status. */
static int await(pid_t process)
{
    const struct timespec a_while = {.tv_nsec = 50000000};
    sigset_t child;
    int status = 0;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        pid_t done = waitpid(process, &status, WNOHANG);
        if (done == process)
            return status;
        if (done < 0 && errno != EINTR)
            return -1;
        if (is_deadly_pending())
            kill(process, SIGKILL);
        sigtimedwait(&child, NULL, &a_while);
    }
}

bool plot_run_apart(enum status (*work)(void *self), void *self, enum status *status,
                    struct error *err)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent)
            _exit(STATUS_IO);
        plot_signals_release();
        int done = (int)work(self);
        fflush(stderr);
        _exit(done); /* only the parent flushes and closes its files */
    }
    if (child < 0)
        return error_set(err, STATUS_IO, "cannot start a process: %s", strerror(errno));
    int ended = await(child);
    *status = STATUS_IO;
    if (ended >= 0 && WIFEXITED(ended))
        *status = (enum status)WEXITSTATUS(ended);
    else if (is_deadly_pending()) /* a terminal sends it to both processes */
        return error_set(err, STATUS_IO, "interrupted");
    else if (ended >= 0 && WIFSIGNALED(ended))
        return error_set(err, STATUS_IO, "the process that reads the input was ended by signal %d",
                         WTERMSIG(ended));
    else
        return error_set(err, STATUS_IO, "cannot wait for the process that reads the input");
    return true;
}

char *plot_find_gnuplot(struct error *err)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : ""; *at;) {
        size_t size = strcspn(at, ":");
        struct buffer name = BUFFER_INIT;
        struct stat found;
        buffer_add(&name, at, size);
        buffer_puts(&name, "/gnuplot");
        /* only absolute folders: gnuplot is started in another folder, which is not searched */
        if (*at == '/' && !name.failed && access(name.bytes, X_OK) == 0 &&
            stat(name.bytes, &found) == 0 && S_ISREG(found.st_mode))
            return name.bytes;
        buffer_release(&name);
        at += size + (at[size] == ':');
    }
    error_set(err, STATUS_IO,
              "cannot find gnuplot; install it (Debian: apt-get install gnuplot-nox), or use "
              "--script DIR and draw on another machine");
    return NULL;
}

/* The environment for gnuplot: only the locations of programs and fonts. */
static void become_gnuplot(const char *gnuplot, const char *folder, char *const arguments[],
                           int out, int message)
{
    const char *home = getenv("HOME"), *path = getenv("PATH");
    char home_entry[4096], path_entry[4096];
    snprintf(home_entry, sizeof(home_entry), "HOME=%s", home ? home : "/");
    snprintf(path_entry, sizeof(path_entry), "PATH=%s", path ? path : "");
    char *const environment[] = {home_entry, path_entry, (char *)"LC_ALL=C.UTF-8", NULL};
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(message, STDERR_FILENO) < 0 || chdir(folder) != 0)
        _exit(127);
    plot_signals_release();
    execve(gnuplot, arguments, environment);
    fprintf(stderr, "cannot be started: %s", strerror(errno));
    fflush(stderr);
    _exit(127);
}

/* The beginning of its messages in one line. Warnings do not mean that drawing failed. */
static void read_message(int fd, char *text, size_t room)
{
    char bytes[512];
    size_t used = 0;
    for (ssize_t count; (count = read(fd, bytes, sizeof(bytes))) != 0;) {
        if (count < 0 && errno != EINTR)
            break;
        for (ssize_t i = 0; i < count; i++)
            if (used + 1 < room && !(used == 0 && (bytes[i] == '\n' || bytes[i] == ' ')))
                text[used++] = bytes[i] == '\n' ? ' ' : bytes[i];
    }
    while (used > 0 && text[used - 1] == ' ')
        used--;
    text[used] = '\0';
}

bool plot_gnuplot_has(const char *gnuplot, const char *terminal)
{
    char question[128];
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    snprintf(question, sizeof(question), "exit status strstrt(GPVAL_TERMINALS, ' %s ') == 0",
             terminal);
    char *const arguments[] = {(char *)"gnuplot", (char *)"-d", (char *)"-e", question, NULL};
    pid_t child = nowhere < 0 ? -1 : fork();
    if (child == 0)
        become_gnuplot(gnuplot, "/", arguments, nowhere, nowhere);
    int status = child < 0 ? -1 : await(child);
    if (nowhere >= 0)
        close(nowhere);
    return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool plot_run_gnuplot(const char *gnuplot, const char *folder, int fd, struct error *err)
{
    int message[2];
    char text[160];
    if (pipe2(message, O_CLOEXEC) != 0)
        return error_set(err, STATUS_IO, "cannot start gnuplot: %s", strerror(errno));
    char *const arguments[] = {(char *)"gnuplot",       (char *)"-d",      (char *)"-e",
                               (char *)"to_stdout = 1", (char *)"plot.gp", NULL};
    pid_t child = fork();
    if (child == 0)
        become_gnuplot(gnuplot, folder, arguments, fd, message[1]);
    int reason = errno;
    close(message[1]);
    if (child < 0) {
        close(message[0]);
        return error_set(err, STATUS_IO, "cannot start gnuplot: %s", strerror(reason));
    }
    read_message(message[0], text, sizeof(text));
    close(message[0]);
    int status = await(child);
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (is_deadly_pending())
        return error_set(err, STATUS_IO, "interrupted");
    return error_set(err, STATUS_IO, "gnuplot failed: %s", *text ? text : "no error message");
}
