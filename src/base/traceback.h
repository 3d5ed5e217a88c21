/* Tracebacks as Python formats them, and frames in that form.
 *
 *     '  File "/home/u/model.py", line 77, in attention\n    x = self.q(x)\n'
 *
 * torch writes forward_frames as a list of such strings, the outermost first (autograd's anomaly
 * mode). A string becomes a frame with the string as its detail. A string of another form becomes
 * the name of a frame. */
#ifndef MEMSNAP_BASE_TRACEBACK_H
#define MEMSNAP_BASE_TRACEBACK_H

#include "base/symbols.h"

/* A line of code in a traceback. The texts are parts of the traceback. */
struct traceback_line {
    struct text file, name; /* name: of the function; empty if it is not given */
    uint32_t number;        /* 0 if the number exceeds 32 bits */
};

/* Finds the next line of the form `File "F", line N, in NAME`, and removes it from `*rest` with
 * everything before it. False if there is none. Takes time proportional to the bytes removed. */
bool traceback_next(struct text *rest, struct traceback_line *line);

/* The last line of code that a traceback names, which is the innermost, as a frame. `*found` is
 * false if the text names no line in its last 16 KiB. */
bool traceback_innermost(struct symbols *symbols, string_id text, frame_id *frame, bool *found,
                         struct error *err);

/* A cache of the frames of strings that were read before. */
struct traceback_frames {
    struct symbols *symbols; /* not owned */
    struct budget *budget;   /* not owned */
    frame_id *of_string;     /* frame plus 1 by string id; 0: not read yet */
    size_t count, capacity;
};

void traceback_frames_release(struct traceback_frames *frames);

/* The frame of a string, whose detail is the string itself. */
bool traceback_frame(struct traceback_frames *frames, string_id string, frame_id *frame,
                     struct error *err);

/* Puts the innermost frame first, if all `count` frames were strings and one of them names a line
 * of code. Other lists of strings keep their order. */
void traceback_order(const struct symbols *symbols, frame_id *frames, size_t count);
/* True for frames that traceback_order() put in order. */
bool traceback_is_ordered(const struct symbols *symbols, const frame_id *frames, size_t count);

#endif
