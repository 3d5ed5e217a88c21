"""A decoder through torch.compile: graphs and buffers are the compiler's.

compiled: --gpu 4GiB --steps 4 -- compiled.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
compiled = torch.compile(model)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    loss = next_token_loss(compiled(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
