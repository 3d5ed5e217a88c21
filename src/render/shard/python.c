#include <inttypes.h>

#include "render/core/escape.h"
#include "render/shard/shard.h"
#include "render/shard/spelling.h"
#include "render/shard/split.h"
#include "render/shard/strategy_code.h"
#include "render/suggest/parts.h"

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
 * inner ones, unless these only run layers. */
static const char find_units[] =
    "LISTS = (torch.nn.Sequential, torch.nn.ModuleList)\n\n\n"
    "def is_called(module):\n"
    "    \"\"\"Not a mere container, such as a ModuleList, whose modules the program calls.\"\"\"\n"
    "    return getattr(module.forward, \"__func__\", None) is not torch.nn.Module.forward\n\n\n"
    "def is_block(module):\n"
    "    \"\"\"Not a list; or a Sequential of nothing but layers.\"\"\"\n"
    "    is_layers = all(next(child.children(), None) is None for child in module.children())\n"
    "    return is_called(module) and (is_layers or not isinstance(module, LISTS))\n\n\n"
    "def is_listed(model, name):\n"
    "    \"\"\"In a list, or in a container in one.\"\"\"\n"
    "    around = name.rpartition(\".\")[0]\n"
    "    parent = model.get_submodule(around)\n"
    "    return name != \"\" and (isinstance(parent, LISTS) or (not is_called(parent) and "
    "is_listed(model, around)))\n\n\n"
    "def is_alone(model, module):\n"
    "    \"\"\"No module beside it has its parameters, which can be in one unit only.\"\"\"\n"
    "    inside = set(module.modules())\n"
    "    beside = {value for other in model.modules() if other not in inside\n"
    "              for value in other.parameters(recurse=False)}\n"
    "    return beside.isdisjoint(module.parameters())\n\n\n"
    "def find_units(model):\n"
    "    \"\"\"The blocks of each Sequential or ModuleList; not those inside of them.\"\"\"\n"
    "    units = []\n"
    "    for name, module in model.named_modules():\n"
    "        is_inside = any(name.startswith(unit + \".\") for unit in units)\n"
    "        is_unit = is_block(module) and is_listed(model, name) and not is_inside\n"
    "        has_any = any(True for _ in module.parameters())\n"
    "        if is_unit and has_any and is_alone(model, module):\n"
    "            units.append(name)\n"
    "    return units\n\n\n";

/* A module that a list has several times has one name only. */
static const char replace[] = "def replace(model, module, unit):\n"
                              "    \"\"\"Puts the unit wherever the model has the module.\"\"\"\n"
                              "    for parent in list(model.modules()):\n"
                              "        for name, child in list(parent._modules.items()):\n"
                              "            if child is module:\n"
                              "                setattr(parent, name, unit)\n\n\n";

/* A unit may return several tensors. FairScale then gathers it before backward only for those that
 * have its hook. */
static const char unit_class[] =
    "class Unit(FullyShardedDataParallel):\n"
    "    \"\"\"FairScale sets no hook on an output whose id() it has seen, but Python gives the id "
    "of a "
    "tensor\n"
    "    that is gone to another one.\"\"\"\n"
    "    def _register_pre_backward_hooks(self, outputs):\n"
    "        if not self._is_root:\n"
    "            self._output_pre_backward_hook_registered.clear()\n"
    "        return super()._register_pre_backward_hooks(outputs)\n\n\n";

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
    if (shard_splits_units(report))
        shard_put_split(out, report);
    if (report->code == SHARD_FSDP)
        fputs(unit_class, out);
    if (has_units && report->code != SHARD_FSDP2) /* which changes the module itself */
        fputs(replace, out);
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
          "        module.forward = Checkpointed(module.forward, [module], {})\n",
          out);
}

/* Replicas exchange gradients in the last pass only; FSDP reduces them in each, and one rank not
 * at all. */
static bool exchanges_once(const struct shard_report *report)
{
    return !shard_is_full(report->code) && !shard_is_plain(report->code, report->options->world);
}

static void put_imports(FILE *out, const struct shard_report *report)
{
    const struct spelling *spelling = spelling_of(report->options);
    if (report->options->accumulation > 1 && exchanges_once(report))
        fputs("import contextlib\n\n", out);
    if (!report->is_checkpointed)
        fputs("import torch\n", out);
    if (spelling->package)
        fprintf(out, "import %s\n", spelling->package);
    fputs(strategy_code_of(report)->imports, out);
    if (report->is_checkpointed) { /* begins with imports, too */
        fwrite(suggest_every_code, 1, suggest_every_code_size, out);
        fwrite(suggest_modules_code, 1, suggest_modules_code_size, out);
    }
}

static void put_accumulation(FILE *out, const struct shard_report *report)
{
    fprintf(out,
            "\n\nPASSES = %" PRId64 "  # backward passes for each step of the optimizer\n\n\n"
            "def train_step(model, optimizer, batches, loss_of):\n"
            "    \"\"\"One step: loss_of(model, batch) of PASSES batches.\"\"\"\n"
            "    for i in range(PASSES):\n",
            report->options->accumulation);
    if (!exchanges_once(report))
        fputs("        (loss_of(model, batches[i]) / PASSES).backward()\n", out);
    else
        fputs("        is_last = i + 1 == PASSES\n"
              "        with contextlib.nullcontext() if is_last else model.no_sync():\n"
              "            (loss_of(model, batches[i]) / PASSES).backward()\n",
              out);
    fprintf(out, "    optimizer.step()\n    optimizer.zero_grad(%s)\n",
            report->options->keeps_gradients ? "set_to_none=False" : "");
}

/* What the prediction assumes of the optimizer, and torch.optim does not have. */
static void put_wanted(FILE *out, const struct shard_options *options)
{
    bool has_state = options->custom_state >= 0, has_gradients = options->has_main_gradients;
    if (!options->has_master && !has_state && !has_gradients)
        return;
    fprintf(out, "    # Replace %s by an optimizer that has", spelling_of(options)->class_name);
    if (has_state)
        fprintf(out, " %" PRId64 " bytes of state for each parameter", options->custom_state);
    if (options->has_master)
        fprintf(out, "%s a float32 copy of the parameters",
                has_state ? has_gradients ? "," : " and" : "");
    if (has_gradients)
        fprintf(out, "%s float32 gradients that it keeps",
                has_state || options->has_master ? " and" : "");
    fputs(".\n", out);
}

bool shard_python(FILE *out, const struct shard_report *report)
{
    const struct strategy_code *code = strategy_code_of(report);
    const char *definition = spelling_of(report->options)->definition;
    put_imports(out, report);
    bool ok = put_modules(out, report, code->has_units);
    if (definition)
        fputs(definition, out);
    fputs("def shard(model, lr):\n"
          "    \"\"\"The model, which must be on this rank's GPU, and its optimizer for "
          "training.\"\"\"\n",
          out);
    put_wanted(out, report->options);
    if (report->options->parameter_type)
        fprintf(out, "    model = model.to(torch.%s)\n", report->options->parameter_type);
    if (report->is_checkpointed && (has_checkpoint_names(report) || !report->has_modules))
        put_wrapping(out, report);
    if (ok)
        code->put(out, report);
    fputs("    return model, optimizer\n", out);
    if (report->options->accumulation > 1)
        put_accumulation(out, report);
    return ok;
}
