#define _GNU_SOURCE /* memrchr */
#include "analysis/code/frames.h"

#include <string.h>

#include "base/ascii.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct role_rule {
    const char *path; /* the beginning of the path inside torch or site-packages */
    const char *name; /* of the function; NULL for any */
    enum frame_role role;
};

/* The first rule that fits decides. */
static const struct role_rule torch_rules[] = {
    {"nn/modules/module.py", "_call_impl", ROLE_MODULE_CALL},
    {"nn/modules/module.py", "_wrapped_call_impl", ROLE_MODULE_CALL},
    {"nn/modules/module.py", "_slow_forward", ROLE_MODULE_CALL},
    {"nn/modules/module.py", "zero_grad", ROLE_ZERO_GRAD},
    {"nn/functional.py", "multi_head_attention_forward", ROLE_MULTIHEAD},
    {"nn/modules/module.py", "_apply", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "convert", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "to", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "to_empty", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "cuda", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "load", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "load_state_dict", ROLE_MODEL_INIT},
    {"nn/modules/module.py", "_load_from_state_dict", ROLE_MODEL_INIT},
    {"nn/utils/clip_grad.py", NULL, ROLE_ALL_GRADIENTS},
    {"amp/grad_scaler.py", "unscale_", ROLE_ALL_GRADIENTS},
    {"cuda/amp/grad_scaler.py", "unscale_", ROLE_ALL_GRADIENTS},
    {"nn/modules/", "__init__", ROLE_MODEL_INIT},
    {"nn/modules/", "reset_parameters", ROLE_MODEL_INIT},
    {"nn/modules/", "_reset_parameters", ROLE_MODEL_INIT},
    {"_tensor.py", "__deepcopy__", ROLE_COPY_TENSOR},
    {"nn/parameter.py", "__deepcopy__", ROLE_COPY_MODEL},
    {"nn/parameter.py", NULL, ROLE_MODEL_INIT},
    {"nn/init.py", NULL, ROLE_MODEL_INIT},
    {"nn/parallel/distributed.py", "_ddp_init_helper", ROLE_BUCKETS},
    {"nn/parallel/distributed.py", "_pre_forward", ROLE_BUCKETS},
    {"nn/parallel/comm.py", "scatter", ROLE_DATA_LOADING},
    {"nn/parallel/comm.py", "broadcast_coalesced", ROLE_COMMUNICATION},
    {"serialization.py", NULL, ROLE_LOAD},
    {"optim/lr_scheduler.py", NULL, ROLE_NONE},
    {"optim/swa_utils.py", NULL, ROLE_NONE},
    {"optim/", "zero_grad", ROLE_ZERO_GRAD},
    {"optim/optimizer.py", NULL, ROLE_OPTIMIZER},
    {"optim/lbfgs.py", NULL, ROLE_HISTORY},
    {"optim/sparse_adam.py", NULL, ROLE_SPARSE},
    {"optim/", NULL, ROLE_OWN_STEP},
    {"distributed/optim/", NULL, ROLE_OPTIMIZER},
    {"utils/data/", NULL, ROLE_DATA_LOADING},
    {"utils/checkpoint.py", "backward", ROLE_RECOMPUTE},
    {"utils/checkpoint.py", "unpack_hook", ROLE_RECOMPUTE},
    {"utils/checkpoint.py", "recompute_fn", ROLE_RECOMPUTE},
    {"autograd/__init__.py", "grad", ROLE_BACKWARD},
    {"_functorch/eager_transforms.py", "_autograd_grad", ROLE_BACKWARD},
    {"_functorch/eager_transforms.py", "grad_impl", ROLE_TRANSFORM},
    {"_functorch/eager_transforms.py", "grad_and_value_impl", ROLE_TRANSFORM},
    {"_functorch/eager_transforms.py", "_vjp_with_argnums", ROLE_FORWARD},
    {"_functorch/vmap.py", "fn", ROLE_TRANSFORM_END},
    {"_inductor/runtime/benchmarking.py", NULL, ROLE_BENCHMARK},
    {"_inductor/runtime/triton_heuristics.py", "bench", ROLE_BENCHMARK},
    {"_inductor/runtime/triton_heuristics.py", "benchmark_all_configs", ROLE_BENCHMARK},
    {"_inductor/runtime/triton_heuristics.py", "coordinate_descent_tuning", ROLE_BENCHMARK},
    {"_inductor/triton_heuristics.py", "bench", ROLE_BENCHMARK}, /* before torch 2.4 */
    {"_inductor/triton_heuristics.py", "benchmark_all_configs", ROLE_BENCHMARK},
    {"_inductor/autotune_process.py", NULL, ROLE_BENCHMARK},
    {"_inductor/select_algorithm.py", "benchmark", ROLE_BENCHMARK},
    {"_inductor/select_algorithm.py", "benchmark_choices", ROLE_BENCHMARK},
    {"_inductor/select_algorithm.py", "benchmark_in_current_process", ROLE_BENCHMARK},
    {"_inductor/select_algorithm.py", "make_benchmark_fn", ROLE_BENCHMARK},
    {"_inductor/utils.py", "do_bench", ROLE_BENCHMARK},
    {"_inductor/utils.py", "do_bench_using_profiling", ROLE_BENCHMARK},
    {"_inductor/output_code.py", "__call__", ROLE_COMPILED},
    {"_inductor/codecache.py", "__call__", ROLE_COMPILED},            /* before torch 2.6 */
    {"_functorch/aot_autograd.py", "runtime_wrapper", ROLE_COMPILED}, /* before torch 2.2 */
    {"_functorch/_aot_autograd/runtime_wrappers.py", "runtime_wrapper", ROLE_COMPILED},
    {"_dynamo/eval_frame.py", "_fn", ROLE_OF_DYNAMO},
    {"_functorch/aot_autograd.py", "backward", ROLE_COMPILED_BACKWARD},
    {"_functorch/_aot_autograd/", "backward", ROLE_COMPILED_BACKWARD},
    {"autograd/__init__.py", "_make_grads", ROLE_BACKWARD},
    {"autograd/graph.py", "_engine_run_backward", ROLE_BACKWARD},
    {"utils/_contextlib.py", "no_grad", ROLE_NO_GRAD},
    {"utils/_contextlib.py", "inference_mode", ROLE_INFERENCE_MODE},
    {"utils/_contextlib.py", "enable_grad", ROLE_ENABLE_GRAD},
    {"utils/_contextlib.py", "decorate_context", ROLE_SOME_GRAD_MODE},
    {"amp/autocast_mode.py", "__exit__", ROLE_AUTOCAST_END},
    {"cuda/memory.py", "empty_cache", ROLE_EMPTY_CACHE},
    {"cuda/graphs.py", "__enter__", ROLE_CAPTURE},
    {"autograd/grad_mode.py", "decorate_context", ROLE_SOME_GRAD_MODE},
    {"distributed/fsdp/_fully_shard/_fsdp_param.py", "_init_sharded_param", ROLE_MODEL_INIT},
    {"distributed/fsdp/_fully_shard/_fsdp_param.py", NULL, ROLE_COMMUNICATION},
    {"distributed/fsdp/_fully_shard/_fsdp_collectives.py", NULL, ROLE_COMMUNICATION},
    {"distributed/fsdp/_flat_param.py", NULL, ROLE_COMMUNICATION},
    {"distributed/distributed_c10d.py", NULL, ROLE_COMMUNICATION},
    {"distributed/_functional_collectives.py", NULL, ROLE_COMMUNICATION},
    {"distributed/nn/functional.py", NULL, ROLE_COMMUNICATION},
    {"distributed/_symmetric_memory/", NULL, ROLE_COMMUNICATION},
};

#define ZERO "deepspeed/runtime/zero/"

static const struct role_rule package_rules[] = {
    {"deepspeed/runtime/engine.py", "backward", ROLE_BACKWARD},
    {ZERO "stage", "setup_buckets", ROLE_ZERO_BUCKET},
    {ZERO "stage", "backward", ROLE_ZERO_BUCKET}, /* in older versions */
    {ZERO "stage", "_setup_for_real_optimizer", ROLE_ZERO_BUCKET},
    {ZERO "stage_1_and_2.py", "__init__", ROLE_MODEL_INIT},
    {ZERO "partition_parameters.py", "_all_gather_dtype", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "_all_gather_sequential", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "_all_gather_coalesced", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "_allgather_param", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "_allgather_params_coalesced", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "_allgather_params_sequential", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "_dist_allgather_fn", ROLE_COMMUNICATION},
    {ZERO "partition_parameters.py", "wait", ROLE_COMMUNICATION},
    {"transformers/modeling_utils.py", NULL, ROLE_MODEL_INIT},
    {"transformers/core_model_loading.py", NULL, ROLE_MODEL_INIT},
    {"accelerate/utils/modeling.py", NULL, ROLE_MODEL_INIT},
    {"peft/mapping_func.py", "get_peft_model", ROLE_MODEL_INIT},
    {"peft/peft_model.py", "add_adapter", ROLE_MODEL_INIT},
    {"peft/mixed_model.py", "add_adapter", ROLE_MODEL_INIT},
    {"peft/tuners/tuners_utils.py", "inject_adapter", ROLE_MODEL_INIT},
    {"peft/tuners/tuners_utils.py", "cast_adapter_dtype", ROLE_MODEL_INIT},
    {"safetensors/torch.py", NULL, ROLE_LOAD_WEIGHTS},
    {"triton/testing.py", NULL, ROLE_BENCHMARK},
    {"triton/runtime/autotuner.py", "_bench", ROLE_BENCHMARK},
    {"triton/runtime/autotuner.py", "benchmark", ROLE_BENCHMARK},
    {"torchvision/transforms/", NULL, ROLE_DATA_TRANSFORM},
    {"transformers/cache_utils.py", NULL, ROLE_KV_CACHE},
    {"vllm/worker/cache_engine.py", "_allocate_kv_cache", ROLE_KV_CACHE},
    {"vllm/v1/worker/", "_allocate_kv_cache", ROLE_KV_CACHE},
    {"vllm/v1/worker/", "_allocate_kv_cache_tensors", ROLE_KV_CACHE},
    {"sglang/srt/mem_cache/", "_create_buffers", ROLE_KV_CACHE},
    {"sglang/srt/mem_cache/memory_pool.py", NULL, ROLE_KV_CACHE},
};

/* Functions of torch that only pass a call on. Their role is not used. */
static const struct role_rule wrapper_rules[] = {
    {"nn/modules/module.py", "_call_impl", ROLE_NONE},
    {"nn/modules/module.py", "_wrapped_call_impl", ROLE_NONE},
    {"nn/modules/module.py", "_slow_forward", ROLE_NONE},
    {"nn/modules/module.py", "inner", ROLE_NONE},
    {"optim/optimizer.py", "wrapper", ROLE_NONE},
    {"optim/optimizer.py", "_use_grad", ROLE_NONE},
    {"optim/optimizer.py", "maybe_fallback", ROLE_NONE},
    {"nn/utils/clip_grad.py", "_no_grad_wrapper", ROLE_NONE},
    {"optim/lr_scheduler.py", "wrapper", ROLE_NONE},
    {"utils/_contextlib.py", NULL, ROLE_NONE},
    {"_dynamo/eval_frame.py", NULL, ROLE_NONE},
    {"_compile.py", NULL, ROLE_NONE},
    {"amp/autocast_mode.py", NULL, ROLE_NONE},
};

static bool starts_with_path(struct text path, const char *prefix)
{
    size_t size = strlen(prefix);
    if (path.size < size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = path.bytes[i] == '\\' ? '/' : path.bytes[i];
        if (c != prefix[i])
            return false;
    }
    return true;
}

static const struct role_rule *find_rule(const struct role_rule *rules, size_t count,
                                         struct text path, struct text name)
{
    for (size_t i = 0; i < count; i++)
        if ((!rules[i].name || text_equals(name, rules[i].name)) &&
            starts_with_path(path, rules[i].path))
            return &rules[i];
    return NULL;
}

size_t frame_package_at(struct text file)
{
    for (size_t at = 1; at < file.size; at++) {
        if (file.bytes[at - 1] != '/' && file.bytes[at - 1] != '\\')
            continue;
        struct text path = {file.bytes + at, file.size - at};
        for (size_t i = 0; i < COUNT(package_rules); i++)
            if (starts_with_path(path, package_rules[i].path))
                return at;
    }
    return 0;
}

/* torch.profiler names a call of a module "nn.Module: NAME_0". */
static bool is_module_call(struct file_facts facts, struct text name)
{
    return facts.class == FILE_TORCH && text_starts(name, "nn.Module: ");
}

static enum frame_role copy_role(struct text file, struct text name)
{
    if (!text_equals(path_base(file), "copy.py"))
        return ROLE_NONE;
    if (text_equals(name, "_deepcopy_dict"))
        return ROLE_COPY_DICT;
    return text_equals(name, "_reconstruct") ? ROLE_COPY_OBJECT : ROLE_NONE;
}

/* The name of a function without that of its class, which Python 3.11 and later put before it. */
static struct text bare_name(struct text name)
{
    const char *dot = name.size > 0 ? memrchr(name.bytes, '.', name.size) : NULL;
    if (dot) {
        name.size -= (size_t)(dot + 1 - name.bytes);
        name.bytes = dot + 1;
    }
    return name;
}

/* Functions that make or load the weights of a model in code that is not torch's, as inference
 * engines have them, whose weights are often plain tensors. */
static bool makes_weights(struct text name)
{
    static const char *const names[] = {"init_weight",    "init_weights", "create_weight",
                                        "create_weights", "load_weight",  "load_weights"};
    name = bare_name(name);
    while (name.size > 1 && *name.bytes == '_')
        name = (struct text){name.bytes + 1, name.size - 1};
    return text_is_one_of(name, names, COUNT(names));
}

enum frame_role frame_python_role(struct text file, struct file_facts facts, struct text name)
{
    struct text path = {file.bytes + facts.module, file.size - facts.module};
    const struct role_rule *rule = NULL;
    if (is_module_call(facts, name))
        return ROLE_MODULE_CALL;
    if (facts.class == FILE_TORCH)
        rule = find_rule(torch_rules, COUNT(torch_rules), path, name);
    else if (facts.module > 0)
        rule = find_rule(package_rules, COUNT(package_rules), path, name);
    if (rule)
        return rule->role;
    if (facts.class != FILE_TORCH && makes_weights(name))
        return ROLE_MODEL_INIT;
    /* torch.fx calls the code of every graph "forward", also that of a backward pass */
    if (text_starts(file, "<eval_with_key>"))
        return ROLE_GRAPH_CODE;
    if (facts.class == FILE_LIBRARY)
        return copy_role(file, name);

    if (text_equals(name, "forward"))
        return ROLE_FORWARD;
    if (text_equals(name, "backward"))
        return ROLE_BACKWARD;
    return ROLE_NONE;
}

/* "train", "_run2", "<module>" or "Net.forward". C++ names usually have spaces, colons or
 * parentheses; a bare C name has no line number. */
static bool is_python_name(struct text name)
{
    if (name.size == 0 || name.size > 256)
        return false;
    for (size_t i = 0; i < name.size; i++) {
        unsigned char c = (unsigned char)name.bytes[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
        if (!letter && !ascii_is_digit(c) && c != '<' && c != '>' && c != '.')
            return false;
    }
    return true;
}

enum file_class frame_script_class(struct text file, struct text name, uint32_t line)
{
    struct text base = path_base(file);
    bool is_script = line > 0 && base.size > 0 && base.size < file.size &&
                     !memchr(base.bytes, '.', base.size) && is_python_name(name);
    if (!is_script)
        return FILE_NATIVE;
    struct text folder = {file.bytes, file.size - base.size - 1};
    bool is_launcher = text_equals(path_base(folder), "bin") && text_equals(name, "<module>");
    return is_launcher ? FILE_LIBRARY : FILE_USER;
}

bool frame_handles_operators(struct text name)
{
    static const char *const handlers[] = {"__torch_dispatch__", "__torch_function__"};
    return text_is_one_of(bare_name(name), handlers, COUNT(handlers));
}

bool frame_only_forwards_calls(struct text file, struct file_facts facts, struct text name)
{
    struct text path = {file.bytes + facts.module, file.size - facts.module};
    if (facts.class != FILE_TORCH)
        return facts.class == FILE_LIBRARY || frame_handles_operators(name);
    return is_module_call(facts, name) ||
           find_rule(wrapper_rules, COUNT(wrapper_rules), path, name) != NULL;
}

/* Removes the ending, unless nothing else would be left. */
static bool cut_ending(struct text *text, const char *ending)
{
    size_t size = strlen(ending);
    if (text->size <= size || memcmp(text->bytes + text->size - size, ending, size) != 0)
        return false;
    text->size -= size;
    return true;
}

/* "new_", "make_" and the like */
static bool cut_beginning(struct text *text)
{
    static const char *const verbs[] = {"new_", "make_", "create_"};
    for (size_t i = 0; i < COUNT(verbs); i++) {
        if (!text_starts(*text, verbs[i]))
            continue;
        *text = (struct text){text->bytes + strlen(verbs[i]), text->size - strlen(verbs[i])};
        return true;
    }
    return false;
}

bool frame_wraps_allocation(struct text name)
{
    static const char *const verbs[] = {"alloc", "allocate", "malloc", "empty",
                                        "full",  "ones",     "zeros"};
    static const char *const nouns[] = {"buffer", "tensor", "storage"};
    name = bare_name(name);
    if (text_starts(name, "_new_"))
        return true;
    while (name.size > 1 && *name.bytes == '_')
        name = (struct text){name.bytes + 1, name.size - 1};
    if (cut_beginning(&name) && text_is_one_of(name, nouns, COUNT(nouns)))
        return true;
    if (!cut_ending(&name, "_like") && !cut_ending(&name, "_tensor"))
        cut_ending(&name, "_buffer");
    return text_is_one_of(name, verbs, COUNT(verbs));
}
