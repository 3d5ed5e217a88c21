"""One rank of four under DistributedDataParallel, gradients as views of buckets; SGD with momentum.

ddp-world: --gpu 4GiB --world 4 --steps 4 -- ddp_world.py
"""
import torch
import truth
from torch import distributed, nn
from torchvision.models import resnet18

distributed.init_process_group("nccl")
model = resnet18(num_classes=100).cuda()
truth.model(model)
parallel = nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
truth.optimizer(optimizer)
while True:
    truth.phase("data")
    x, y = torch.randn(16, 3, 96, 96).cuda(), torch.randint(100, (16,)).cuda()
    truth.batch(x, y)
    truth.phase("forward")
    with truth.saving():
        loss = nn.functional.cross_entropy(parallel(x), y)
    truth.phase("backward")
    loss.backward()
    truth.phase("optimizer_step")
    optimizer.step()
    optimizer.zero_grad()
