"""Sequences of growing length, in segments that cannot grow and in those that can.

segments-fixed: --gpu 4GiB --steps 6 -- expandable.py
segments-expandable: --gpu 4GiB --steps 6 --alloc-conf expandable_segments:True -- expandable.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
for length in (192, 256, 320, 384, 448, 512):
    truth.phase("data")
    batch = tokens(length=length)
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
