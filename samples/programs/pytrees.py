"""Functional training as in JAX: parameters and Adam's moments are dicts that each step makes anew.

pytrees: --gpu 4GiB --steps 0 -- pytrees.py
"""
import torch
import truth
from blocks import Decoder, next_token_loss, tokens
from torch._functorch import eager_transforms
from torch.func import functional_call, grad_and_value
from torch.utils._pytree import tree_map

# torch.func refuses hooks on what is saved, which only note here.
eager_transforms.grad_and_value_impl = eager_transforms.grad_and_value_impl.__wrapped__
model = Decoder(layers=2).cuda()
params = {k: v.detach() for k, v in model.named_parameters()}
truth.note("parameter", params)
truth.model(model)
mu = tree_map(torch.zeros_like, params)
nu = tree_map(torch.zeros_like, params)
truth.note("optimizer_state", mu, nu)


def loss_of(params, batch):
    loss = next_token_loss(functional_call(model, params, (batch,)), batch)
    truth.phase("backward")
    return loss


def update(params, mu, nu, grads):
    mu = tree_map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
    nu = tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, nu, grads)
    params = tree_map(lambda p, m, v: p - 1e-3 * m / (v.sqrt() + 1e-8), params, mu, nu)
    truth.note("optimizer_state", mu, nu)
    truth.note("parameter", params)
    return params, mu, nu


for _ in range(4):
    truth.phase("data")
    batch = tokens()
    truth.batch(batch)
    truth.phase("forward")
    with truth.saving():  # the backward pass saves, too: torch.func records it to differentiate it again
        grads, loss = grad_and_value(loss_of)(params, batch)
    truth.note("gradient", grads)
    truth.phase("optimizer_step")
    params, mu, nu = update(params, mu, nu, grads)
    del grads
