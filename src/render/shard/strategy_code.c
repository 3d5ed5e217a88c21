#include "render/shard/strategy_code.h"

#include <inttypes.h>
#include <string.h>

#include "render/shard/spelling.h"
#include "render/shard/split.h"

static const char *truth(bool is)
{
    return is ? "True" : "False";
}

/* Batch norm takes inputs of any type, but weights of that of its running means only. */
static bool spares_batch_norm(const struct shard_report *report)
{
    bool may_have = report->model->batch_norms > 0 || !report->has_modules;
    return report->options->compute_size == 2 && report->code != SHARD_FSDP && may_have;
}

static void put_batch_norm(FILE *out, const struct shard_report *report)
{
    fputs("    for name in norms:  # without mixed precision\n"
          "        module = model.get_submodule(name)\n",
          out);
    if (report->code == SHARD_FSDP2)
        fputs("        fully_shard(module, **dict(options, mp_policy=MixedPrecisionPolicy()))\n",
              out);
    else
        fputs("        unit = FullyShardedDataParallel(module, sharding_strategy=strategy,\n"
              "                                        **dict(options, mixed_precision=None))\n"
              "        replace(model, module, unit)\n",
              out);
}

static const char *units_of(const struct shard_report *report)
{
    return report->has_modules ? "UNITS" : "find_units(model)";
}

static void put_unit_names(FILE *out, const struct shard_report *report)
{
    bool splits = shard_splits_units(report), spares = spares_batch_norm(report);
    if (spares)
        fputs("    norms = [name for name, module in model.named_modules()\n"
              "             if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)]\n",
              out);
    fprintf(out, "    units = %s%s%s%s%s\n", spares ? "[name for name in " : "",
            splits ? "split_units(model, " : "", units_of(report), splits ? ")" : "",
            spares ? " if name not in norms]" : "");
    if (spares)
        put_batch_norm(out, report);
}

/* Inner modules come first. */
static void put_loop(FILE *out, const struct shard_report *report)
{
    bool has_last = report->options->reshard == SHARD_RESHARD_LAST;
    put_unit_names(out, report);
    fputs("    for name, module in reversed(list(model.named_modules())):\n"
          "        if name in units:\n",
          out);
    if (has_last)
        fputs("            reshard = name != units[-1]\n", out);
}

static const char *reshard_of(const struct shard_options *options)
{
    return options->reshard == SHARD_RESHARD_LAST ? "reshard"
                                                  : truth(options->reshard != SHARD_KEEP);
}

static void put_optimizer(FILE *out, const struct shard_options *options)
{
    const struct spelling *spelling = spelling_of(options);
    fprintf(out, "    optimizer = %s(model.parameters(), %s%s)\n", spelling->class_name,
            spelling->arguments, spelling_fused(options));
}

/* DistributedDataParallel waits for the gradients of all parameters, or stops. */
static const char *unused_of(const struct shard_report *report)
{
    return report->model->has_unused
               ? ",\n                                    find_unused_parameters=True"
               : "";
}

static void put_ddp(FILE *out, const struct shard_report *report)
{
    fprintf(out,
            "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()],\n"
            "                                    gradient_as_bucket_view=%s%s)\n",
            truth(report->options->bucket_view), unused_of(report));
    put_optimizer(out, report->options);
}

/* One rank needs no library. */
static void put_plain(FILE *out, const struct shard_report *report)
{
    put_optimizer(out, report->options);
}

static void put_zero(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(out,
            "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()],\n"
            "                                    gradient_as_bucket_view=%s%s)\n"
            "    optimizer = ZeroRedundancyOptimizer(model.parameters(), %s, %s%s)\n",
            truth(report->options->bucket_view), unused_of(report), spelling->class_name,
            spelling->arguments, spelling_fused(report->options));
}

static void put_oss(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(
        out,
        "    optimizer = OSS(model.parameters(), optim=%s, broadcast_fp16=%s, %s%s)\n"
        "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()]%s)\n",
        spelling->class_name, truth(report->options->half_broadcast), spelling->arguments,
        spelling_fused(report->options), unused_of(report));
}

static void put_sdp(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(out,
            "    optimizer = OSS(model.parameters(), optim=%s, broadcast_fp16=%s, %s%s)\n"
            "    model = ShardedDataParallel(model, optimizer, reduce_buffer_size=%" PRId64 ")\n",
            spelling->class_name, truth(report->options->half_broadcast), spelling->arguments,
            spelling_fused(report->options), report->options->reduce_buffer);
}

/* FairScale's mixed precision is float16, unless another type is named. */
static void put_fsdp_type(FILE *out, const struct shard_options *options)
{
    if (!options->compute_type || strcmp(options->compute_type, "bfloat16") != 0)
        return;
    fputs("    # FairScale makes float32 inputs float16: pass those of the model in bfloat16.\n"
          "    options[\"compute_dtype\"] = torch.bfloat16\n",
          out);
}

static void put_fsdp(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    if (options->offload) /* it moves only buffers to the GPU, and gathers parameters there */
        fputs("    model = model.cpu()\n", out);
    fprintf(out,
            "    options = dict(mixed_precision=%s, fp32_reduce_scatter=%s, "
            "move_params_to_cpu=%s)\n",
            truth(options->compute_size == 2), truth(options->reduce_size == 4),
            truth(options->offload));
    put_fsdp_type(out, options);
    put_loop(out, report);
    fprintf(out,
            "            unit = Unit(module, reshard_after_forward=%s, **options)\n"
            "            replace(model, module, unit)\n"
            "    model = FullyShardedDataParallel(model, **options)\n",
            reshard_of(options));
    put_optimizer(out, options);
}

/* Units are in the order of the forward pass. */
static void put_prefetch(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    const char *units = !shard_splits_units(report) ? "units" : units_of(report);
    if (options->prefetch == 1 && options->forward_prefetch == 0)
        return;
    fprintf(out,
            "    modules = [model.get_submodule(name) for name in %s]\n"
            "    for i, module in enumerate(modules):\n",
            units);
    if (options->forward_prefetch > 0)
        fprintf(out,
                "        module.set_modules_to_forward_prefetch(modules[i + 1:i + 1 + %" PRId64
                "])\n",
                options->forward_prefetch);
    if (options->prefetch > 1)
        fprintf(out,
                "        module.set_modules_to_backward_prefetch(modules[max(i - %" PRId64
                ", 0):i][::-1])\n",
                options->prefetch);
}

static void put_precision(FILE *out, const struct shard_options *options, const char *key,
                          const char *class_name)
{
    if (!options->compute_type && !options->reduce_type)
        return;
    fprintf(out, "    options[\"%s\"] = %s(param_dtype=%s%s, reduce_dtype=%s%s)\n", key, class_name,
            options->compute_type ? "torch." : "",
            options->compute_type ? options->compute_type : "None",
            options->reduce_type ? "torch." : "",
            options->reduce_type ? options->reduce_type : "None");
}

static void put_mesh(FILE *out, const struct shard_options *options, const char *key)
{
    fprintf(out,
            "    options[\"%s\"] = init_device_mesh(\"cuda\", (%" PRId64 ", %" PRId64 "),\n"
            "                                       mesh_dim_names=(\"replicate\", \"shard\"))\n",
            key, options->world / options->group, options->group);
}

/* Without sharding there is no mesh; the group of HYBRID_SHARD is its second dimension. */
static const char *sharding_of(const struct shard_options *options, bool keeps)
{
    if (options->group == 1)
        return "NO_SHARD";
    if (options->group > 0)
        return keeps ? "_HYBRID_SHARD_ZERO2" : "HYBRID_SHARD";
    return keeps ? "SHARD_GRAD_OP" : "FULL_SHARD";
}

static bool has_scalars(const struct shard_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].elements == 1)
            return true;
    return false;
}

/* A factor, such as the temperature of a loss, works the same as a vector of one element. */
static void put_vectors(FILE *out, const struct shard_model *model)
{
    if (!has_scalars(model))
        return;
    fputs("    for module in model.modules():  # FSDP takes vectors, but no scalars\n"
          "        for name, value in list(module.named_parameters(recurse=False)):\n"
          "            if value.dim() == 0:\n"
          "                vector = torch.nn.Parameter(value.detach().reshape(1), "
          "value.requires_grad)\n"
          "                setattr(module, name, vector)\n",
          out);
}

/* fully_shard() takes no weights in channels_last. Convolutions follow their input in this, so
 * activations stay as they are. */
static void put_contiguous(FILE *out, const struct shard_model *model)
{
    bool has_strided = false;
    for (size_t i = 0; i < model->tensor_count; i++)
        has_strided |= model->tensors[i].strided;
    if (has_strided)
        fputs("    for value in model.parameters():  # fully_shard takes contiguous ones only\n"
              "        value.data = value.data.contiguous()\n",
              out);
}

static void put_fsdp1_options(FILE *out, const struct shard_options *options)
{
    static const char *const prefetch[] = {[SHARD_PREFETCH_PRE] = "BackwardPrefetch.BACKWARD_PRE",
                                           [SHARD_PREFETCH_POST] = "BackwardPrefetch.BACKWARD_POST",
                                           [SHARD_PREFETCH_NONE] = "None"};
    fprintf(out,
            "    options = dict(device_id=torch.cuda.current_device(), use_orig_params=%s,\n"
            "                   backward_prefetch=%s, forward_prefetch=%s,\n"
            "                   limit_all_gathers=True, cpu_offload=CPUOffload(%s))\n",
            truth(!options->has_flat_parameters), prefetch[options->backward_prefetch],
            truth(options->forward_prefetch > 0), truth(options->offload));
    put_precision(out, options, "mixed_precision", "MixedPrecision");
    if (options->group > 1)
        put_mesh(out, options, "device_mesh");
}

static void put_fsdp1(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    bool keeps = options->reshard == SHARD_KEEP;
    put_vectors(out, report->model);
    put_fsdp1_options(out, options);
    fprintf(out, "    strategy = ShardingStrategy.%s\n", sharding_of(options, keeps));
    if (options->reshard == SHARD_RESHARD_LAST)
        fprintf(out, "    last_strategy = ShardingStrategy.%s\n", sharding_of(options, true));
    put_loop(out, report);
    fprintf(out,
            "            unit = FullyShardedDataParallel(module, sharding_strategy=%s, **options)\n"
            "            replace(model, module, unit)\n"
            "    model = FullyShardedDataParallel(model, sharding_strategy=strategy, **options)\n",
            options->reshard == SHARD_RESHARD_LAST ? "strategy if reshard else last_strategy"
                                                   : "strategy");
    put_optimizer(out, options);
}

static void put_fsdp2(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    fputs("    options = {}\n", out);
    put_precision(out, options, "mp_policy", "MixedPrecisionPolicy");
    if (options->offload)
        fputs("    options[\"offload_policy\"] = CPUOffloadPolicy()\n", out);
    if (options->group > 0)
        put_mesh(out, options, "mesh");
    put_contiguous(out, report->model);
    put_vectors(out, report->model);
    put_loop(out, report);
    fprintf(out,
            "            fully_shard(module, reshard_after_forward=%s, **options)\n"
            "    fully_shard(model, **options)\n",
            reshard_of(options));
    put_prefetch(out, report);
    put_optimizer(out, options);
}

static const struct strategy_code strategy_codes[SHARD_STRATEGIES] = {
    [SHARD_DDP] = {"from torch.nn.parallel import DistributedDataParallel\n", false, put_ddp},
    [SHARD_ZERO] = {"from torch.distributed.optim import ZeroRedundancyOptimizer\n"
                    "from torch.nn.parallel import DistributedDataParallel\n",
                    false, put_zero},
    [SHARD_OSS] = {"from fairscale.optim.oss import OSS\n"
                   "from torch.nn.parallel import DistributedDataParallel\n",
                   false, put_oss},
    [SHARD_SDP] = {"from fairscale.nn.data_parallel import ShardedDataParallel\n"
                   "from fairscale.optim.oss import OSS\n",
                   false, put_sdp},
    [SHARD_FSDP] = {"# FairScale 0.4.13: this class works with PyTorch 2.8, but not with 2.15.\n"
                    "from fairscale.nn.data_parallel import FullyShardedDataParallel\n",
                    true, put_fsdp},
    [SHARD_FSDP1] = {"from torch.distributed.device_mesh import init_device_mesh\n"
                     "from torch.distributed.fsdp import BackwardPrefetch, CPUOffload\n"
                     "from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision\n"
                     "from torch.distributed.fsdp import ShardingStrategy\n",
                     true, put_fsdp1},
    [SHARD_FSDP2] = {"from torch.distributed.device_mesh import init_device_mesh\n"
                     "from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, "
                     "fully_shard\n",
                     true, put_fsdp2},
};

const struct strategy_code *strategy_code_of(const struct shard_report *report)
{
    static const struct strategy_code plain = {"", false, put_plain};
    return shard_is_plain(report->code, report->options->world) ? &plain
                                                                : &strategy_codes[report->code];
}
