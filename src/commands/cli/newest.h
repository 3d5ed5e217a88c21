/* Finds the file to read if none is named. */
#ifndef MEMSNAP_COMMANDS_CLI_NEWEST_H
#define MEMSNAP_COMMANDS_CLI_NEWEST_H

/* The path of the newest capture in the current folder, malloc'ed; NULL if there is none, or
 * without memory. Sandboxed child processes examine the files. */
char *newest_capture_find(void);

#endif
