/* The sandbox: a process gives up the rights that it no longer needs, before it reads untrusted
 * bytes.
 *
 * A process enters it after the inputs were opened and the output file was created. From then on it
 * cannot open a file, start a program or create a socket. It can still read and write open files,
 * allocate memory and start threads. The sandbox has two layers: seccomp, if memsnap was built with
 * libseccomp, and Landlock, if the kernel has it. Without both it does nothing.
 *
 * Code that has to read other files must run before, above all budget_default_limit(): in the
 * sandbox it would not see the limit of a container. */
#ifndef MEMSNAP_COMMANDS_SANDBOX_SANDBOX_H
#define MEMSNAP_COMMANDS_SANDBOX_SANDBOX_H

#include <stdbool.h>

/* Enters the sandbox, which cannot be left. It applies to the calling thread and to all
 * threads that this one starts later, so call it while there are no others. `output_path` is
 * the path of the file that will appear in its folder by linking or renaming (new_file.path).
 * If it is NULL, no file can be made or removed. Never fails: if the system lacks a layer,
 * the sandbox lacks it, too. */
void sandbox_enter(const char *output_path);

/* Runs question(self) in a forked process in the sandbox, and returns its answer, from 0 to 254.
 * Any other result, such as -1, means that the process could not be started or did not end
 * normally. */
int sandbox_ask(int (*question)(void *self), void *self);

/* The layers of the sandbox on this system, for --version: "seccomp and Landlock", "seccomp",
 * "Landlock", or "none", with the reason in parentheses. */
const char *sandbox_kind(void);

#endif
