"""Trains a decoder with grouped-query attention and rotary positions, AdamW, and clipped gradients.

decoder: --gpu 4GiB --steps 4 -- decoder.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder().cuda()
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
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
