"""Records snapshots on a device with a driver that answers as pynvml does: marks.py FOLDER. The hooks must be gone."""
import contextlib
import sys
import types

import memsnap_record
import program_model
import torch

MEMORY = types.SimpleNamespace(used=123 << 20, total=456 << 20)


class Nvml(types.ModuleType):
    NVMLError_DriverNotLoaded = NVMLError_Uninitialized = type("Error", (Exception,), {})
    nvmlInit = staticmethod(lambda: None)
    nvmlDeviceGetHandleByIndex = staticmethod(lambda index: index)
    nvmlDeviceGetMemoryInfo = staticmethod(lambda handle: MEMORY)
    nvmlDeviceGetUtilizationRates = staticmethod(lambda handle: types.SimpleNamespace(gpu=7))
    nvmlDeviceGetComputeRunningProcesses = staticmethod(lambda handle: [])


def global_hooks():
    module = torch.nn.modules.module
    return len(module._global_forward_pre_hooks) + len(module._global_forward_hooks)


def step(model, optimizer):
    model(torch.zeros(8, 32, dtype=torch.long, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


class Cast(torch.nn.Linear):
    def forward(self, value, _nothing):
        return super().forward(value).square()


def cast():
    """A step of autocast, with a tensor that has no memory."""
    layer = Cast(256, 512).cuda()
    with torch.autocast("cuda", torch.bfloat16):
        layer(torch.zeros(64, 256, device="cuda", requires_grad=True), torch.empty(0, device="cuda")).sum().backward()


def main():
    sys.modules["pynvml"] = torch.cuda.pynvml = Nvml("pynvml")
    torch.cuda._HAS_PYNVML = True
    model = program_model.Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    with memsnap_record.snapshots(sys.argv[1]):
        step(model, optimizer)
    with contextlib.suppress(ZeroDivisionError), memsnap_record.snapshots(sys.argv[1] + "/again"):
        step(model, optimizer)
        raise ZeroDivisionError
    for steps in 1, (0, 7):
        with memsnap_record.snapshots("%s/%s" % (sys.argv[1], steps), steps=steps):
            step(model, optimizer)
            step(model, optimizer)
    with memsnap_record.snapshots(sys.argv[1] + "/cast"):
        cast()
    with memsnap_record.snapshots(sys.argv[1] + "/pinned", pinned=True):
        kept = torch.empty(3 << 20, dtype=torch.uint8).pin_memory()
    del kept
    assert global_hooks() == 0
    assert not torch._C._cuda_isHistoryEnabled()
    print("all is right")


main()
