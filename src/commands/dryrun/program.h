/* The program of a dry run, as a process. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_PROGRAM_H
#define MEMSNAP_COMMANDS_DRYRUN_PROGRAM_H

#include "commands/dryrun/folder.h"

struct program {
    char *const *arguments; /* ends with NULL */
    const char *folder;
    const char *allocator; /* NULL: as in the environment */
    bool is_silent;        /* standard output belongs to the report; the program's goes to standard
                              error */
};

struct program_end {
    int status;    /* of the exit; -1: ended by a signal */
    int signal;    /* 0: none */
    int interrupt; /* signal that memsnap itself got meanwhile; 0: none */
};

/* Holds back signals that would end memsnap, so that the private folder can be removed. */
void program_hold_signals(void);
/* Ends memsnap if such a signal arrived afterwards, or if `interrupt` is not 0 by that signal. */
void program_release_signals(int interrupt);

/* Runs the program and waits for its end. Signals that arrive meanwhile are passed on to it. On
 * failure the program was not started. */
bool program_run(const struct program *program, struct program_end *end, struct error *err);

#endif
