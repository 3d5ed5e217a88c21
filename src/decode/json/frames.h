/* Stacks in JSON: every event repeats its frames as text.
 *
 * A frame is looked up by its raw bytes. It is first compared with the frames that followed the
 * previous frame before (stacks share their outer parts), then found by hash, and only parsed if it
 * is new. The memory for known frames is bounded; when it is full, all are forgotten. */
#ifndef MEMSNAP_DECODE_JSON_FRAMES_H
#define MEMSNAP_DECODE_JSON_FRAMES_H

#include "base/arena.h"
#include "base/idtable.h"
#include "base/traceback.h"
#include "decode/json/reader.h"

#define FRAME_GUESSES 2

struct known_frame {
    const uint8_t *bytes; /* the object as it stands in the file */
    uint32_t size;
    frame_id frame;
    uint32_t guesses[FRAME_GUESSES]; /* frames that followed it, the latest first; 0: none yet */
};

struct json_frames {
    struct json_reader *reader; /* not owned, nor is symbols */
    struct symbols *symbols;
    struct known_frame *known; /* [0] represents the beginning of a stack */
    size_t count, capacity;
    struct idtable index; /* known frames by their bytes */
    struct arena bytes;
    size_t bytes_held;
    struct traceback_frames lines; /* frames that were read from strings */
    frame_id *stack;               /* scratch */
    size_t stack_capacity;
};

bool json_frames_init(struct json_frames *frames, struct json_reader *reader,
                      struct symbols *symbols, struct error *err);
void json_frames_release(struct json_frames *frames);

/* Reads an array of frames. A string may replace a frame (base/traceback.h), or the array.
 * Missing members of a frame are empty. */
bool json_frames_read(struct json_frames *frames, stack_id *stack, struct error *err);

#endif
