"""A leak: the hidden states of every batch are kept, detached, to be looked at later.

leak-outputs: --gpu 4GiB --steps 6 -- leak_outputs.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
seen = {}
for step in range(6):
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        logits = model(batch)
        loss = next_token_loss(logits, batch)
        seen[step] = logits.detach()
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
