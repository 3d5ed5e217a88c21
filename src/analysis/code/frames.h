/* The evidence in one frame of a stack about the moment of an allocation. */
#ifndef MEMSNAP_ANALYSIS_CODE_FRAMES_H
#define MEMSNAP_ANALYSIS_CODE_FRAMES_H

#include "analysis/code/operators.h"
#include "analysis/code/paths.h"

/* The evidence in a Python frame, if no frame inside it has any. */
enum frame_role {
    ROLE_NONE,
    ROLE_MODULE_CALL, /* torch.nn.Module.__call__ */
    ROLE_FORWARD,     /* a function named forward */
    ROLE_BACKWARD,    /* a function that runs the backward pass, or one named backward */
    ROLE_TRANSFORM,   /* torch.func.grad(): the forward pass of a function, and the backward pass */
    ROLE_TRANSFORM_END,     /* wraps a torch.func transform: frees what the transform leaves */
    ROLE_COMPILED_BACKWARD, /* of torch.compile, within which frames name the forward lines */
    ROLE_RECOMPUTE,         /* torch.utils.checkpoint recomputing the forward pass */
    ROLE_OPTIMIZER,         /* torch.optim, which wraps the step of every subclass */
    ROLE_OWN_STEP, /* step() of a torch.optim optimizer, which may call the user's closure */
    ROLE_HISTORY,  /* the same of torch.optim.LBFGS, which keeps earlier gradients and steps */
    ROLE_SPARSE,   /* the same of torch.optim.SparseAdam, which takes sparse gradients only */
    ROLE_ZERO_GRAD,
    ROLE_MODEL_INIT,     /* making, loading, converting or moving parameters and buffers */
    ROLE_DATA_LOADING,   /* torch.utils.data, which also collates batches */
    ROLE_DATA_TRANSFORM, /* torchvision's transforms: modules, but not of a model */
    ROLE_COMMUNICATION,
    ROLE_BUCKETS,       /* DistributedDataParallel makes its gradient buckets */
    ROLE_ZERO_BUCKET,   /* DeepSpeed's ZeRO makes its gradient bucket, and other buffers */
    ROLE_LOAD,          /* torch.load() */
    ROLE_LOAD_WEIGHTS,  /* a library reads weights from a file */
    ROLE_COPY_MODEL,    /* copy.deepcopy() of a parameter */
    ROLE_COPY_TENSOR,   /* copy.deepcopy() of a tensor */
    ROLE_COPY_DICT,     /* copy.deepcopy() of a dictionary */
    ROLE_COPY_OBJECT,   /* copy.deepcopy() of another object, such as an OrderedDict */
    ROLE_EMPTY_CACHE,   /* torch.cuda.empty_cache() */
    ROLE_CAPTURE,       /* torch.cuda.graph(), which empties the cache before it captures */
    ROLE_AUTOCAST_END,  /* leaves a region of autocast */
    ROLE_MULTIHEAD,     /* attention of torch.nn.MultiheadAttention */
    ROLE_ALL_GRADIENTS, /* takes the gradients of all parameters at once */
    ROLE_KV_CACHE,      /* allocates or extends a cache of keys and values */
    ROLE_BENCHMARK,     /* torch.compile or Triton times kernels, on memory of its own */
    ROLE_COMPILED,      /* runs a graph that torch.compile compiled */
    ROLE_GRAPH_CODE,    /* code that torch.fx generated of a graph */
    ROLE_OF_DYNAMO,     /* of torch.compile, around the model and around the graphs made of it */
    ROLE_NO_GRAD,
    ROLE_INFERENCE_MODE,
    ROLE_ENABLE_GRAD,
    ROLE_SOME_GRAD_MODE, /* a decorator of torch before 2.10, which may set any of these modes */
};

/* Where the path inside an installed package begins in the name of a file that is in no
 * site-packages, such as one in a checkout of the package's repository; 0 if no role depends on the
 * file. */
size_t frame_package_at(struct text file);

/* `file` and `facts` belong to frame.file; `name` is the text of frame.name. */
enum frame_role frame_python_role(struct text file, struct file_facts facts, struct text name);

/* The class of Python code in a file without an extension: a launcher on the PATH, or a script of
 * the user's. FILE_NATIVE if it is no Python. */
enum file_class frame_script_class(struct text file, struct text name, uint32_t line);

/* True for Python frames that only pass a call on: packages of FILE_LIBRARY, Module.__call__,
 * wrappers around an optimizer's step, dispatch modes. False for torch's functions and layers. */
bool frame_only_forwards_calls(struct text file, struct file_facts facts, struct text name);

/* True for methods of dispatch modes and of Tensor subclasses that PyTorch calls for each operator.
 * They pass the operator on, so their callers tell what an allocation is for. */
bool frame_handles_operators(struct text name);

/* True for names such as allocate, empty_like, make_buffer and _new_weights: functions that make
 * storage for their callers, so that a caller says more about the purpose. */
bool frame_wraps_allocation(struct text name);

#endif
