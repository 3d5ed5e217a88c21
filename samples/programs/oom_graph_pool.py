"""Out of memory, while the private pools of CUDA graphs hold memory that nobody else may use.

oom-graph-pools: --gpu 2GiB --steps 0 -- oom_graph_pool.py
"""
import torch
import truth
from torch import nn

model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda().eval()
truth.model(model)
truth.phase("other")
graphs = {}
with torch.no_grad():
    model(torch.zeros(8, 1024, device="cuda"))
    for size in (1024, 2048, 4096, 8192):  # a graph, and a pool, for each size of a batch
        batch = torch.zeros(size, 1024, device="cuda")
        graphs[size] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[size]):
            result = model(batch)
        graphs[size].result = result
    model(torch.zeros(32768, 1024, device="cuda"))
