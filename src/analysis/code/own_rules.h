/* The rules of --rules: which frames mean which category.
 *
 * A line "category: regex" is a rule; the first rules take precedence. "#" begins a comment line. A
 * category is one of memsnap's or any other name; the regular expression (regex.h) is searched for
 * in "file:function" of a frame. The innermost frame of a stack that matches a rule decides, by the
 * first rule that it matches. Only the last 512 bytes of a file's name and the first 512 of a
 * function's are matched.
 *
 * A rule "category: annotation regex" is about the text of an annotation instead
 * (torch.cuda.memory._annotate_tensor). */
#ifndef MEMSNAP_ANALYSIS_CODE_OWN_RULES_H
#define MEMSNAP_ANALYSIS_CODE_OWN_RULES_H

#include <stddef.h>

#include "analysis/code/reason.h"
#include "base/error.h"
#include "base/symbols.h"

#define OWN_RULES_NONE UINT8_MAX /* no rule matches */

struct own_rules;

/* NULL on failure: STATUS_USAGE, naming `path`, the line and what was expected, or STATUS_LIMIT.
 * Defines the categories that the rules name, so call it before starting threads. */
struct own_rules *own_rules_parse(const char *path, const char *text, size_t size,
                                  struct error *err);
void own_rules_destroy(struct own_rules *rules); /* NULL is fine */

/* The category of a frame, or OWN_RULES_NONE. May be called by several threads. */
uint8_t own_rules_match(const struct own_rules *rules, struct text file, struct text function);

/* The same for the text of an annotation. */
uint8_t own_rules_match_annotation(const struct own_rules *rules, struct text annotation);

#endif
