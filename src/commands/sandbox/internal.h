/* The layers of the sandbox: each may be absent from the build, or from the kernel. */
#ifndef MEMSNAP_COMMANDS_SANDBOX_INTERNAL_H
#define MEMSNAP_COMMANDS_SANDBOX_INTERNAL_H

#include <stdbool.h>

/* Whether the build and the running kernel have it; `*why_not` is set where not. */
bool landlock_is_there(const char **why_not);
bool seccomp_is_there(const char **why_not);

/* No file is opened, made, removed or renamed any more, but in the folder of `output_path`, if not
 * NULL, files are linked, renamed and removed; no TCP either, where the kernel can. */
void landlock_enter(const char *output_path);
/* No system calls but what goes on reading, writing, computing and, if `renames`, linking and
 * renaming needs: EPERM. No memory becomes executable. */
void seccomp_enter(bool renames);

#endif
