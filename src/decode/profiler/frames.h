/* Makes the frames of stacks from the names of ranges. Internal to decode/profiler. */
#ifndef MEMSNAP_DECODE_PROFILER_FRAMES_H
#define MEMSNAP_DECODE_PROFILER_FRAMES_H

#include "decode/profiler/profile.h"

/* The file of the frames that stand for calls of an nn.Module. The profiler records only the name
 * of such a call, not the file. */
#define MODULE_FILE "torch/nn/modules/module.py"

struct profile_frames {
    struct profile *profile;
    uint32_t *of_name; /* by string: 1 + the frame, 0: not made yet */
    size_t name_count, name_capacity;
    frame_id *list; /* a stack, innermost first */
    size_t count, capacity;
};

bool profile_frames_init(struct profile_frames *frames, struct profile *profile, struct error *err);
void profile_frames_release(struct profile_frames *frames);

/* Appends the frame of ranges with this label to the list. `line` is where a Python function is,
 * "model.py:58"; else the frame has the line of its definition. */
bool profile_frames_add(struct profile_frames *frames, const struct range_label *label,
                        string_id line, struct error *err);
/* True if the function "dir/model.py(50): forward" is in the file of the line "model.py:58". */
bool profile_frames_in_file(const struct profile_frames *frames, string_id function,
                            string_id line);
/* Appends the frames of a text "FILE(LINE): FUNCTION;...". */
bool profile_frames_add_calls(struct profile_frames *frames, string_id calls, struct error *err);

#endif
