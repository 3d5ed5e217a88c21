/* What one frame tells of the moment an allocation was made in. */
#ifndef MEMSNAP_ANALYSIS_CODE_FRAMES_H
#define MEMSNAP_ANALYSIS_CODE_FRAMES_H

#include "analysis/code/operators.h"
#include "analysis/code/paths.h"

/* What a Python frame proves when it is the innermost one that proves anything. */
enum frame_role {
    ROLE_NONE,
    ROLE_MODULE_CALL, /* torch.nn.Module.__call__ */
    ROLE_FORWARD,     /* a function named forward */
    ROLE_BACKWARD,    /* a function that runs the backward pass, or is named backward */
    ROLE_RECOMPUTE,   /* torch.utils.checkpoint computing the forward again */
    ROLE_OPTIMIZER,   /* torch.optim, which wraps the step of every subclass */
    ROLE_ZERO_GRAD,
    ROLE_MODEL_INIT,   /* making, loading, converting or moving parameters and buffers */
    ROLE_DATA_LOADING, /* torch.utils.data, which runs the collating too */
    ROLE_COMMUNICATION,
};

/* `file` and `facts` are of frame.file; `name` is frame.name's text. */
enum frame_role frame_python_role(struct text file, struct file_facts facts, struct text name);

/* Python run from a file without an extension: a script on the PATH, or the user's own. */
enum file_class frame_script_class(struct text file, struct text name, uint32_t line);

/* Python outside the code under study that only passes a call on and says nothing by itself: what
 * a package of FILE_LIBRARY does, Module.__call__, wrappers around an optimizer's step. Not:
 * torch's functions and layers. */
bool frame_only_calls(struct text file, struct file_facts facts, struct text name);

#endif
