/* Strings, frames and stacks, each stored once and named by a 32-bit id.
 *
 * Ids are dense from 0. String 0 is "", stack 0 is the empty (or absent)
 * stack. Equal content has one id, so comparing ids compares content.
 * Pointers returned by the readers stay valid until symbols_destroy(). */
#ifndef MEMSNAP_BASE_SYMBOLS_H
#define MEMSNAP_BASE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/budget.h"
#include "base/text.h"

typedef uint32_t string_id;
typedef uint32_t frame_id;
typedef uint32_t stack_id;

#define STRING_EMPTY ((string_id)0)
#define STACK_NONE   ((stack_id)0)

/* Fields that only a few frames have, beyond a function, a file and a line. */
struct frame_detail {
    string_id text; /* the frame as Python's traceback module formats it, if that is its form */
    /* of code that torch.fx generated: the operation, and the traceback of the original code */
    string_id fx_op, fx_name, fx_target, fx_trace;
};

typedef uint32_t detail_id;

#define DETAIL_NONE ((detail_id)0)

struct frame {
    string_id name; /* function name */
    string_id file;
    uint32_t line; /* 0 if unknown (C++ frames) */
    detail_id detail;
};

struct stack {
    const frame_id *frames; /* innermost first */
    size_t count;
};

struct symbols;

/* `budget` is not owned and outlives the symbols. NULL on STATUS_LIMIT. */
struct symbols *symbols_create(struct budget *budget, struct error *err);
void symbols_destroy(struct symbols *symbols); /* NULL is allowed */

/* Each of these four finds the id of equal content, or else copies the content and gives it the
 * next id. STATUS_LIMIT if the budget is used up or there are too many ids. */
bool symbols_string(struct symbols *symbols, const char *bytes, size_t size, string_id *id,
                    struct error *err);
bool symbols_frame(struct symbols *symbols, struct frame frame, frame_id *id, struct error *err);
/* The id of a detail that consists of empty strings is DETAIL_NONE. */
bool symbols_detail(struct symbols *symbols, const struct frame_detail *detail, detail_id *id,
                    struct error *err);
bool symbols_stack(struct symbols *symbols, const frame_id *frames, size_t count, stack_id *id,
                   struct error *err);

struct text symbols_text(const struct symbols *symbols, string_id id); /* NUL-terminated */
struct frame symbols_frame_at(const struct symbols *symbols, frame_id id);
struct frame_detail symbols_detail_at(const struct symbols *symbols, detail_id id);
struct stack symbols_stack_at(const struct symbols *symbols, stack_id id);
size_t symbols_string_count(const struct symbols *symbols);
size_t symbols_frame_count(const struct symbols *symbols);
size_t symbols_stack_count(const struct symbols *symbols);

#endif
