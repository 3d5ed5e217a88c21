#include "commands/sandbox/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/sandbox/internal.h"

/* Sanitizers open files, start processes and trace their own at the end of the program. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer) || __has_feature(leak_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

void sandbox_enter(const char *output_path)
{
    const char *ignored;
    if (SANITIZED)
        return;
    if (landlock_is_there(&ignored)) /* first: entering it takes calls that the other forbids */
        landlock_enter(output_path);
    if (seccomp_is_there(&ignored))
        seccomp_enter(output_path != NULL);
}

int sandbox_ask(int (*question)(void *self), void *self)
{
    pid_t parent = getpid(), child = fork();
    int status = 0;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != parent)
            _exit(255);
        sandbox_enter(NULL);
        _exit(question(self)); /* not exit(): the buffers of stdio are the parent's to write */
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *sandbox_kind(void)
{
    static char none[160];
    const char *no_seccomp = "", *no_landlock = "";
    if (SANITIZED)
        return "none (built with a sanitizer)";
    bool seccomp = seccomp_is_there(&no_seccomp), landlock = landlock_is_there(&no_landlock);
    if (seccomp)
        return landlock ? "seccomp and Landlock" : "seccomp";
    if (landlock)
        return "Landlock";
    snprintf(none, sizeof(none), "none (seccomp: %s; Landlock: %s)", no_seccomp, no_landlock);
    return none;
}
