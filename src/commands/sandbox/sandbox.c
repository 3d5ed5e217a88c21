/* Landlock by its system calls, which no C library wraps. The constants are those of the kernel's
 * interface; the ones that <linux/landlock.h> of an older system lacks are given here. */
#define _GNU_SOURCE /* O_PATH */
#include "commands/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/sandbox/internal.h"

#if defined(HAVE_LINUX_LANDLOCK_H) && defined(SYS_landlock_create_ruleset)
#include <linux/landlock.h>

/* The kinds of file access that a kernel of this Landlock version can forbid. All of them are
 * forbidden. */
#define ACCESS_VERSION_1 ((UINT64_C(1) << 13) - 1) /* execute, read, write, make, remove ... */
#define ACCESS_VERSION_2 (UINT64_C(1) << 13)       /* move to another folder */
#define ACCESS_VERSION_3 (UINT64_C(1) << 14)       /* truncate */
#define ACCESS_VERSION_5 (UINT64_C(1) << 15)       /* ioctl of a device opened later */
#define TCP_VERSION_4    UINT64_C(3)               /* bind, connect */
#define SCOPE_VERSION_6  UINT64_C(3)               /* abstract Unix sockets, signals to others */

/* The kernel takes shorter ones from older programs, and longer ones whose rest is 0. */
struct rules {
    uint64_t files, tcp, scope;
};

static long interface_version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool landlock_is_there(const char **why_not)
{
    bool there = interface_version() > 0;
    if (!there)
        *why_not = errno == EOPNOTSUPP ? "switched off" : "not in this kernel";
    return there;
}

static int make_rules(long version)
{
    struct rules rules = {.files = ACCESS_VERSION_1};
    if (version >= 2)
        rules.files |= ACCESS_VERSION_2;
    if (version >= 3)
        rules.files |= ACCESS_VERSION_3;
    if (version >= 4)
        rules.tcp = TCP_VERSION_4;
    if (version >= 5)
        rules.files |= ACCESS_VERSION_5;
    if (version >= 6)
        rules.scope = SCOPE_VERSION_6;
    return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
}

/* linkat() into a folder makes a file there; rename() removes one, too. False: neither can be
 * allowed. */
static bool allow_output(int rules, const char *output_path)
{
    char *copy = strdup(output_path);
    if (!copy)
        return false;
    int folder = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    struct landlock_path_beneath_attr beneath = {
        .allowed_access = LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE,
        .parent_fd = folder,
    };
    bool allowed = folder >= 0 && syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH,
                                          &beneath, 0) == 0;
    if (folder >= 0)
        close(folder);
    return allowed;
}

void landlock_enter(const char *output_path)
{
    int rules = make_rules(interface_version());
    if (rules < 0)
        return;
    if ((!output_path || allow_output(rules, output_path)) &&
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
}

#else

bool landlock_is_there(const char **why_not)
{
    *why_not = "not known to the system it was built on";
    return false;
}

void landlock_enter(const char *output_path)
{
    (void)output_path;
}

#endif

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
