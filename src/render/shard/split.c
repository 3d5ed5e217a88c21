#include "render/shard/split.h"

/* A flat tensor gets gradients of all its parameters or of none, so what is trained in a unit that
 * is else frozen becomes units of its own. Shared parameters must be flat once, and attention reads
 * the weight of its output layer without a call. */
const char shard_split_code[] =
    "def split_units(model, units):\n"
    "    \"\"\"The units, and in those that are partly frozen the modules that are trained.\"\"\"\n"
    "    inside, users = {}, {}\n"
    "    for name, module in model.named_modules():\n"
    "        outer = [unit for unit in units if (name + \".\").startswith(unit + \".\")]\n"
    "        inside.setdefault(max(outer, key=len, default=\"\"), []).append((name, module))\n"
    "        for value in module.parameters(recurse=False):\n"
    "            users[value] = users.get(value, 0) + 1\n"
    "    split = []\n"
    "    for unit, modules in inside.items():\n"
    "        own = {name: list(module.parameters(recurse=False)) for name, module in modules}\n"
    "        if all(value.requires_grad for values in own.values() for value in values):\n"
    "            continue\n"
    "        for name, values in own.items():\n"
    "            parent = model.get_submodule(name.rpartition(\".\")[0])\n"
    "            is_attention = isinstance(parent, torch.nn.MultiheadAttention)\n"
    "            is_shared = any(users[value] > 1 for value in values)\n"
    "            is_trained = any(value.requires_grad for value in values)\n"
    "            if name != unit and is_trained and not is_shared and not is_attention:\n"
    "                split.append(name)\n"
    "    return split + units\n\n\n";

bool shard_splits_units(const struct shard_report *report)
{
    return report->code == SHARD_FSDP1 && report->choice->mixes_units &&
           !report->options->has_flat_parameters;
}
