"""One rank of a distributed program, for `memsnap dryrun --world`. No other rank exists.

ProcessGroupNCCL is PyTorch's own, and the stand-in answers NCCL. Only what needs another process is made up: the
store through which ranks find each other, Gloo, and collectives of Python objects.
"""
import copy
import os
import sys
import threading
import types

ID_SIZE = 128  # of ncclUniqueId


def make_store(torch, world):
    kept = []

    class MadeUpStore(torch.distributed.Store):
        """Other ranks have set every key that this rank asks for, and add what it adds."""

        def __init__(self, *arguments, **options):
            super().__init__()
            kept.append(self)  # C++ refers to it, and only Python knows what it answers
            self.lock = threading.RLock()
            self.values = {}

        def set(self, key, value):
            with self.lock:
                self.values[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            with self.lock:
                return self.values.get(key, bytes(ID_SIZE))

        def add(self, key, amount):
            with self.lock:
                total = int(self.values.get(key, b"0")) + amount * world
                self.values[key] = str(total).encode()
                return total

        def append(self, key, value):
            with self.lock:
                self.values[key] = self.values.get(key, b"") + (value.encode() if isinstance(value, str) else bytes(value))

        def compare_set(self, key, expected, desired):
            with self.lock:
                found = self.values.get(key, b"")
                if found == (expected.encode() if isinstance(expected, str) else bytes(expected)):
                    self.set(key, desired)
                return self.values.get(key, found)

        def multi_get(self, keys):
            return [self.get(key) for key in keys]

        def multi_set(self, keys, values):
            for key, value in zip(keys, values):
                self.set(key, value)

        def check(self, keys):
            with self.lock:
                return all(key in self.values for key in keys)

        def wait(self, keys, timeout=None):
            pass

        def delete_key(self, key):
            with self.lock:
                return self.values.pop(key, None) is not None

        def num_keys(self):
            return len(self.values)

        def has_extended_api(self):
            return True

        def set_timeout(self, timeout):
            pass

        def clone(self):
            return self

    return MadeUpStore


def replace_stores(torch, world):
    import torch.distributed.rendezvous
    store = make_store(torch, world)
    for module in (torch.distributed, sys.modules["torch.distributed.rendezvous"]):
        for name in ("TCPStore", "FileStore"):
            setattr(module, name, store)
    return store


def separate_nccl(torch, c10d):
    """Threads of ProcessGroupNCCL use its store until the end, when they must not wait for Python."""
    os.environ["TORCH_NCCL_BCAST_UNIQUEID"] = "0"           # no other rank sets the id of a communicator,
    os.environ["TORCH_NCCL_RANKS_PER_ROOT"] = str(1 << 30)  # in large worlds either

    original = c10d.ProcessGroupNCCL

    class OfAnyKind(type(original)):
        """PyTorch asks whether a group that C++ has kept is of the class below."""

        def __instancecheck__(cls, group):
            return isinstance(group, original)

    class ProcessGroupNCCL(original, metaclass=OfAnyKind):
        def __init__(self, store, rank, size, *arguments, **options):
            own = torch.distributed.HashStore()
            # versions before 2.2 wait for the id under these names
            names = [str(i) for i in range(8)] + ["%d:%d" % (min(rank, i), max(rank, i)) for i in range(size)]
            for name in names:
                own.set(name, "\0" * ID_SIZE)
            super().__init__(own, rank, size, *arguments, **options)

    c10d.ProcessGroupNCCL = ProcessGroupNCCL


def replace_gloo(torch, c10d):
    """Gloo connects to every rank. The made-up group of PyTorch's own tests does not."""
    from torch.testing._internal.distributed.fake_pg import FakeProcessGroup
    is_python = not hasattr(torch._C._distributed_c10d, "FakeProcessGroup")
    create = getattr(FakeProcessGroup, "_create_internal", None)

    class MadeUpGloo(FakeProcessGroup):
        options = types.SimpleNamespace()

        def __new__(cls, store, rank, size, *arguments, **options):
            return create(rank, size) if create else super().__new__(cls)

        def __init__(self, store, rank, size, *arguments, **options):
            super().__init__(rank, size)

        def _set_sequence_number_for_group(self):
            pass

        if is_python:
            def barrier(self, *arguments, **options):
                return self.broadcast([])

    def only_nccl(self):
        backends = all_backends(self)
        return {device: name for device, name in backends.items() if name != "gloo"} or backends

    c10d.ProcessGroupGloo = MadeUpGloo
    if is_python:
        # such a group cannot be one of several backends
        all_backends = c10d.BackendConfig.get_device_backend_map
        c10d.BackendConfig.get_device_backend_map = only_nccl


def replace_object_collectives(torch, c10d, replace, give_up):
    """They send sizes first, which are values on the GPU. Every rank sends what this one does."""
    def all_gather_object(object_list, obj, group=None):
        for i in range(len(object_list)):
            object_list[i] = copy.deepcopy(obj)

    def gather_object(obj, object_gather_list=None, *arguments, **options):
        for i in range(len(object_gather_list or ())):
            object_gather_list[i] = copy.deepcopy(obj)

    def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, *arguments, group=None, **options):
        if scatter_object_input_list:
            scatter_object_output_list[0] = scatter_object_input_list[c10d.get_rank(group) % len(scatter_object_input_list)]

    def keep(*arguments, **options):
        pass

    def refuse(*arguments, **options):
        give_up("the program receives an object from another rank, and --world runs one rank alone; run all of them "
                "by torchrun, with as many --devices")

    made_up = dict(all_gather_object=all_gather_object, gather_object=gather_object, scatter_object_list=scatter_object_list,
                   broadcast_object_list=keep, monitored_barrier=keep,
                   send_object_list=keep, recv_object_list=refuse)
    replace(torch, c10d, made_up)


def install(torch, world, ranks, give_up):
    import torch.distributed.distributed_c10d as c10d
    replace_stores(torch, world)
    separate_nccl(torch, c10d)
    replace_gloo(torch, c10d)
    replace_object_collectives(torch, c10d, ranks.replace, give_up)
