"""An exact Gaussian process: a kernel matrix and its Cholesky factor, Adam on three numbers, then predictions.

gaussian-process: --gpu 4GiB --steps 0 -- gaussian_process.py
"""
import torch
import truth

x, y = torch.randn(3000, 8).cuda(), torch.randn(3000).cuda()
truth.batch(x, y)
scale, length, noise = (torch.zeros((), device="cuda", requires_grad=True) for _ in range(3))
truth.parameters(scale, length, noise)
optimizer = torch.optim.Adam([scale, length, noise], 0.1)
truth.optimizer(optimizer)


def kernel(a, b):
    return scale.exp() * torch.exp(-0.5 * torch.cdist(a, b).pow(2) / length.exp() ** 2)


for step in range(5):
    truth.phase("forward")
    optimizer.zero_grad()
    with truth.saving():
        k = kernel(x, x) + noise.exp() * torch.eye(len(x), device="cuda")
        factor = torch.linalg.cholesky(k)
        alpha = torch.cholesky_solve(y[:, None], factor)
        loss = 0.5 * y @ alpha[:, 0] + factor.diagonal().log().sum()
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
truth.phase("eval")
with torch.no_grad():
    for _ in range(3):
        new = torch.randn(500, 8).cuda()
        truth.batch(new)
        mean = kernel(new, x) @ alpha
