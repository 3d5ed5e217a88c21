#include <inttypes.h>

#include "render/core/escape.h"
#include "render/shard/shard.h"
#include "render/shard/spelling.h"
#include "render/suggest/parts.h"

static const char *truth(bool is)
{
    return is ? "True" : "False";
}

static const char *type_of(int64_t size)
{
    return size == 2 ? "torch.bfloat16" : size == 8 ? "torch.float64" : "torch.float32";
}

static bool put_name(FILE *out, struct text name)
{
    struct buffer quoted = BUFFER_INIT;
    escape_python(&quoted, name.bytes, name.size);
    bool ok = !quoted.failed;
    if (ok)
        fputs(quoted.bytes, out);
    buffer_release(&quoted);
    return ok;
}

/* Without module names: snapshots tell units by the loops that run them, of nested loops by the
 * inner ones. */
static const char find_units[] =
    "LISTS = (torch.nn.Sequential, torch.nn.ModuleList)\n\n\n"
    "def find_units(model):\n"
    "    \"\"\"The modules of each Sequential or ModuleList; not those inside of them.\"\"\"\n"
    "    units = []\n"
    "    for name, module in model.named_modules():\n"
    "        parent = model.get_submodule(name.rpartition(\".\")[0])\n"
    "        is_listed = name != \"\" and isinstance(parent, LISTS) and not isinstance(module, "
    "LISTS)\n"
    "        is_inside = any(name.startswith(unit + \".\") for unit in units)\n"
    "        if is_listed and not is_inside and any(True for _ in module.parameters()):\n"
    "            units.append(name)\n"
    "    return units\n\n\n";

static bool put_units(FILE *out, const struct shard_report *report)
{
    const struct shard_model *model = report->model;
    bool ok = true;
    fputs("UNITS = [  # modules that are gathered one after another\n", out);
    for (size_t i = 1; ok && i < model->unit_count; i++) {
        fputs("    ", out);
        ok = put_name(out, model->units[i].name);
        fputs(",\n", out);
    }
    fputs("]\n\n", out);
    return ok;
}

static bool put_checkpoints(FILE *out, const struct shard_report *report)
{
    bool ok = true;
    fputs("CHECKPOINTS = [  # modules that run again in the backward pass\n", out);
    for (size_t i = 0; ok && i < report->checkpoint_count; i++) {
        fputs("    ", out);
        ok = put_name(out, report->checkpoints[i]);
        fputs(",\n", out);
    }
    fputs("]\n\n", out);
    return ok;
}

static bool has_checkpoint_names(const struct shard_report *report)
{
    return report->is_checkpointed && report->checkpoint_count > 0;
}

/* The lists of modules, or the function that finds them. */
static bool put_modules(FILE *out, const struct shard_report *report, bool has_units)
{
    bool ok = true;
    if (!report->is_checkpointed) /* its code ends with empty lines */
        fputc('\n', out);
    if (has_units && report->has_modules)
        ok = put_units(out, report);
    if (has_checkpoint_names(report))
        ok = ok && put_checkpoints(out, report);
    if (!report->has_modules && (has_units || report->is_checkpointed)) {
        if (!report->is_checkpointed)
            fputc('\n', out);
        fputs(find_units, out);
    } else {
        fputc('\n', out);
    }
    return ok;
}

/* Forward is replaced, so that names and hooks stay: the hooks that gather a unit run around its
 * checkpoint. */
static void put_wrapping(FILE *out, const struct shard_report *report)
{
    fprintf(out, "    modules = [model.get_submodule(name) for name in %s]\n",
            has_checkpoint_names(report) ? "CHECKPOINTS" : "find_units(model)");
    fputs("    prepare(model, modules)\n"
          "    for module in modules:\n"
          "        module.forward = checkpointed(module.forward)\n",
          out);
}

/* Inner modules come first. */
static void put_loop(FILE *out, const struct shard_report *report)
{
    bool has_last = report->options->reshard == SHARD_RESHARD_LAST;
    fprintf(out, "    units = %s\n", report->has_modules ? "UNITS" : "find_units(model)");
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

static bool put_ddp(FILE *out, const struct shard_report *report)
{
    fprintf(out,
            "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()],\n"
            "                                    gradient_as_bucket_view=%s)\n",
            truth(report->options->bucket_view));
    put_optimizer(out, report->options);
    return true;
}

static bool put_zero(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(out,
            "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()],\n"
            "                                    gradient_as_bucket_view=%s)\n"
            "    optimizer = ZeroRedundancyOptimizer(model.parameters(), %s, %s%s)\n",
            truth(report->options->bucket_view), spelling->class_name, spelling->arguments,
            spelling_fused(report->options));
    return true;
}

static bool put_oss(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(
        out,
        "    optimizer = OSS(model.parameters(), optim=%s, broadcast_fp16=%s, %s%s)\n"
        "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])\n",
        spelling->class_name, truth(report->options->half_broadcast), spelling->arguments,
        spelling_fused(report->options));
    return true;
}

static bool put_sdp(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(out,
            "    optimizer = OSS(model.parameters(), optim=%s, broadcast_fp16=%s, %s%s)\n"
            "    model = ShardedDataParallel(model, optimizer, reduce_buffer_size=%" PRId64 ")\n",
            spelling->class_name, truth(report->options->half_broadcast), spelling->arguments,
            spelling_fused(report->options), report->options->reduce_buffer);
    return true;
}

static bool put_fsdp(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    if (options->offload) /* it moves only buffers to the GPU, and gathers parameters there */
        fputs("    model = model.cpu()\n", out);
    fprintf(out,
            "    options = dict(mixed_precision=%s, fp32_reduce_scatter=%s, "
            "move_params_to_cpu=%s)\n",
            truth(options->compute_size == 2), truth(options->reduce_size == 4),
            truth(options->offload));
    put_loop(out, report);
    fprintf(out,
            "            parent, _, child = name.rpartition(\".\")\n"
            "            unit = FullyShardedDataParallel(module, reshard_after_forward=%s, "
            "**options)\n"
            "            setattr(model.get_submodule(parent), child, unit)\n"
            "    model = FullyShardedDataParallel(model, **options)\n",
            reshard_of(options));
    put_optimizer(out, options);
    return true;
}

/* Units are in the order of the forward pass. */
static void put_prefetch(FILE *out, const struct shard_options *options)
{
    if (options->prefetch == 1 && options->forward_prefetch == 0)
        return;
    fputs("    modules = [model.get_submodule(name) for name in units]\n"
          "    for i, module in enumerate(modules):\n",
          out);
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

static bool put_fsdp2(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    bool mixed = options->compute_size > 0 || options->reduce_size > 0;
    fputs("    options = {}\n", out);
    if (mixed)
        fprintf(out,
                "    options[\"mp_policy\"] = MixedPrecisionPolicy(param_dtype=%s, "
                "reduce_dtype=%s)\n",
                options->compute_size > 0 ? type_of(options->compute_size) : "None",
                options->reduce_size > 0 ? type_of(options->reduce_size) : "None");
    if (options->offload)
        fputs("    options[\"offload_policy\"] = CPUOffloadPolicy()\n", out);
    if (options->group > 0)
        fprintf(
            out,
            "    options[\"mesh\"] = init_device_mesh(\"cuda\", (%" PRId64 ", %" PRId64 "),\n"
            "                                       mesh_dim_names=(\"replicate\", \"shard\"))\n",
            options->world / options->group, options->group);
    put_loop(out, report);
    fprintf(out,
            "            fully_shard(module, reshard_after_forward=%s, **options)\n"
            "    fully_shard(model, **options)\n",
            reshard_of(options));
    put_prefetch(out, options);
    put_optimizer(out, options);
    return true;
}

struct writer {
    const char *imports;
    bool has_units;
    bool (*put)(FILE *out, const struct shard_report *report);
};

static const struct writer writers[SHARD_STRATEGIES] = {
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
    [SHARD_FSDP2] = {"from torch.distributed.device_mesh import init_device_mesh\n"
                     "from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, "
                     "fully_shard\n",
                     true, put_fsdp2},
};

static void put_imports(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    bool is_sharded = report->code == SHARD_FSDP || report->code == SHARD_FSDP2;
    if (report->options->accumulation > 1 && !is_sharded)
        fputs("import contextlib\n\n", out);
    if (!report->is_checkpointed)
        fputs("import torch\n", out);
    if (spelling->package)
        fprintf(out, "import %s\n", spelling->package);
    fputs(writers[report->code].imports, out);
    if (report->is_checkpointed) /* begins with imports, too */
        fwrite(suggest_every_code, 1, suggest_every_code_size, out);
}

/* Replicas exchange gradients in the last pass only; FSDP reduces them in each. */
static void put_accumulation(FILE *out, const struct shard_report *report)
{
    bool is_sharded = report->code == SHARD_FSDP || report->code == SHARD_FSDP2;
    fprintf(out,
            "\n\nPASSES = %" PRId64 "  # backward passes for each step of the optimizer\n\n\n"
            "def train_step(model, optimizer, batches, loss_of):\n"
            "    \"\"\"One step: loss_of(model, batch) of PASSES batches.\"\"\"\n"
            "    for i in range(PASSES):\n",
            report->options->accumulation);
    if (is_sharded)
        fputs("        (loss_of(model, batches[i]) / PASSES).backward()\n", out);
    else
        fputs("        is_last = i + 1 == PASSES\n"
              "        with contextlib.nullcontext() if is_last else model.no_sync():\n"
              "            (loss_of(model, batches[i]) / PASSES).backward()\n",
              out);
    fprintf(out, "    optimizer.step()\n    optimizer.zero_grad(%s)\n",
            report->options->keeps_gradients ? "set_to_none=False" : "");
}

bool shard_python(FILE *out, const struct shard_report *report)
{
    const struct writer *writer = &writers[report->code];
    const char *definition = spelling_of(report->options)->definition;
    put_imports(out, report);
    bool ok = put_modules(out, report, writer->has_units);
    if (definition)
        fputs(definition, out);
    fputs("def shard(model, lr):\n"
          "    \"\"\"The model, which must be on this rank's GPU, and its optimizer for "
          "training.\"\"\"\n",
          out);
    if (report->is_checkpointed && (has_checkpoint_names(report) || !report->has_modules))
        put_wrapping(out, report);
    ok = ok && writer->put(out, report);
    fputs("    return model, optimizer\n", out);
    if (report->options->accumulation > 1)
        put_accumulation(out, report);
    return ok;
}
