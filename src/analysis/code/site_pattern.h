/* Patterns that select call sites, as in `memsnap check --max-site`. */
#ifndef MEMSNAP_ANALYSIS_CODE_SITE_PATTERN_H
#define MEMSNAP_ANALYSIS_CODE_SITE_PATTERN_H

#include "analysis/code/site.h"

/* Matches as a shell does: * any text, ? any character, [a-z], [!a-z] and [[:digit:]] a character
 * of a set (ASCII only), \ quotes the next character. A slash also matches a backslash. Takes at
 * most pattern x text steps. Each byte of invalid UTF-8 counts as a character. */
bool pattern_matches(const char *pattern, struct text text);

/* Matches a pattern with "model.py:39 forward", "model.py:39" and "model.py" of a site. The file is
 * its base name or, if the pattern has a slash, its path or an ending of that. A site without a
 * Python frame is matched by `label`, its label in a report. Only the last 512 bytes of the file's
 * name and the first 512 of the function's are used. `scratch` is overwritten; if it has failed
 * afterwards, memory ran out and the result means nothing. */
bool pattern_matches_site(const char *pattern, const struct site_table *sites, stack_id stack,
                          const struct site *site, struct text label, struct buffer *scratch);

#endif
