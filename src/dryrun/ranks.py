"""Distributed programs, also those that start all their ranks themselves, for example by torchrun.

The stand-in for NCCL sends nothing between processes: it answers as if every other rank had sent what this one
sends. Objects of Python go through the store instead, through which the ranks find each other.
"""
import atexit
import inspect
import os
import pickle
import sys
import threading
import time

PATIENCE = 3  # seconds in which a process may end by itself


def end_after(is_over, is_ending=lambda: False):
    """Ends this process soon after is_over() is true, unless it is ending by itself then."""
    def watch():
        while not is_over():
            time.sleep(0.2)
        time.sleep(PATIENCE)
        if not is_ending():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def end_with_recorded(path):
    """Nobody counts the steps of this process, and it may wait for the recorded one, which leaves a file."""
    end_after(lambda: os.path.exists(path))


def end_with_main_thread():
    """Python waits for other threads, which may wait for an end of the training that never comes."""
    exiting = threading.Event()
    atexit.register(exiting.set)  # runs before the program's own functions, and after those threads have ended
    end_after(lambda: not threading.main_thread().is_alive(), exiting.is_set)


def ignore_differences(torch):
    """DistributedDataParallel compares its parameters with those of other ranks, by values on the GPU."""
    original = getattr(torch.distributed, "_verify_params_across_processes", None)

    def verify(*arguments):
        try:
            original(*arguments)
        except RuntimeError:
            pass

    if original:
        torch.distributed._verify_params_across_processes = verify


def tell_colors(torch, tell):
    """NCCL splits a communicator by colors, which PyTorch makes of the ranks in each group.

    split_group() of newer versions makes them in C++, right after it has named the group.
    """
    import torch.distributed.distributed_c10d as c10d
    color, name = getattr(c10d, "_process_group_color", None), getattr(c10d, "_process_group_name", None)

    def color_of(ranks):
        made = color(ranks)
        tell(made, len(ranks))
        return made

    def name_of(ranks, *arguments, **options):
        tell(-1, len(ranks))
        return name(ranks, *arguments, **options)

    if color:
        c10d._process_group_color = color_of
    if name:
        c10d._process_group_name = name_of


def replace(torch, c10d, functions):
    """Replaces collectives by functions of the same names, where this version of PyTorch has them."""
    for name, function in functions.items():
        if hasattr(c10d, name):
            setattr(c10d, name, function)
            setattr(torch.distributed, name, function)


class Objects:
    """Collectives of objects, through the store of each process group."""

    def __init__(self, torch, c10d):
        self.torch, self.c10d = torch, c10d
        self.device_of = getattr(c10d, "_get_object_coll_device", None) or c10d._get_pg_default_device
        self.counts = {}  # of collectives, by their names and groups; every rank counts the same

    def is_mine(self, group):
        """Gloo sends objects itself."""
        return not self.c10d._rank_not_in_group(group) and self.torch.device(self.device_of(group)).type == "cuda"

    def key(self, group, *names):
        of = group or self.c10d._get_default_group(), names
        self.counts[of] = self.counts.get(of, 0) + 1
        return "/".join(("memsnap",) + tuple(map(str, names)) + (str(self.counts[of]),))

    def store(self, group):
        return self.c10d._world.pg_map[group or self.c10d._get_default_group()][1]

    def put(self, group, key, value):
        self.store(group).set(key, pickle.dumps(value))

    def get(self, group, key):
        return pickle.loads(self.store(group).get(key))

    def peer(self, named, name):
        """The rank in its group that an argument such as src or group_src names."""
        if named.get("group_" + name) is not None:
            return named["group_" + name]
        if named[name] is None:
            return 0
        group = named.get("group")
        return self.c10d.get_group_rank(group, named[name]) if group else named[name]

    def all_gather_object(self, named):
        group, key = named.get("group"), self.key(named.get("group"), "all")
        self.put(group, "%s/%d" % (key, self.c10d.get_rank(group)), named["obj"])
        for i in range(self.c10d.get_world_size(group)):
            named["object_list"][i] = self.get(group, "%s/%d" % (key, i))

    def gather_object(self, named):
        group, key = named.get("group"), self.key(named.get("group"), "gather")
        rank = self.c10d.get_rank(group)
        self.put(group, "%s/%d" % (key, rank), named["obj"])
        if rank == self.peer(named, "dst"):
            for i in range(self.c10d.get_world_size(group)):
                named["object_gather_list"][i] = self.get(group, "%s/%d" % (key, i))

    def broadcast_object_list(self, named):
        group, key = named.get("group"), self.key(named.get("group"), "broadcast")
        if self.c10d.get_rank(group) == self.peer(named, "src"):
            self.put(group, key, named["object_list"])
        else:
            named["object_list"][:] = self.get(group, key)

    def scatter_object_list(self, named):
        group, key = named.get("group"), self.key(named.get("group"), "scatter")
        rank = self.c10d.get_rank(group)
        if rank == self.peer(named, "src"):
            for i, value in enumerate(named["scatter_object_input_list"]):
                self.put(group, "%s/%d" % (key, i), value)
        named["scatter_object_output_list"][0] = self.get(group, "%s/%d" % (key, rank))

    def send_object_list(self, named):
        group, rank = named.get("group"), self.c10d.get_rank(named.get("group"))
        self.put(group, self.key(group, "send", rank, self.peer(named, "dst")), named["object_list"])

    def recv_object_list(self, named):
        group, rank, source = named.get("group"), self.c10d.get_rank(named.get("group")), self.peer(named, "src")
        named["object_list"][:] = self.get(group, self.key(group, "send", source, rank))
        return source if group is None else self.c10d.get_global_rank(group, source)

    def instead_of(self, name):
        original, mine = getattr(self.c10d, name), getattr(self, name)
        signature = inspect.signature(original)

        def collective(*arguments, **options):
            bound = signature.bind(*arguments, **options)
            bound.apply_defaults()
            if not self.is_mine(bound.arguments.get("group")):
                return original(*arguments, **options)
            return mine(bound.arguments)

        return collective


def send_objects(torch):
    import torch.distributed.distributed_c10d as c10d
    objects = Objects(torch, c10d)
    names = ("all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list", "send_object_list", "recv_object_list")
    replace(torch, c10d, {name: objects.instead_of(name) for name in names if hasattr(c10d, name)})
