"""A leak: the losses are kept for the log, and with each of them its graph. The backward pass belongs to another loss.

leak-losses: --gpu 4GiB --steps 6 -- leak_losses.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
truth.model(model)
truth.optimizer(optimizer)
validation_losses = []


def validate():
    batch = tokens(batch=2)
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        return next_token_loss(model(batch), batch)


while True:
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("data")
    validation_losses.append(validate())  # without .item()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
