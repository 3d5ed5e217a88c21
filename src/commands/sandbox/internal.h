/* The two layers of the sandbox. Each may be missing in the build or in the kernel. */
#ifndef MEMSNAP_COMMANDS_SANDBOX_INTERNAL_H
#define MEMSNAP_COMMANDS_SANDBOX_INTERNAL_H

#include <stdbool.h>

/* True if the build and the running kernel have the layer. If not, sets `*why_not` to a literal. */
bool landlock_is_there(const char **why_not);
bool seccomp_is_there(const char **why_not);

/* From now on the process cannot open, make, remove or rename files, except that it can link,
 * rename and remove files in the folder of `output_path` unless that is NULL. Nor can it use TCP,
 * if the kernel supports this. Does nothing if the kernel refuses the rules. */
void landlock_enter(const char *output_path);
/* From now on only the system calls succeed that reading, writing and computing need, and with
 * `renames` those that link, rename and remove files. All others fail with EPERM, and no memory can
 * be made executable. Does nothing if the kernel refuses the filter. */
void seccomp_enter(bool renames);

#endif
