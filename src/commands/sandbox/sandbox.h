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
 * there are no others. `output_path` is the file that will be made in its folder, by linking or
 * renaming (struct new_file's path); NULL when there is none, and then nothing can be made or
 * removed. Never fails: where the system offers less, it does less. */
void sandbox_enter(const char *output_path);

/* The answer, 0 to 254, of a process in the sandbox that can harm nobody; other answers, and -1,
 * mean that it could not be asked or did not end by itself. */
int sandbox_ask(int (*question)(void *self), void *self);

/* For --version: "seccomp and Landlock", "seccomp", "Landlock", or "none (...why...)". */
const char *sandbox_kind(void);

#endif
