"""Each batch is copied by a stream of its own while the one before it is worked on.

two-streams: --gpu 4GiB --steps 5 -- two_streams.py
"""
import torch
import truth
from torch import nn
from torch.nn.functional import cross_entropy

model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                      nn.Flatten(), nn.Linear(64 * 16, 100)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, nesterov=True)
truth.model(model)
truth.optimizer(optimizer)
copies = torch.cuda.Stream()


def fetched():
    with torch.cuda.stream(copies):
        images = torch.randn(32, 3, 128, 128).pin_memory().cuda(non_blocking=True)
        labels = torch.randint(100, (32,)).pin_memory().cuda(non_blocking=True)
    truth.batch(images, labels)
    return images, labels


truth.phase("data")
following = fetched()
while True:
    truth.phase("data")
    torch.cuda.current_stream().wait_stream(copies)
    images, labels = following
    for tensor in following:
        tensor.record_stream(torch.cuda.current_stream())
    following = fetched()
    truth.phase("forward")
    with truth.saving():
        loss = cross_entropy(model(images), labels)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
