/* Which values a dump meets more than once, so that each is written in full only once. */
#ifndef MEMSNAP_RENDER_DUMP_REFS_H
#define MEMSNAP_RENDER_DUMP_REFS_H

#include "decode/core/value.h"

/* Texts of at most as many bytes are written wherever they stand; longer ones once. */
#define DUMP_SHORT_TEXT 256

struct dump_refs {
    uint32_t *nodes; /* by node; see dump_refs.c */
    uint32_t *texts; /* by string id; long ones only */
    size_t node_capacity, text_capacity;
    size_t depth; /* how many nodes are open at once where `root` and then `discarded` are walked,
                     an empty tuple aside */
    uint32_t last_id;
    value *discarded; /* instances first, then what they are not; the last made first */
    size_t discarded_count, discarded_capacity;
    struct budget *budget;
};

/* Looks at all that can be reached from `root`, however deep, whether it is a cycle or not; and
 * then at what a pickle made Python import or call, only to throw it away: `discarded`, and what
 * can be reached from there. STATUS_LIMIT when over budget. */
bool dump_refs_build(struct dump_refs *refs, const struct values *values, value root,
                     struct budget *budget, struct error *err);
void dump_refs_release(struct dump_refs *refs);

enum meeting {
    MET_ONLY_HERE,
    MET_FIRST, /* the first time of several: it has now a number, `*id`, counted from 1 */
    MET_AGAIN, /* `*id` is its number */
};

enum meeting dump_refs_meet_node(struct dump_refs *refs, value v, uint32_t *id);
enum meeting dump_refs_meet_text(struct dump_refs *refs, string_id text, uint32_t *id);
bool dump_refs_node_is_shared(const struct dump_refs *refs, value v);
/* Whether the text is long and not met only once. */
bool dump_refs_text_is_shared(const struct dump_refs *refs, string_id text);

/* Whether a JSON string stands for this text only: not where a high surrogate precedes a low one,
 * which would be read as one character. */
bool dump_text_is_plain(struct text text);
/* Whether module and name of a NODE_GLOBAL can be written as module.name: they are short, and the
 * last dot is the one between them. */
bool dump_global_is_plain(const struct values *values, const struct node *global);

#endif
