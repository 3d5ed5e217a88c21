#include "render/shard/spelling.h"

#include <string.h>

/* torch.optim.Muon takes only matrices. The parts share their state with the whole, so that
 * wrappers that save, shard or move the state of an optimizer see it. */
static const char muon[] =
    "class MuonAndAdamW(torch.optim.Optimizer):\n"
    "    \"\"\"Muon for matrices, AdamW for other parameters.\"\"\"\n"
    "    def __init__(self, parameters, lr):\n"
    "        super().__init__(parameters, dict(lr=lr))\n"
    "        everything = [p for group in self.param_groups for p in group[\"params\"]]\n"
    "        matrices = [p for p in everything if p.ndim == 2]\n"
    "        others = [p for p in everything if p.ndim != 2]\n"
    "        self.parts = [torch.optim.Muon(matrices, lr=lr)] if matrices else []\n"
    "        self.parts += [torch.optim.AdamW(others, lr=lr)] if others else []\n"
    "        for part in self.parts:\n"
    "            part.state = self.state\n"
    "\n"
    "    def step(self, closure=None):\n"
    "        for part in self.parts:\n"
    "            part.param_groups[0][\"lr\"] = self.param_groups[0][\"lr\"]\n"
    "            part.step()\n"
    "\n\n";

static const struct spelling spellings[] = {
    {"adam", NULL, "torch.optim.Adam", "lr=lr", NULL, true},
    {"adamw", NULL, "torch.optim.AdamW", "lr=lr", NULL, true},
    {"sgd", NULL, "torch.optim.SGD", "lr=lr", NULL, true},
    {"momentum", NULL, "torch.optim.SGD", "lr=lr, momentum=0.9", NULL, true},
    {"adam8bit", "bitsandbytes", "bitsandbytes.optim.Adam8bit", "lr=lr", NULL, false},
    {"adafactor", NULL, "torch.optim.Adafactor", "lr=lr", NULL, false},
    {"lion", "lion_pytorch", "lion_pytorch.Lion", "lr=lr", NULL, false},
    {"muon", NULL, "MuonAndAdamW", "lr=lr", muon, false},
    {NULL, NULL, NULL, NULL, NULL, false},
};

const struct spelling *spelling_of(const struct shard_options *options)
{
    const struct spelling *spelling = spellings;
    while (spelling[1].name && strcmp(spelling->name, options->optimizer->name) != 0)
        spelling++;
    return spelling;
}

const char *spelling_fused(const struct shard_options *options)
{
    return options->not_foreach && spelling_of(options)->has_fused ? ", fused=True" : "";
}
