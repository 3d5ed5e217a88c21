"""Trains a decoder whose parameters FSDP2 shards over four ranks; this is one of them.

fsdp2: --gpu 4GiB --world 4 --steps 4 -- fsdp2.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens
from torch import distributed
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor


def note_gathered(module, ignored):
    """Parameters that FSDP2 has gathered from all ranks are plain tensors."""
    truth.note("communication", [one for one in module.parameters() if not isinstance(one, DTensor)])


distributed.init_process_group("nccl")
model = Decoder(width=512).cuda()
for module in (*model.blocks, model):
    fully_shard(module)
    module.register_forward_pre_hook(note_gathered)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
