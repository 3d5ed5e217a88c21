"""Optimizers that are not part of torch."""
import torch


class Lamb(torch.optim.Optimizer):
    """A layer-wise adaptive optimizer, written the way people write their own."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.update(p, p.grad, group)

    def update(self, p, grad, group):
        state = self.state[p]
        if not state:
            state["mean"] = torch.zeros_like(p)
            state["square"] = torch.zeros_like(p)
        mean, square = state["mean"], state["square"]
        beta1, beta2 = group["betas"]
        mean.mul_(beta1).add_(grad, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        direction = mean / (square.sqrt() + group["eps"])
        direction = direction + group["weight_decay"] * p
        trust = p.norm() / (direction.norm() + group["eps"])
        p.sub_(direction * (trust.clamp(max=10.0) * group["lr"]))


def momentum_by_hand(parameters, velocities, lr=0.01, momentum=0.9):
    """No optimizer class at all: tensors in a dict, updated in a loop."""
    with torch.no_grad():
        for index, p in enumerate(parameters):
            if index not in velocities:
                velocities[index] = torch.zeros_like(p)
            velocities[index] = momentum * velocities[index] + p.grad
            p -= lr * velocities[index]
            p.grad = None


# The profiler finds optimizer state through torch.optim only. What momentum_by_hand makes, by operator:
BY_HAND = {"momentum_by_hand": {"aten::zeros_like": "optimizer_state", "aten::add": "optimizer_state",
                                "aten::mul": "temporary"}}
