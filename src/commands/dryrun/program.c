#define _GNU_SOURCE /* pipe2 */
#include "commands/dryrun/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/buffer.h"

static const int held[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
#define HELD_COUNT (sizeof(held) / sizeof(held[0]))

static sigset_t before; /* the mask before program_hold_signals() */

void program_held_signals(sigset_t *set)
{
    sigemptyset(set);
    for (size_t i = 0; i < HELD_COUNT; i++)
        sigaddset(set, held[i]);
    sigaddset(set, SIGCHLD);
}

void program_hold_signals(void)
{
    sigset_t set;
    program_held_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
}

void program_release_signals(int interrupt)
{
    if (interrupt)
        raise(interrupt);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static bool set_number(const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return setenv(name, text, 1) == 0;
}

/* The variables that torchrun sets for a rank, as on machines with as many GPUs as there are here.
 */
static bool set_rank(const struct dryrun_options *options)
{
    uint64_t of_node = options->world < options->devices ? options->world : options->devices;
    return set_number("RANK", options->rank) && set_number("WORLD_SIZE", options->world) &&
           set_number("LOCAL_RANK", options->rank % of_node) &&
           set_number("LOCAL_WORLD_SIZE", of_node) &&
           set_number("GROUP_RANK", options->rank / of_node) &&
           set_number("GROUP_WORLD_SIZE", (options->world + of_node - 1) / of_node) &&
           setenv("MASTER_ADDR", "127.0.0.1", 1) == 0 && setenv("MASTER_PORT", "29500", 1) == 0;
}

/* The folder comes first, so that its sitecustomize is found. */
static bool set_environment(const struct program *program)
{
    const char *paths = getenv("PYTHONPATH");
    struct buffer joined = BUFFER_INIT;
    buffer_printf(&joined, "%s%s%s", program->folder, paths && *paths ? ":" : "",
                  paths ? paths : "");
    bool ok = !joined.failed && setenv("PYTHONPATH", joined.bytes, 1) == 0 &&
              setenv("MEMSNAP_DRYRUN", program->folder, 1) == 0 &&
              unsetenv("CUDA_VISIBLE_DEVICES") == 0; /* it would hide the stand-in's GPUs */
    buffer_release(&joined);
    const char *allocator = program->options->allocator;
    if (ok && allocator) /* newer versions of PyTorch prefer the second name */
        ok = setenv("PYTORCH_CUDA_ALLOC_CONF", allocator, 1) == 0 &&
             setenv("PYTORCH_ALLOC_CONF", allocator, 1) == 0;
    return ok && (program->options->world == 0 || set_rank(program->options));
}

static bool set_streams(const struct program *program)
{
    if (!program->is_apart)
        return !program->is_silent || dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return setsid() >= 0 && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
           dup2(program->output, STDOUT_FILENO) >= 0 && dup2(program->output, STDERR_FILENO) >= 0;
}

/* Does not return. Writes errno to the pipe if the program cannot be run. */
static void become(const struct program *program, int report)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (set_environment(program) && set_streams(program)) {
        program_release_signals(0);
        execvp(program->arguments[0], program->arguments);
    }
    int reason = errno;
    if (write(report, &reason, sizeof(reason)) < 0)
        _exit(126);
    _exit(127);
}

/* SIGINT and SIGQUIT of a terminal reach the program too, as a member of the same group. */
static void pass_on(pid_t process, const siginfo_t *info, struct program_end *end)
{
    bool is_from_terminal = info->si_code == SI_KERNEL;
    end->interrupt = info->si_signo;
    if (!is_from_terminal)
        kill(process, info->si_signo);
}

static void await(pid_t process, struct program_end *end)
{
    sigset_t set;
    siginfo_t info;
    int status = 0;
    program_held_signals(&set);
    while (waitpid(process, &status, WNOHANG) != process) {
        int number = sigwaitinfo(&set, &info);
        if (number > 0 && number != SIGCHLD)
            pass_on(process, &info, end);
    }
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static bool fail_start(const char *name, int reason, struct error *err)
{
    size_t size = strlen(name);
    if (reason == EACCES && size > 3 && strcmp(name + size - 3, ".py") == 0)
        return error_set(err, STATUS_USAGE, "cannot run %.100s; did you mean 'python %.60s'?", name,
                         name);
    return error_set(err, STATUS_USAGE, "cannot run %.150s: %s", name, strerror(reason));
}

bool program_start(const struct program *program, pid_t *process, struct error *err)
{
    int report[2], reason = 0;
    fflush(NULL);
    if (pipe2(report, O_CLOEXEC) != 0)
        return error_set(err, STATUS_IO, "cannot start the program: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0)
        become(program, report[1]);
    if (child < 0)
        reason = errno;
    close(report[1]);
    ssize_t told = child < 0 ? 0 : read(report[0], &reason, sizeof(reason));
    close(report[0]);
    if (child < 0)
        return error_set(err, STATUS_IO, "cannot start the program: %s", strerror(reason));
    if (told == sizeof(reason)) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        return fail_start(program->arguments[0], reason, err);
    }
    *process = child;
    return true;
}

bool program_run(const struct program *program, struct program_end *end, struct error *err)
{
    struct termios terminal;
    bool has_terminal = tcgetattr(STDIN_FILENO, &terminal) == 0;
    pid_t process;
    *end = (struct program_end){0};
    if (!program_start(program, &process, err))
        return false;
    await(process, end);
    bool has_failed = end->signal || end->status != 0;
    /* a background job that sets the terminal would be stopped */
    if (has_failed && has_terminal && tcgetpgrp(STDIN_FILENO) == getpgrp())
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    return true;
}
