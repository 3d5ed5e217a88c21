/* The file that is read where none is named. */
#ifndef MEMSNAP_COMMANDS_CLI_NEWEST_H
#define MEMSNAP_COMMANDS_CLI_NEWEST_H

/* The path of the newest capture in the current folder, malloc'ed; NULL: there is none, or no
 * memory. Files are looked into by other processes, confined to the sandbox. */
char *newest_capture_find(void);

#endif
