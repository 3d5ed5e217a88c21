/* Stacks in JSON: every event repeats its frames as text.
 *
 * A frame's bytes are looked up as they stand: first compared with the frames
 * that came after the frame before (stacks share their outer parts), else found
 * by hash, and only read as JSON when they are new. What is remembered is
 * bounded; when full, it starts anew. */
#ifndef MEMSNAP_DECODE_JSON_FRAMES_H
#define MEMSNAP_DECODE_JSON_FRAMES_H

#include "base/arena.h"
#include "base/idtable.h"
#include "decode/json/reader.h"

#define FRAME_GUESSES 2

struct known_frame {
    const uint8_t *bytes; /* the object as it stands in the file */
    uint32_t size;
    frame_id frame;
    uint32_t guesses[FRAME_GUESSES]; /* what followed, the latest first; 0: nothing yet */
};

struct json_frames {
    struct json_reader *reader; /* not owned, nor is symbols */
    struct symbols *symbols;
    struct known_frame *known; /* [0] stands for the beginning of a stack */
    size_t count, capacity;
    struct idtable index; /* known frames by their bytes */
    struct arena bytes;
    size_t bytes_held;
    frame_id *stack; /* scratch */
    size_t stack_capacity;
};

bool json_frames_init(struct json_frames *frames, struct json_reader *reader,
                      struct symbols *symbols, struct error *err);
void json_frames_release(struct json_frames *frames);

/* An array of frames; a formatted line (a string) may stand for a frame, whose name it becomes, or
 * for the array. Facts a frame lacks are empty. */
bool json_frames_read(struct json_frames *frames, stack_id *stack, struct error *err);

#endif
