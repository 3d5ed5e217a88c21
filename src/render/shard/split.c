#include "render/shard/split.h"

/* A flat tensor gets gradients of all its parameters or of none. */
static const char flat_kind[] =
    "def kind_of(value):\n"
    "    \"\"\"What the parameters of a unit must have in common.\"\"\"\n"
    "    return value.dtype, value.requires_grad\n\n\n";

static const char tensor_kind[] =
    "def kind_of(value):\n"
    "    \"\"\"What the trained parameters of a unit must have in common.\"\"\"\n"
    "    return value.dtype if value.requires_grad else None\n\n\n";

/* A unit keeps the kind of what cannot leave it: parameters of its own module, and shared ones,
 * which must be in one unit. In fsdp1, frozen ones beside trained ones would be parts of a flat
 * tensor that needs a gradient, and all that is computed from them would be kept for backward.
 *
 * Attention reads the weight of its output layer without a call. */
static const char split_code[] =
    "def leaving(model, units):\n"
    "    \"\"\"Modules in the units with parameters of other kinds than what stays there.\"\"\"\n"
    "    inside, users, names = {}, {}, []\n"
    "    for name, module in model.named_modules():\n"
    "        outer = [unit for unit in units if (name + \".\").startswith(unit + \".\")]\n"
    "        inside.setdefault(max(outer, key=len, default=\"\"), []).append((name, module))\n"
    "        for value in module.parameters(recurse=False):\n"
    "            users[value] = users.get(value, 0) + 1\n"
    "    for unit, modules in inside.items():\n"
    "        own = {name: set(module.parameters(recurse=False)) for name, module in modules}\n"
    "        values = set().union(*own.values())\n"
    "        staying = {value for value in values if users[value] > 1 or value in own.get(unit, "
    "())}\n"
    "        sizes = {None: 0}\n"
    "        for value in {value for value in staying if kind_of(value)} or values:\n"
    "            sizes[kind_of(value)] = sizes.get(kind_of(value), 0) + value.numel()\n"
    "        most = max(sizes, key=lambda kind: sizes[kind] if kind else -1)\n"
    "        for name, values in own.items():\n"
    "            parent = model.get_submodule(name.rpartition(\".\")[0])\n"
    "            is_attention = isinstance(parent, torch.nn.MultiheadAttention)\n"
    "            is_shared = any(users[value] > 1 for value in values)\n"
    "            is_other = any(kind_of(value) not in (most, None) for value in values)\n"
    "            if name != unit and is_other and not is_shared and not is_attention:\n"
    "                names.append(name)\n"
    "    return names\n\n\n"
    "def split_units(model, units):\n"
    "    \"\"\"The units, and modules that leave them; those take along what they contain.\"\"\"\n"
    "    more = leaving(model, units)\n"
    "    return split_units(model, more + units) if more else units\n\n\n";

bool shard_splits_units(const struct shard_report *report)
{
    return report->choice->divides[report->code];
}

void shard_put_split(FILE *out, const struct shard_report *report)
{
    fputs(report->code == SHARD_FSDP1 ? flat_kind : tensor_kind, out);
    fputs(split_code, out);
}
