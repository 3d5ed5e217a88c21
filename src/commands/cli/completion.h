/* What shells complete: everything that --help knows of commands and their options, for scripts. */
#ifndef MEMSNAP_COMMANDS_CLI_COMPLETION_H
#define MEMSNAP_COMMANDS_CLI_COMPLETION_H

/* To standard output. A line has fields, with tabs between them and "-" for none:
 *     command NAME SUMMARY
 *     topic   NAME SUMMARY
 *     option  COMMAND --NAME -LETTER ARGUMENT WORDS SUMMARY
 * ARGUMENT is as in --help, "[=WHAT]" where it may be left out. WORDS, separated by spaces, are
 * those that the argument is known to be; where one ends in "=", more is to follow. */
void completion_print(void);

/* WORDS of an option that takes CATEGORY=SIZE. */
void completion_put_categories(void);

#endif
