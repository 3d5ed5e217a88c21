/* Giving up what a run no longer needs before it reads untrusted bytes.
 *
 * Entered once the inputs are open and the output file exists; afterwards no file can be opened, no
 * program started and no socket made, while reading, writing, memory and threads go on. seccomp
 * through libseccomp where it was built in, Landlock beneath where the kernel has it, else nothing.
 *
 * What reads files on the way must have been done before: budget_default_limit() above all, which
 * otherwise sees no limit of a container. */
#ifndef MEMSNAP_COMMANDS_SANDBOX_SANDBOX_H
#define MEMSNAP_COMMANDS_SANDBOX_SANDBOX_H

#include <stdbool.h>

/* Irreversible, for the calling thread and all threads that it makes later: to be called while
 * there are no others. `output_path` is the file that will be renamed into place, or removed, in
 * its folder (struct output's path); NULL when there is none, and then nothing can be renamed or
 * removed. Never fails: where the system offers less, it does less. */
void sandbox_enter(const char *output_path);

/* For --version: "seccomp and Landlock", "seccomp", "Landlock", or "none (...why...)". */
const char *sandbox_kind(void);

#endif
