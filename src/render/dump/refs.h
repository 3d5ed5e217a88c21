/* Finds the values that a dump reaches more than once, so that each is written in full only once.
 */
#ifndef MEMSNAP_RENDER_DUMP_REFS_H
#define MEMSNAP_RENDER_DUMP_REFS_H

#include "decode/core/value.h"

/* Texts up to this many bytes are written in full at every use; longer ones only once. */
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

/* Visits every value reachable from `root`, to any depth and through cycles. Then visits
 * `discarded`, the objects that the pickle made Python import or call but then dropped, and
 * everything reachable from them. STATUS_LIMIT when over budget. */
bool dump_refs_build(struct dump_refs *refs, const struct values *values, value root,
                     struct budget *budget, struct error *err);
void dump_refs_release(struct dump_refs *refs);

enum meeting {
    MET_ONLY_HERE,
    MET_FIRST, /* the first of several uses; `*id` is its new number, counted from 1 */
    MET_AGAIN, /* `*id` is its number */
};

enum meeting dump_refs_meet_node(struct dump_refs *refs, value v, uint32_t *id);
enum meeting dump_refs_meet_text(struct dump_refs *refs, string_id text, uint32_t *id);
bool dump_refs_node_is_shared(const struct dump_refs *refs, value v);
/* True if the text is long and occurs more than once. */
bool dump_refs_text_is_shared(const struct dump_refs *refs, string_id text);

/* True if the text survives a round trip through a JSON string. It does not if a high surrogate
 * precedes a low one, because the pair would be read as one character. */
bool dump_text_is_plain(struct text text);
/* True if module and name of a NODE_GLOBAL can be written as module.name: both are short, and the
 * last dot is the one between them. */
bool dump_global_is_plain(const struct values *values, const struct node *global);

#endif
