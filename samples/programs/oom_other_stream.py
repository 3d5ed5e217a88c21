"""Out of memory, while the memory that a stream for copies has used stays in that stream's pool.

oom-other-stream: --gpu 2GiB --steps 0 -- oom_other_stream.py
"""
import torch
import truth
from torch import nn

model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda().eval()
truth.model(model)
truth.phase("other")
copies = torch.cuda.Stream()
with torch.cuda.stream(copies):
    pieces = [torch.empty(64, 1024, 1024, device="cuda") for _ in range(3)]
    del pieces
    halves = [torch.empty(33, 1024, 1024, device="cuda") for _ in range(3)]  # one in each segment
torch.cuda.synchronize()
truth.phase("eval")
with torch.no_grad():
    result = model(torch.zeros(40960, 1024, device="cuda"))
