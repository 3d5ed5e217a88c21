"""The activations of the blocks wait for the backward pass in host memory, and come back one by one.

offload: --gpu 4GiB --steps 4 -- offload.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens
from torch.autograd.graph import save_on_cpu

model = Decoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with save_on_cpu(pin_memory=True):
        logits = model(batch)
    loss = next_token_loss(logits, batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
