"""Sharpness-aware minimization: the gradients of a first pass move the weights, and those of a second update them.

sharpness: --gpu 4GiB --steps 0 -- sharpness.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens

RADIUS = 0.05

model = Decoder(layers=2).cuda()
truth.model(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
truth.optimizer(optimizer)


def compute_gradients(batch):
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")


@torch.no_grad()
def climb():
    """Moves the weights uphill and drops the gradients. Returns the weights as they were."""
    weights = list(model.parameters())
    norm = torch.stack([weight.grad.norm() for weight in weights]).norm()
    before = [weight.clone() for weight in weights]
    truth.note("optimizer_state|parameter", before)
    for weight in weights:
        weight.add_(weight.grad * (RADIUS / (norm + 1e-12)))
    optimizer.zero_grad()
    return before


for _ in range(4):
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    compute_gradients(batch)
    before = climb()
    compute_gradients(batch)
    with torch.no_grad():
        for weight, old in zip(model.parameters(), before):
            weight.copy_(old)
    del before
    optimizer.step()
    optimizer.zero_grad()
