/* POSIX extended regular expressions in bounded memory and time.
 *
 * A pattern becomes a program of at most REGEX_STATES_MOST states, and all its states are followed
 * through a text at once (Thompson, 1968): no backtracking. Supported: | () * + ? {m,n} . ^ $ and
 * bracket expressions with classes such as [:alpha:], and of the GNU extensions \w \W \s \S \b \B
 * \< \> \` \'. Characters are bytes, as in the C locale. There are no back-references. */
#ifndef MEMSNAP_ANALYSIS_CODE_REGEX_H
#define MEMSNAP_ANALYSIS_CODE_REGEX_H

#include "base/text.h"

#define REGEX_STATES_MOST 2000

struct regex;

/* NULL on failure, where `*why` is a literal that says what is wrong with the pattern, or NULL when
 * out of memory. */
struct regex *regex_compile(struct text pattern, const char **why);
void regex_destroy(struct regex *regex); /* NULL is fine */
size_t regex_states(const struct regex *regex);

/* True when the pattern matches some part of the text. Takes at most states x bytes steps. May be
 * called by several threads. */
bool regex_search(const struct regex *regex, struct text text);

#endif
