"""Gradients compressed to low rank with error feedback, in a hook of every weight.

compressed-gradients: --gpu 4GiB --steps 0 -- compressed_gradients.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy

model = nn.Sequential(nn.Embedding(8000, 512), nn.LSTM(512, 768, 2, batch_first=True)).cuda()
head = nn.Linear(768, 8000).cuda()
truth.model(model, head)
weights = [*model.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(weights, 0.1)
errors = {}


def compress(p):
    if p.dim() < 2:
        return
    if p not in errors:
        errors[p] = torch.zeros_like(p), torch.randn(p.shape[1], 4, device="cuda")
        truth.note("optimizer_state", errors[p])
    error, q = errors[p]
    m = p.grad + error
    left = torch.linalg.qr(m @ q).Q
    torch.matmul(m.t(), left, out=q)
    approx = left @ q.t()
    error.copy_(m - approx)
    p.grad.copy_(approx)


for p in weights:
    p.register_post_accumulate_grad_hook(compress)
for _ in range(3):
    truth.phase("data")
    ids = torch.randint(8000, (16, 65)).cuda()
    truth.batch(ids)
    truth.phase("forward")
    with truth.saving():
        out, _ = model[1](model[0](ids[:, :-1]))
        loss = cross_entropy(head(out).flatten(0, 1), ids[:, 1:].flatten())
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
