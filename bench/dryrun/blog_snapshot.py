"""The program of "Understanding GPU Memory 1: Visualizing All Allocations over Time" (pytorch.org/blog), which records
a snapshot itself: ResNet-50, one picture, five iterations."""
import torch
from torchvision import models

torch.cuda.memory._record_memory_history(max_entries=100000)
model = models.resnet50().to("cuda:0")
inputs = torch.randn(1, 3, 224, 224, device="cuda:0")
labels = torch.rand_like(model(inputs))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, weight_decay=1e-4)
loss_fn = torch.nn.CrossEntropyLoss()
for _ in range(5):
    pred = model(inputs)
    loss_fn(pred, labels).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
torch.cuda.memory._dump_snapshot("blog.pickle")
torch.cuda.memory._record_memory_history(enabled=None)
