/* The facts about the step and the operators in a layer trace. `convert` writes them to JSON and to
 * msgpack from this one table. */
#ifndef MEMSNAP_RENDER_LAYERS_FACTS_H
#define MEMSNAP_RENDER_LAYERS_FACTS_H

#include "model/layer_trace.h"

struct fact {
    const char *key;
    bool is_text;
    size_t member; /* of struct layer_facts */
};

/* In output order. */
extern const struct fact layers_facts[LAYER_FACTS];

bool layers_has_fact(const struct layer_trace *trace, enum layer_fact fact);
/* The value of a fact that is a text, and of one that is a number. */
struct text layers_fact_text(const struct layer_trace *trace, enum layer_fact fact);
int64_t layers_fact_number(const struct layer_trace *trace, enum layer_fact fact);

static inline bool layers_operator_has(const struct layer_operator *operation,
                                       enum operator_field field)
{
    return (operation->present >> field & 1) != 0;
}

#endif
