"""A program for the real torch: it prints the peaks that the allocator counted."""
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    model(torch.randn(512, 1024, device="cuda")).sum().backward()
    stats = torch.cuda.memory_stats()
    if step == 2:
        print("peak", stats["requested_bytes.all.peak"], "reserved", stats["reserved_bytes.all.peak"], flush=True)
    optimizer.step()
    optimizer.zero_grad()
