/* The call stacks and annotations of a page's bands: texts, frames and stacks, each once.
 *
 * The largest bands come first: when the page is full, those after them keep less of their stacks,
 * or none, and `whole` tells so. */
#ifndef MEMSNAP_RENDER_PAGE_STACKS_H
#define MEMSNAP_RENDER_PAGE_STACKS_H

#include "base/idtable.h"
#include "render/page/html.h"

#define HTML_TEXT_MOST        ((size_t)4 << 20) /* bytes of all texts */
#define HTML_FRAMES_MOST      100000            /* different ones */
#define HTML_STACKED_MOST     500000            /* frames of all stacks */
#define HTML_STACK_DEPTH_MOST 256               /* frames of one, from the innermost */
#define HTML_TEXT_LENGTH_MOST ((size_t)400)     /* bytes of one text, before they are escaped */
#define HTML_ESCAPE_MOST      ((size_t)8)       /* the most by which escaping lengthens a text */
#define HTML_NO_FRAME         UINT32_MAX

struct html_frame {
    uint32_t name, file, line; /* the first two are texts */
};

struct html_stack {
    stack_id own, forward; /* forward: STACK_NONE if `own` names the call site */
    uint32_t label;        /* text: the call site */
    uint32_t site;         /* which of its frames that is, or HTML_NO_FRAME */
    uint32_t first;        /* in `stacked`; up to the first of the next one */
    bool whole;
};

struct html_stacks {
    struct buffer text; /* all texts, escaped for people, one after the other */
    size_t *text_ends;
    struct html_frame *frames;
    uint32_t *stacked; /* frames, innermost first */
    struct html_stack *stacks;
    size_t text_count, frame_count, stacked_count, stack_count;
    uint32_t *of_band;      /* stack of each band */
    uint32_t *note_of_band; /* text of its annotations, plus one; 0: none */
    bool has_notes;         /* some band has one */
    size_t text_capacity, frame_capacity, stacked_capacity, stack_capacity, band_capacity,
        note_capacity;
    struct idtable by_text, by_pair; /* by_pair: stacks with a forward stack */
    uint32_t *frame_ids, *stack_ids; /* by id of symbols, plus one; 0: none yet */
    size_t frame_ids_capacity, stack_ids_capacity;
    struct budget *budget; /* not owned */
};

/* Release it even after failure. */
bool html_stacks_make(struct html_stacks *stacks, const struct html_page *page, struct error *err);
void html_stacks_release(struct html_stacks *stacks);

#endif
