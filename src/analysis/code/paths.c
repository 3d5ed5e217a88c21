#include "analysis/code/paths.h"

#include <string.h>

#include "base/ascii.h"

/* Longer names are classified by their ending alone, which bounds the work per name. */
#define PATH_LONGEST 4096

#define RECORDER      "memsnap_record.py" /* lies beside the program, or where memsnap is installed */
#define COMPILED_STEM 52 /* characters before the ending of a file that torch.compile wrote */

/* Folders and files inside torch, to recognize a torch outside site-packages (a checkout, a
 * relocated build). Only names that are unlikely in a user's own folder called `torch`. */
static const char *const torch_insides[] = {
    "_dynamo/",
    "_inductor/",
    "_functorch/",
    "_higher_order_ops/",
    "_prims/",
    "_prims_common/",
    "_refs/",
    "_decomp/",
    "_subclasses/",
    "_library/",
    "_native/",
    "_tensor.py",
    "_ops.py",
    "_compile.py",
    "_jit_internal.py",
    "_meta_registrations.py",
    "nn/modules/",
    "nn/functional.py",
    "nn/parameter.py",
    "nn/init.py",
    "nn/parallel/",
    "nn/utils/",
    "nn/attention/",
    "optim/optimizer.py",
    "optim/lr_scheduler.py",
    "optim/adam",
    "optim/sgd.py",
    "optim/_",
    "autograd/",
    "utils/checkpoint.py",
    "utils/data/",
    "utils/_",
    "utils/hooks.py",
    "fx/",
    "amp/",
    "ao/",
    "cuda/__init__.py",
    "cuda/memory.py",
    "cuda/graphs.py",
    "cuda/amp/",
    "distributed/_",
    "distributed/fsdp/",
    "distributed/distributed_c10d.py",
    "distributed/nn/",
    "distributed/tensor/",
    "distributed/pipelining/",
    "overrides.py",
    "_C/",
};

/* Installed packages, or parts of them, that only pass calls on: the frame of interest is
 * further out. Libraries that compute (transformers/models, flash_attn, timm) are not listed. */
static const char *const forwarders[] = {
    /* argument and shape checks, einsum front ends */
    "einops/",
    "opt_einsum/",
    "beartype/",
    "jaxtyping/",
    "jax/",
    "jaxlib/",
    "typeguard/",
    "decorator.py",
    "wrapt/",
    "torchtyping/",
    "tenacity/",
    "deprecated/",
    /* hooks and wrappers around a module's forward */
    "accelerate/hooks.py",
    "accelerate/accelerator.py",
    "accelerate/optimizer.py",
    "accelerate/utils/operations.py",
    "accelerate/utils/memory.py",
    "peft/peft_model.py",
    "peft/tuners/tuners_utils.py",
    "peft/helpers.py",
    "transformers/utils/",
    "transformers/modeling_layers.py",
    "huggingface_hub/",
    "deepspeed/utils/",
    "deepspeed/runtime/engine.py",
    "fairscale/nn/checkpoint/",
    "fairscale/nn/misc/",
    "fairscale/nn/wrap/",
    "apex/amp/",
    "triton/",
    "functorch/",
    "nvtx/",
    "torch_tensorrt/",
    /* trainers that call back into user code */
    "lightning/",
    "pytorch_lightning/",
    "lightning_fabric/",
    "lightning_utilities/",
    "ignite/engine/",
    "fastai/callback/",
    "fastai/learner.py",
    /* launchers, command lines, notebooks, tests, debuggers, progress bars */
    "hydra/",
    "fire/",
    "click/",
    "typer/",
    "absl/",
    "ray/_private/",
    "submitit/",
    "joblib/",
    "IPython/",
    "ipykernel/",
    "ipykernel_launcher.py",
    "traitlets/",
    "tornado/",
    "nbclient/",
    "pytest/",
    "_pytest/",
    "pluggy/",
    "debugpy/",
    "pydevd",
    "line_profiler/",
    "memory_profiler.py",
    "tqdm/",
    "rich/",
    "wandb/",
};

/* Modules of the standard library that occur in stacks, for installations whose folder is just Lib
 * (Windows). */
static const char *const standard_modules[] = {
    "contextlib.py", "functools.py", "threading.py",     "runpy.py",       "asyncio/",
    "concurrent/",   "ctypes/",      "multiprocessing/", "importlib/",     "unittest/",
    "pdb.py",        "bdb.py",       "cProfile.py",      "profile.py",     "copy.py",
    "pickle.py",     "typing.py",    "queue.py",         "dataclasses.py", "codeop.py",
    "code.py",       "timeit.py",    "collections/",
};

/* Pseudo files of generated code. Others in angle brackets (<stdin>, <string>,
 * <ipython-input-3-...>) are what the user typed. */
static const char *const generated_files[] = {
    "<frozen",        "<eval_with_key>",  "<@beartype",
    "<decorator-gen", "<attrs generated", "<__array_function__",
    "<makefun-gen",   "<template>",       "<torch",
    "<fstring",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct text text_from(struct text text, size_t start)
{
    return (struct text){text.bytes + start, text.size - start};
}

static bool is_separator(char c)
{
    return c == '/' || c == '\\';
}

/* Like text_starts(), but '/' in the prefix matches either separator. */
static bool path_starts(struct text path, const char *prefix)
{
    size_t i = 0;
    for (; prefix[i]; i++) {
        if (i == path.size)
            return false;
        if (path.bytes[i] != prefix[i] && !(prefix[i] == '/' && is_separator(path.bytes[i])))
            return false;
    }
    return true;
}

static bool path_starts_any(struct text path, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (path_starts(path, prefixes[i]))
            return true;
    return false;
}

/* Longer names are cut: a name of megabytes may be asked for a million times. */
#define NAME_MOST ((size_t)4096)

struct text path_base(struct text file)
{
    size_t start = file.size, lowest = file.size > NAME_MOST ? file.size - NAME_MOST : 0;
    while (start > lowest && !is_separator(file.bytes[start - 1]))
        start--;
    return text_from(file, start);
}

/* "python3.12", "pypy3.10": the folder of an interpreter's library */
static bool is_interpreter_folder(struct text name)
{
    size_t at = text_starts(name, "python") ? 6 : text_starts(name, "pypy") ? 4 : 0;
    return at > 0 && at < name.size && ascii_is_digit(name.bytes[at]);
}

/* Classifies a file by one folder of its path and what follows it; false if that decides nothing.
 */
static bool classify_at(struct text file, struct text before, struct text folder, size_t next,
                        struct file_facts *facts)
{
    struct text rest = text_from(file, next);
    if (text_equals(folder, "site-packages") || text_equals(folder, "dist-packages")) {
        if (path_starts(rest, "torch/"))
            *facts = (struct file_facts){FILE_TORCH, (uint16_t)(next + strlen("torch/"))};
        else if (path_starts_any(rest, forwarders, COUNT(forwarders)) ||
                 text_equals(rest, RECORDER))
            *facts = (struct file_facts){FILE_LIBRARY, (uint16_t)next};
        else
            *facts = (struct file_facts){FILE_USER, (uint16_t)next};
        return true;
    }
    bool is_first = folder.bytes == file.bytes; /* a profile leaves out the folders of packages */
    if (text_equals(folder, "torch") &&
        (is_first || text_equals(before, "pytorch") ||
         path_starts_any(rest, torch_insides, COUNT(torch_insides)))) {
        *facts = (struct file_facts){FILE_TORCH, (uint16_t)next};
        return true;
    }
    bool in_lib = text_equals(before, "lib") || text_equals(before, "lib64");
    if (in_lib && is_interpreter_folder(folder) && !path_starts(rest, "site-packages/") &&
        !path_starts(rest, "dist-packages/")) {
        facts->class = FILE_LIBRARY;
        return true;
    }
    if ((text_equals(folder, "Lib") || text_equals(folder, "lib")) &&
        path_starts_any(rest, standard_modules, COUNT(standard_modules))) {
        facts->class = FILE_LIBRARY;
        return true;
    }
    if (text_starts(folder, "torchinductor_") ||
        (text_starts(folder, "python3") && text_ends(folder, ".zip"))) {
        facts->class = FILE_LIBRARY;
        return true;
    }
    return false;
}

/* True for a file that torch.compile wrote, in whatever cache folder (TORCHINDUCTOR_CACHE_DIR): its
 * name is "c" and 51 digits of a hash in base 32, and its folder is called like the first two of
 * them (torch/_inductor/codecache.py). */
static bool is_compiled(struct text folder, struct text name)
{
    if (name.size != COMPILED_STEM + strlen(".py") || !text_ends(name, ".py") ||
        name.bytes[0] != 'c' || folder.size != 2 || memcmp(folder.bytes, name.bytes + 1, 2) != 0)
        return false;
    for (size_t i = 0; i < COMPILED_STEM; i++) {
        char c = name.bytes[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '2' && c <= '7'))
            return false;
    }
    return true;
}

static struct file_facts classify_python(struct text file)
{
    struct file_facts facts = {FILE_USER, 0};
    struct text before = {"", 0};
    size_t start = 0;
    for (size_t i = 0; i < file.size; i++) {
        if (!is_separator(file.bytes[i]))
            continue;
        struct text folder = {file.bytes + start, i - start};
        if (classify_at(file, before, folder, i + 1, &facts))
            return facts;
        before = folder;
        start = i + 1;
    }
    if (is_compiled(before, text_from(file, start)) ||
        text_equals(text_from(file, start), RECORDER))
        facts.class = FILE_LIBRARY;
    return facts;
}

struct file_facts path_classify(struct text file)
{
    struct file_facts facts = {FILE_NATIVE, 0};
    if (text_starts(file, "<")) {
        if (path_starts_any(file, generated_files, COUNT(generated_files)))
            facts.class = FILE_LIBRARY;
        else if (text_ends(file, ">") && !text_starts(file, "<unknown"))
            facts.class = FILE_USER;
        return facts;
    }
    bool python = text_ends(file, ".py") || text_ends(file, ".pyw") || text_ends(file, ".pyc") ||
                  text_ends(file, ".ipynb");
    if (!python)
        return facts;
    if (file.size > PATH_LONGEST)
        return (struct file_facts){FILE_USER, 0};
    return classify_python(file);
}

bool path_frame_is_named(const struct symbols *symbols, frame_id id, const char *const *words,
                         size_t count)
{
    struct frame frame = symbols_frame_at(symbols, id);
    struct text name = symbols_text(symbols, frame.name);
    struct text file = path_base(symbols_text(symbols, frame.file));
    for (size_t i = 0; i < count; i++)
        if (text_find(name, words[i]) || text_find(file, words[i]))
            return true;
    return false;
}
