"""Clients train in turn, the server averages their weights and keeps a momentum.

federated: --gpu 4GiB --steps 0 -- federated.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy


def build():
    return nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 62)).cuda()


server, client = build(), build()
optimizer = torch.optim.SGD(client.parameters(), lr=0.05)
truth.model(server, client)
truth.optimizer(optimizer)
momentum = {name: torch.zeros_like(weight) for name, weight in server.state_dict().items()}
truth.note("optimizer_state|parameter", momentum)


def train():
    client.load_state_dict(server.state_dict())
    for _ in range(2):
        truth.phase("data")
        x, y = torch.randn(64, 1, 28, 28).cuda(), torch.randint(62, (64,)).cuda()
        truth.batch(x, y)
        truth.phase("forward")
        with truth.saving():
            loss = cross_entropy(client(x), y)
        optimizer.zero_grad()
        truth.phase("backward")
        loss.backward()
        truth.phase("optimizer_step")
        optimizer.step()
    truth.phase("other")
    return {name: weight.clone() for name, weight in client.state_dict().items()}


for _ in range(3):
    states = [train() for _ in range(3)]
    truth.note("parameter", states)
    with torch.no_grad():
        for name, weight in server.state_dict().items():
            mean = torch.stack([state[name] for state in states]).mean(0)
            weight.add_(momentum[name].mul_(0.9).add_(mean - weight))
    del states, mean
