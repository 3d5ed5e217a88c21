/* Translates strings, frames and stacks of one capture into symbols that two captures share. */
#ifndef MEMSNAP_ANALYSIS_DIFF_SYMBOLS_H
#define MEMSNAP_ANALYSIS_DIFF_SYMBOLS_H

#include "base/symbols.h"

struct translation {
    const struct symbols *from;
    struct symbols *to;
    struct budget *budget; /* of these tables; not owned */
    /* by frame of `from`: one more than its ids in `to`; 0: not translated yet */
    struct frame_twin {
        frame_id exact, bare; /* as recorded, and with line 0 */
    } * frames;
    size_t frame_count, frame_capacity;
    string_id *strings; /* by string of `from`: one more than its id in `to`; 0: not yet */
    size_t string_count, string_capacity;
    frame_id *scratch; /* a stack */
    size_t scratch_capacity;
};

bool translate_string(struct translation *translation, string_id id, string_id *translated,
                      struct error *err);
/* `bare`: with all line numbers 0. */
bool translate_frame(struct translation *translation, frame_id id, bool bare, frame_id *translated,
                     struct error *err);
bool translate_stack(struct translation *translation, stack_id id, bool bare, stack_id *translated,
                     struct error *err);
void translation_release(struct translation *translation);

/* Compares bytewise; a prefix comes first. */
int symbols_compare(const struct symbols *symbols, string_id a, string_id b);

#endif
