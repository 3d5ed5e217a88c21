import sys
import weakref
from functools import partial

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint


def names(part):
    return [part] if isinstance(part, str) else sum(map(names, part), [])


def first(result):
    return result[0] if isinstance(result, tuple) and len(result) == 1 else result


def recompute(calls):
    def run(value, *args, **kwargs):
        result = calls[0](value, *args, **kwargs)
        for call in calls[1:]:
            result = call(first(result), *args, **kwargs)
        return result

    return partial(checkpoint, run if len(calls) > 1 else calls[0], use_reentrant=False)


def build(part, forwards):
    if isinstance(part, str):
        return next(forwards)
    return recompute([build(inner, forwards) for inner in part if names(inner)])


class Part:
    """Modules of one checkpoint. The first one's forward runs all of them, and the others pass its
    result on. Until it is proven that this changes nothing, each block is checkpointed by itself."""

    def __init__(self, part):
        self.names = names(part)
        self.modules = [model.get_submodule(name) for name in self.names]
        self.forwards = [module.forward for module in self.modules]
        self.together = build(part, iter(self.forwards))
        self.alone = [
            recompute([forward]) if len(self.names) == 1 or any(module.children()) else forward
            for module, forward in zip(self.modules, self.forwards)
        ]
        self.is_chain, self.proof = False, None
        self.forget()
        for k, module in enumerate(self.modules):
            module.forward = partial(self.forward, k)

    def forget(self):
        self.next, self.result, self.others = 0, None, {}

    def take(self, k, args, kwargs):
        """Is this call the next one of the chain, with what the first one got beside its input?"""
        others = {**dict(enumerate(args[1:])), **kwargs}
        if k == 0:
            self.next, self.others = 0, others
        is_next = k == self.next and (k == 0 or (len(args) > 0 and args[0] is first(self.result)))
        self.next = k + 1
        return (is_next and others.keys() == self.others.keys()
                and all(others[name] is self.others[name] for name in others))

    def forward(self, k, *args, **kwargs):
        if self.proof:
            return self.proof.run(self, k, args, kwargs)
        if not self.is_chain:
            return self.alone[k](*args, **kwargs)
        if not self.take(k, args, kwargs):
            raise RuntimeError(f"{self.names[k]} no longer follows on {self.names[0]}: leave it out")
        result = self.together(*args, **kwargs) if k == 0 else self.result
        self.result = result
        if self.next == len(self.modules):
            self.forget()
        return result


class Proof(TorchFunctionMode):
    """Watches a forward pass. A part is a chain if its modules run once each, in order, each on the
    result of the one before, and if nothing else uses the results in between."""

    def __init__(self, parts):
        super().__init__()
        self.parts, self.between, self.input = parts, [], None
        for part in parts:
            part.is_chain, part.proof = True, self

    def run(self, part, k, args, kwargs):
        module, outer = part.modules[k], self.input
        part.is_chain &= k > 0 or part.next in (0, len(part.modules))
        part.is_chain &= part.take(k, args, kwargs) and not (
            module._forward_hooks or module._forward_pre_hooks or module._backward_hooks)
        self.input = args[0] if k > 0 and args else outer
        part.result = part.forwards[k](*args, **kwargs)
        self.input, value = outer, first(part.result)
        self.between = [(of, tensor) for of, tensor in self.between if tensor() is not value]
        if k + 1 < len(part.modules) and isinstance(value, torch.Tensor):
            self.between.append((part, weakref.ref(value)))
        return part.result

    def __torch_function__(self, function, types, args=(), kwargs=None):
        for value in (*args, *(kwargs or {}).values()):
            for item in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(item, torch.Tensor) and item is not self.input:
                    for part, tensor in self.between:
                        part.is_chain &= tensor() is not item
        return function(*args, **(kwargs or {}))

    def finish(self, result):  # which may hold tensors from between modules
        for part in self.parts:
            part.is_chain &= result is not None and part.next == len(part.modules)
            part.proof = None
            part.forget()
        for part, tensor in self.between:
            part.is_chain &= tensor() is None
        for part in self.parts:
            if not part.is_chain and len(part.modules) > 1:
                print("not a chain, so checkpointed one by one:", *part.names, file=sys.stderr)


def prove(model, args, kwargs):
    hook.remove()
    devices = {parameter.device for parameter in model.parameters()}
    buffers = [(buffer, buffer.clone()) for buffer in model.buffers()]
    proof, result = Proof(parts), None
    with torch.no_grad(), torch.random.fork_rng([d for d in devices if d.type == "cuda"]):
        try:
            with proof:
                result = model(*args, **kwargs)
        except Exception as error:
            print("the trial run failed:", error, file=sys.stderr)
        proof.finish(result)
        for buffer, value in buffers:
            buffer.copy_(value)
    torch.clear_autocast_cache()  # of weights that were converted without gradients


for module in model.modules():
    if getattr(getattr(module, "config", None), "use_cache", False):
        module.config.use_cache = False  # else recomputation adds to the cache again
parts = [Part(part) for part in plan if names(part)]
hook = model.register_forward_pre_hook(prove, with_kwargs=True)
