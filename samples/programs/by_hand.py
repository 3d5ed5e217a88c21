"""Three optimizers written by hand, without torch.optim: state in dicts and lists of one's own.

lion: --gpu 4GiB --steps 0 -- by_hand.py lion
adafactor: --gpu 4GiB --steps 0 -- by_hand.py adafactor
muon: --gpu 4GiB --steps 0 -- by_hand.py muon
"""
import sys

import torch
import truth
from blocks import Decoder, next_token_loss, tokens

model = Decoder(layers=2).cuda()
state = {}
truth.model(model)
truth.watch("optimizer_state", lambda: state)


def lion(weight, grad, rate=1e-4):
    momentum = state.setdefault(weight, torch.zeros_like(weight))
    update = momentum.mul(0.9).add_(grad, alpha=0.1).sign_()
    weight.add_(update, alpha=-rate)
    momentum.mul_(0.99).add_(grad, alpha=0.01)


def adafactor(weight, grad, rate=1e-3):
    square = grad * grad + 1e-30
    if weight.dim() < 2:
        mean = state.setdefault(weight, torch.zeros_like(weight)).lerp_(square, 0.1)
    else:
        if weight not in state:
            state[weight] = square.new_zeros(square.shape[0]), square.new_zeros(square.shape[1])
        rows, columns = state[weight]
        rows.lerp_(square.mean(1), 0.1)
        columns.lerp_(square.mean(0), 0.1)
        mean = torch.outer(rows / rows.mean(), columns)
    weight.sub_(grad * mean.rsqrt(), alpha=rate)


def muon(weight, grad, rate=2e-2):
    momentum = state.setdefault(weight, torch.zeros_like(weight)).lerp_(grad, 0.05)
    update = grad.lerp(momentum, 0.95)
    if weight.dim() == 2:
        update = update.bfloat16() / (update.norm() + 1e-7)
        for _ in range(3):  # Newton-Schulz: towards the nearest orthogonal matrix
            gram = update @ update.T
            update = 3.4445 * update + (-4.7750 * gram + 2.0315 * gram @ gram) @ update
    weight.add_(update.to(weight.dtype), alpha=-rate)


step = {"lion": lion, "adafactor": adafactor, "muon": muon}[sys.argv[1]]
for _ in range(4):
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():
        loss = next_token_loss(model(batch), batch)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    with torch.no_grad():
        for weight in model.parameters():
            step(weight, weight.grad)
            weight.grad = None
