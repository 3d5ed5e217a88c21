"""The second program of the same article: the same training under torch.profiler with its memory timeline."""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torchvision import models


def handler(prof):
    prof.export_memory_timeline("blog.json", device="cuda:0")


with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
             schedule=schedule(wait=0, warmup=0, active=6, repeat=1), record_shapes=True, profile_memory=True, with_stack=True, on_trace_ready=handler) as prof:
    model = models.resnet50().to("cuda:0")
    inputs = torch.randn(1, 3, 224, 224, device="cuda:0")
    labels = torch.rand_like(model(inputs))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, weight_decay=1e-4)
    loss_fn = torch.nn.CrossEntropyLoss()
    for _ in range(5):
        prof.step()
        with record_function("## forward ##"):
            pred = model(inputs)
        with record_function("## backward ##"):
            loss_fn(pred, labels).backward()
        with record_function("## optimizer ##"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
