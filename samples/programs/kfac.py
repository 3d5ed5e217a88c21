"""K-FAC by hand: hooks average the factors of each layer and its bias, whose inverses every second step renews.

kfac: --gpu 4GiB --steps 0 -- kfac.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy


class KFAC(torch.optim.Optimizer):
    def __init__(self, model, lr=0.01, decay=0.95, damping=1e-2, every=2):
        super().__init__(model.parameters(), {"lr": lr})
        self.layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
        self.decay, self.damping, self.every, self.steps = decay, damping, every, 0
        self.a, self.g, self.ia, self.ig = {}, {}, {}, {}
        for layer in self.layers:
            layer.register_forward_pre_hook(self.save_input)
            layer.register_full_backward_hook(self.save_grad)

    def average(self, factors, layer, new):
        if layer in factors:
            factors[layer].mul_(self.decay).add_(new, alpha=1 - self.decay)
        else:
            factors[layer] = new

    @torch.no_grad()
    def save_input(self, layer, inputs):
        x = inputs[0]
        x = torch.cat([x, x.new_ones(x.shape[0], 1)], 1)
        self.average(self.a, layer, x.t() @ (x / x.shape[0]))

    @torch.no_grad()
    def save_grad(self, layer, _, outputs):
        g = outputs[0]
        self.average(self.g, layer, g.t() @ (g * g.shape[0]))

    def inverse(self, factor):
        damped = factor + self.damping * torch.eye(factor.shape[0], device=factor.device)
        return torch.cholesky_inverse(torch.linalg.cholesky_ex(damped)[0])

    @torch.no_grad()
    def step(self):
        for layer in self.layers:
            if self.steps % self.every == 0:
                self.ia[layer], self.ig[layer] = self.inverse(self.a[layer]), self.inverse(self.g[layer])
            grad = torch.cat([layer.weight.grad, layer.bias.grad[:, None]], 1)
            update = self.ig[layer] @ grad @ self.ia[layer]
            layer.weight.grad.copy_(update[:, :-1])
            layer.bias.grad.copy_(update[:, -1])
            for p in (layer.weight, layer.bias):
                buf = self.state[p].setdefault("momentum", torch.zeros_like(p))
                buf.mul_(0.9).add_(p.grad)
                p.add_(buf, alpha=-self.param_groups[0]["lr"])
        self.steps += 1


model = nn.Sequential(nn.Flatten(), nn.Linear(784, 1000), nn.ReLU(), nn.Linear(1000, 500), nn.ReLU(),
                      nn.Linear(500, 250), nn.ReLU(), nn.Linear(250, 10)).cuda()
optimizer = KFAC(model)
truth.model(model)
truth.optimizer(optimizer)
truth.watch("optimizer_state", lambda: [optimizer.a, optimizer.g, optimizer.ia, optimizer.ig])
for _ in range(6):
    truth.phase("data")
    x, y = torch.rand(512, 1, 28, 28).cuda(), torch.randint(10, (512,)).cuda()
    truth.batch(x, y)
    truth.phase("forward")
    with truth.saving():
        loss = cross_entropy(model(x), y)
    truth.phase("backward")
    optimizer.zero_grad()
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
