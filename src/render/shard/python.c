#include <inttypes.h>
#include <string.h>

#include "render/core/escape.h"
#include "render/shard/shard.h"

/* The class of an optimizer, and its arguments. */
struct spelling {
    const char *name, *package, *class_name, *arguments;
};

static const struct spelling spellings[] = {
    {"adam", "torch", "torch.optim.Adam", "lr=lr"},
    {"adamw", "torch", "torch.optim.AdamW", "lr=lr"},
    {"sgd", "torch", "torch.optim.SGD", "lr=lr"},
    {"momentum", "torch", "torch.optim.SGD", "lr=lr, momentum=0.9"},
    {"adam8bit", "bitsandbytes", "bitsandbytes.optim.Adam8bit", "lr=lr"},
    {"adafactor", "torch", "torch.optim.Adafactor", "lr=lr"},
    {"lion", "lion_pytorch", "lion_pytorch.Lion", "lr=lr"},
    {"muon", "torch", "torch.optim.Muon", "lr=lr"},
    {NULL, NULL, NULL, NULL},
};

static const struct spelling *spelling_of(const struct shard_options *options)
{
    const struct spelling *spelling = spellings;
    while (spelling[1].name && strcmp(spelling->name, options->optimizer->name) != 0)
        spelling++;
    return spelling;
}

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

static bool put_units(FILE *out, const struct shard_model *model)
{
    bool ok = true;
    fputs("UNITS = {  # modules that are gathered one after another\n", out);
    for (size_t i = 1; ok && i < model->unit_count; i++) {
        if (model->units[i].name.size == 0) /* sizes by hand */
            continue;
        fputs("    ", out);
        ok = put_name(out, model->units[i].name);
        fputs(",\n", out);
    }
    fputs("}\n\n\n", out);
    return ok;
}

static void put_optimizer(FILE *out, const struct shard_options *options)
{
    const struct spelling *spelling = spelling_of(options);
    fprintf(out, "    optimizer = %s(model.parameters(), %s)\n", spelling->class_name,
            spelling->arguments);
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
            "    optimizer = ZeroRedundancyOptimizer(model.parameters(), %s, %s)\n",
            truth(report->options->bucket_view), spelling->class_name, spelling->arguments);
    return true;
}

static bool put_oss(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(
        out,
        "    optimizer = OSS(model.parameters(), optim=%s, broadcast_fp16=%s, %s)\n"
        "    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])\n",
        spelling->class_name, truth(report->options->half_broadcast), spelling->arguments);
    return true;
}

static bool put_sdp(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    fprintf(out,
            "    optimizer = OSS(model.parameters(), optim=%s, broadcast_fp16=%s, %s)\n"
            "    model = ShardedDataParallel(model, optimizer, reduce_buffer_size=%" PRId64 ")\n",
            spelling->class_name, truth(report->options->half_broadcast), spelling->arguments,
            report->options->reduce_buffer);
    return true;
}

static bool put_fsdp(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    fprintf(
        out,
        "    options = dict(mixed_precision=%s, fp32_reduce_scatter=%s, move_params_to_cpu=%s)\n"
        "    for name, module in reversed(list(model.named_modules())):\n"
        "        if name in UNITS:\n"
        "            parent, _, child = name.rpartition(\".\")\n"
        "            unit = FullyShardedDataParallel(module, reshard_after_forward=%s, **options)\n"
        "            setattr(model.get_submodule(parent), child, unit)\n"
        "    model = FullyShardedDataParallel(model, **options)\n",
        truth(options->compute_size == 2), truth(options->reduce_size == 4),
        truth(options->offload), truth(options->reshard != SHARD_KEEP));
    put_optimizer(out, options);
    return true;
}

static bool put_fsdp2(FILE *out, const struct shard_report *report)
{
    const struct shard_options *options = report->options;
    bool ok = true, mixed = options->compute_size > 0 || options->reduce_size > 0;
    fputs("    options = {}\n", out);
    if (mixed)
        fprintf(
            out,
            "    options[\"mp_policy\"] = MixedPrecisionPolicy(param_dtype=%s, reduce_dtype=%s)\n",
            options->compute_size > 0 ? type_of(options->compute_size) : "None",
            options->reduce_size > 0 ? type_of(options->reduce_size) : "None");
    if (options->offload)
        fputs("    options[\"offload_policy\"] = CPUOffloadPolicy()\n", out);
    if (options->group > 0)
        fprintf(out,
                "    options[\"mesh\"] = init_device_mesh(\"cuda\", (%" PRId64 ", %" PRId64 "))\n",
                options->world / options->group, options->group);
    fputs("    for name, module in reversed(list(model.named_modules())):\n"
          "        if name in UNITS:\n"
          "            fully_shard(module, reshard_after_forward=",
          out);
    if (options->reshard == SHARD_RESHARD_LAST) {
        fputs("name != ", out);
        ok = put_name(out, report->model->units[report->model->unit_count - 1].name);
    } else {
        fputs(truth(options->reshard != SHARD_KEEP), out);
    }
    fputs(", **options)\n"
          "    fully_shard(model, **options)\n",
          out);
    put_optimizer(out, options);
    return ok;
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
    [SHARD_FSDP] = {"from fairscale.nn.data_parallel import FullyShardedDataParallel\n", true,
                    put_fsdp},
    [SHARD_FSDP2] = {"from torch.distributed.device_mesh import init_device_mesh\n"
                     "from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, "
                     "fully_shard\n",
                     true, put_fsdp2},
};

bool shard_python(FILE *out, const struct shard_report *report)
{
    const struct writer *writer = &writers[report->code];
    const struct spelling *spelling = spelling_of(report->options);
    bool ok = true;
    fprintf(out, "import torch\n%s", strcmp(spelling->package, "torch") == 0 ? "" : "import ");
    if (strcmp(spelling->package, "torch") != 0)
        fprintf(out, "%s\n", spelling->package);
    fprintf(out, "%s\n", writer->imports);
    if (writer->has_units)
        ok = put_units(out, report->model);
    else
        fputc('\n', out);
    fputs("def shard(model, lr):\n"
          "    \"\"\"The model, which must be on this rank's GPU, and its optimizer for "
          "training.\"\"\"\n",
          out);
    ok = ok && writer->put(out, report);
    fputs("    return model, optimizer\n", out);
    return ok;
}
