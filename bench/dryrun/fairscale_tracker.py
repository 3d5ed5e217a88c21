"""The example of FairScale's LayerwiseMemoryTracker (its docstring), with ResNet-50 and a batch of 16."""
import torch
from fairscale.experimental.tooling.layer_memory_tracker import LayerwiseMemoryTracker, suggest_checkpoint_location
from torchvision import models

model = models.resnet50().cuda()
criterion = torch.nn.CrossEntropyLoss()
tracker = LayerwiseMemoryTracker()
tracker.monitor(model)
images = torch.randn(16, 3, 224, 224).cuda()
target = torch.zeros(16, dtype=torch.long).cuda()
criterion(model(images), target).backward()
for checkpoints in 0, 2:
    suggestion = suggest_checkpoint_location(tracker.memory_traces, num_checkpoints=checkpoints)
    print("found", checkpoints, suggestion.max_memory, ",".join(suggestion.split_modules), flush=True)
