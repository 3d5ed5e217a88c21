#include "analysis/oom/source_words.h"

#include <string.h>

static const struct source_words {
    enum oom_source source;
    const char *backend; /* NULL for any */
    const char *sentence, *next;
} table[] = {
    {OOM_SOURCE_OLD, NULL,
     "PyTorch before 1.0 could not allocate memory on the device; its text has no sizes",
     "use a smaller batch, and see with nvidia-smi if other processes use the device; newer "
     "versions of PyTorch tell how much was in use"},
    {OOM_SOURCE_FRAMEWORK, "TensorFlow",
     "TensorFlow ran out of memory, not PyTorch: the two have allocators of their own, and share "
     "nothing but the device",
     "use a smaller batch; if PyTorch runs on the same device, call "
     "tf.config.experimental.set_memory_growth(), since TensorFlow otherwise takes nearly all of "
     "the device at the start"},
    {OOM_SOURCE_FRAMEWORK, "JAX",
     "JAX (XLA) ran out of memory, not PyTorch: the two have allocators of their own, and share "
     "nothing but the device",
     "use a smaller batch; if PyTorch runs on the same device, set "
     "XLA_PYTHON_CLIENT_PREALLOCATE=false, since JAX otherwise takes three quarters of the device "
     "at the start"},
    {OOM_SOURCE_FRAMEWORK, "CuPy",
     "CuPy ran out of memory, not PyTorch: CuPy has a pool of its own, which keeps freed blocks",
     "call cupy.get_default_memory_pool().free_all_blocks() and torch.cuda.empty_cache() where "
     "the program changes from one library to the other"},
    {OOM_SOURCE_CACHE, NULL,
     "vLLM has no memory for its cache of keys and values: the weights and the memory of its "
     "trial run take all that gpu_memory_utilization allows, or other processes hold too much",
     "raise gpu_memory_utilization if the device has memory to spare (nvidia-smi), or lower "
     "max_num_batched_tokens and max_num_seqs, quantize the weights, or use more devices "
     "(tensor_parallel_size)"},
    {OOM_SOURCE_WORKER, NULL,
     "the system killed a process: the CPU's memory ran out, not the device's, unless a user or "
     "another program killed it",
     "use fewer DataLoader workers or a smaller prefetch_factor, keep large Python lists out of "
     "the dataset (each worker copies them), or raise the memory limit of the job or container"},
    {OOM_SOURCE_SHM, NULL,
     "most likely the CPU's shared memory (/dev/shm) ran out, in which DataLoader workers hand "
     "over their batches; it is not the device's memory",
     "give the container more (docker run --shm-size=8g, or --ipc=host), use fewer workers, or "
     "call torch.multiprocessing.set_sharing_strategy('file_system')"},
    {OOM_SOURCE_EXIT, NULL,
     "a DataLoader worker is gone, and the text leaves out why: the system may have killed it "
     "because the CPU's memory ran out, or its own code crashed; it is not the device's memory",
     "search the kernel's log (dmesg) for 'Killed process'; if it is there, use fewer workers or a "
     "smaller prefetch_factor; if not, run with num_workers=0, which shows the error itself"},
};

static const struct source_words *find(const struct oom_message *message)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].source == message->source &&
            (!table[i].backend || strcmp(table[i].backend, message->backend) == 0))
            return &table[i];
    return NULL;
}

/* Says "a kernel of Triton's asks for 128.00 KiB ...". */
static void say_on_chip(const struct words *words, const struct oom_message *message)
{
    say(words, "the device's memory is not the cause: a kernel asks for ");
    if (message->requested.is_stated)
        say(words, "%s of ", SIZE(message->requested.bytes));
    say(words, "the fast memory on the chip that the threads of a block share");
    if (message->block_limit.is_stated)
        say(words, ", and this GPU has %s for a block", SIZE(message->block_limit.bytes));
}

bool oom_source_say(const struct words *words, const struct oom_message *message)
{
    const struct source_words *found = find(message);
    if (message->source == OOM_SOURCE_ON_CHIP)
        say_on_chip(words, message);
    else if (message->source == OOM_SOURCE_BUFFER)
        say(words,
            "the request of %s is larger than the largest buffer that Metal allocates on this "
            "Mac, which is less than its memory",
            SIZE(message->requested.bytes));
    else if (found)
        say(words, "%s", found->sentence);
    return found || message->source == OOM_SOURCE_ON_CHIP || message->source == OOM_SOURCE_BUFFER;
}

bool oom_source_say_next(const struct words *words, const struct oom_message *message)
{
    const struct source_words *found = find(message);
    if (message->source == OOM_SOURCE_ON_CHIP)
        say(words, "use smaller blocks or fewer stages (num_stages) in that kernel, or a kernel "
                   "made for this GPU; using less of the device's memory does not help");
    else if (message->source == OOM_SOURCE_BUFFER)
        say(words, "make that tensor smaller: a smaller batch, image or sequence, or attention in "
                   "slices; no setting raises this limit");
    else if (found)
        say(words, "%s", found->next);
    return found || message->source == OOM_SOURCE_ON_CHIP || message->source == OOM_SOURCE_BUFFER;
}

const char *oom_source_event(enum oom_source source)
{
    switch (source) {
    case OOM_SOURCE_WORKER:
        return "a process was killed";
    case OOM_SOURCE_SHM:
    case OOM_SOURCE_EXIT:
        return "a DataLoader worker died";
    case OOM_SOURCE_CACHE:
        return "vLLM did not start";
    default:
        return NULL;
    }
}

bool oom_source_is_recorded(enum oom_source source)
{
    switch (source) {
    case OOM_SOURCE_HOST:
    case OOM_SOURCE_WORKER:
    case OOM_SOURCE_SHM:
    case OOM_SOURCE_EXIT:
    case OOM_SOURCE_ON_CHIP:
    case OOM_SOURCE_OLD: /* this version cannot record */
    case OOM_SOURCE_FRAMEWORK:
        return false;
    default:
        return true;
    }
}
