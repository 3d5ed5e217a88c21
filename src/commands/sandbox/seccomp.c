#define _GNU_SOURCE /* CLONE_THREAD, AT_EMPTY_PATH */
#include "commands/sandbox/internal.h"

#ifdef HAVE_SECCOMP
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System calls that are allowed whatever their arguments are. */
static const int calls[] = {
    /* what is open: inputs, the output, the terminal */
    SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev),
    SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(fadvise64),
    SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(eventfd2),
    /* memory, but see below */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    /* threads; starting one, see below */
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(gettid), SCMP_SYS(getpid),
    SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu), SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    /* signals */
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    /* time, chance and the machine */
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom), SCMP_SYS(sysinfo),
    SCMP_SYS(getrusage)};

/* System calls that are allowed if argument number `argument`, under `mask`, is `value`. */
struct narrow_call {
    int call;
    unsigned argument;
    scmp_datum_t mask, value;
};

#define EXACTLY     (~(scmp_datum_t)0)
#define ONLY_THREAD (CLONE_VM | CLONE_THREAD)

static const struct narrow_call narrow_calls[] = {
    {SCMP_SYS(mmap), 2, PROT_EXEC, 0},
    {SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
    {SCMP_SYS(clone), 0, ONLY_THREAD, ONLY_THREAD},
    {SCMP_SYS(newfstatat), 3, AT_EMPTY_PATH, AT_EMPTY_PATH}, /* fstat() of some C libraries */
    {SCMP_SYS(statx), 2, AT_EMPTY_PATH, AT_EMPTY_PATH},
    {SCMP_SYS(ioctl), 1, UINT32_MAX, TCGETS}, /* isatty() */
    {SCMP_SYS(ioctl), 1, UINT32_MAX, TIOCGWINSZ},
    {SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFD},
    {SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFL},
    {SCMP_SYS(fcntl), 1, UINT32_MAX, F_DUPFD_CLOEXEC},
    {SCMP_SYS(prlimit64), 2, EXACTLY, 0}, /* asks, does not set */
};

static const int renaming_calls[] = {SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
                                     SCMP_SYS(linkat), SCMP_SYS(unlink)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool seccomp_is_there(const char **why_not)
{
    unsigned action = SECCOMP_RET_ERRNO;
    bool there = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
    if (!there)
        *why_not = "not in this kernel";
    return there;
}

static bool allow_all(scmp_filter_ctx filter, const int *allowed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) != 0)
            return false;
    return true;
}

static bool allow_narrow(scmp_filter_ctx filter, const struct narrow_call *allowed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct scmp_arg_cmp same =
            SCMP_CMP(allowed[i].argument, SCMP_CMP_MASKED_EQ, allowed[i].mask, allowed[i].value);
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i].call, 1, same) != 0)
            return false;
    }
    return true;
}

static bool set_rules(scmp_filter_ctx filter, bool renames)
{
    const struct narrow_call raising = {SCMP_SYS(tgkill), 0, EXACTLY, (scmp_datum_t)getpid()};
    const struct narrow_call removing = {SCMP_SYS(unlinkat), 2, UINT32_MAX, 0}; /* no folder */
    /* clone3() hides its flags from a filter; where there is none, C libraries use clone(). */
    return allow_all(filter, calls, COUNT(calls)) &&
           allow_narrow(filter, narrow_calls, COUNT(narrow_calls)) &&
           allow_narrow(filter, &raising, 1) &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
           (!renames || (allow_all(filter, renaming_calls, COUNT(renaming_calls)) &&
                         allow_narrow(filter, &removing, 1)));
}

/* A call that is not allowed fails. It does not kill the program, which still removes its
 * unfinished files. */
void seccomp_enter(bool renames)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return;
    /* It would slow all memory down, against programs that run code of others: none does here. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    if (set_rules(filter, renames))
        (void)seccomp_load(filter);
    seccomp_release(filter);
}

#else

bool seccomp_is_there(const char **why_not)
{
    *why_not = "built without libseccomp";
    return false;
}

void seccomp_enter(bool renames)
{
    (void)renames;
}

#endif
