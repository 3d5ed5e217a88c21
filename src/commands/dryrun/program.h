/* The program of a dry run, as a process. */
#ifndef MEMSNAP_COMMANDS_DRYRUN_PROGRAM_H
#define MEMSNAP_COMMANDS_DRYRUN_PROGRAM_H

#include <signal.h>
#include <sys/types.h>

#include "commands/dryrun/folder.h"

struct program {
    char *const *arguments; /* ends with NULL */
    const char *folder;
    const struct dryrun_options *options;
    bool is_silent; /* standard output belongs to the report; the program's goes to standard
                       error */
    bool is_apart;  /* it has a session of its own, an empty standard input, and `output` for
                       standard output and standard error */
    int output;
};

struct program_end {
    int status;    /* of the exit; -1: ended by a signal */
    int signal;    /* 0: none */
    int interrupt; /* signal that memsnap itself got meanwhile; 0: none */
};

/* Holds back signals that would end memsnap, so that the private folder can be removed. SIGCHLD is
 * held back too. */
void program_hold_signals(void);
/* The signals that are held back. */
void program_held_signals(sigset_t *set);
/* Ends memsnap by the signal `interrupt` if that is not 0, or by a signal that was held back. */
void program_release_signals(int interrupt);

/* Starts the program without waiting for it. */
bool program_start(const struct program *program, pid_t *process, struct error *err);

/* Runs the program and waits for its end. Signals that arrive meanwhile are passed on to it. On
 * failure the program was not started. */
bool program_run(const struct program *program, struct program_end *end, struct error *err);

#endif
