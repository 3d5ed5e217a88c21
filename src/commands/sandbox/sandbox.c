#include "commands/sandbox/sandbox.h"

#include <stdio.h>

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
