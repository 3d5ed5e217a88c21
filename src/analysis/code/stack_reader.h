/* The state while the frames of one stack are read, innermost first. Internal to three files:
 * native_frames.c and python_frames.c read one frame each, stack_reader.c whole stacks. */
#ifndef MEMSNAP_ANALYSIS_CODE_STACK_READER_H
#define MEMSNAP_ANALYSIS_CODE_STACK_READER_H

#include "analysis/code/frames.h"
#include "analysis/code/site_table.h"

struct stack_reader {
    struct stack_facts facts;
    string_id factory;    /* the outermost operator so far that only allocates storage */
    string_id collective; /* the innermost collective that has a name */
    /* of the innermost Python evidence; a module's call outranks its forward */
    enum frame_role role;
    /* further out is torch.utils.checkpoint's backward half, or another backward */
    bool recomputes;
    bool op_closed;         /* no operator further out may replace `factory` */
    bool in_hook;           /* `role` was found inside of everything that autograd runs */
    bool in_transform;      /* torch.func itself runs, not the user's function in it */
    bool in_data_transform; /* a transform of torchvision runs; no model outside it is known yet */
    bool in_graph_code;     /* torch.fx generated the code, and none of the user's is known yet */
    bool in_module;         /* the user frame is part of a module that is called */
    bool in_closure;        /* the code runs in a closure, which an optimizer step calls */
};

/* Reads a frame of C++ or CUDA code. `facts` are those of the frame, whose name is found at first
 * use. Fails only for lack of memory. */
bool read_native_frame(struct site_table *table, struct stack_reader *reader, frame_id id,
                       struct frame_facts *facts, struct error *err);

/* Reads a frame of Python code, which is number `index` of its stack. */
void read_python_frame(struct stack_reader *reader, uint32_t index,
                       const struct frame_facts *facts);

#endif
