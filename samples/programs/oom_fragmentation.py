"""Out of memory by fragmentation: a server keeps a small cache of each request, which stays behind in large segments.

oom-fragmentation: --gpu 1536MiB --steps 0 -- oom_fragmentation.py
"""
import torch
import truth
from torch import nn

MIB = 1 << 20
caches = {}


def answer(request, size_mib):
    """The large result dies with the request, and the small one next to it does not."""
    scratch = torch.empty(size_mib * MIB, dtype=torch.uint8, device="cuda")
    caches[request] = torch.empty(2 * MIB, dtype=torch.uint8, device="cuda")
    return scratch


model = nn.Linear(1024, 1024).cuda().eval()
truth.model(model)
truth.phase("other")
running = []
with torch.no_grad():
    for request in range(48):
        model(torch.empty(8, 1024, device="cuda"))
        running.append(answer(request, 18))
    running.clear()  # 48 holes of 18 MiB
    answer(48, 400)
