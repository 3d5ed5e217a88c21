"""Each block is computed again in the backward pass, by both kinds of torch.utils.checkpoint.

checkpointed: --gpu 4GiB --steps 4 -- checkpointed.py
checkpointed-reentrant: --gpu 4GiB --steps 4 -- checkpointed.py --reentrant
"""
import sys

import torch
import truth
from blocks import Decoder, next_token_loss, tokens
from torch.utils.checkpoint import checkpoint

reentrant = "--reentrant" in sys.argv


class Checkpointed(Decoder):
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=reentrant)
        return self.head(self.norm(x))


model = Checkpointed(layers=4).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
