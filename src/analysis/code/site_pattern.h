/* Call sites named by a pattern, as `memsnap check --max-site` takes one. */
#ifndef MEMSNAP_ANALYSIS_CODE_SITE_PATTERN_H
#define MEMSNAP_ANALYSIS_CODE_SITE_PATTERN_H

#include "analysis/code/site.h"

/* As the shell has it: * any text, ? a character, [a-z] and [!a-z] one of a set of ASCII, \ takes
 * the next character as it is. A slash fits a backslash too. Takes at most pattern x text steps.
 * Bytes of invalid UTF-8 count as characters. */
bool pattern_matches(const char *pattern, struct text text);

/* Whether a site is meant: by "model.py:39 forward", by "model.py:39", or by "model.py", where the
 * file goes by its base name or, with a slash in the pattern, by its path or an end of it. A site
 * without a Python frame goes by `label`, that of a report. Of long names the last 512 bytes of the
 * file and the first 512 of what follows are looked at. `scratch` is overwritten; where it has
 * failed afterwards, there was no memory to tell. */
bool pattern_matches_site(const char *pattern, const struct site_table *sites, stack_id stack,
                          const struct site *site, struct text label, struct buffer *scratch);

#endif
