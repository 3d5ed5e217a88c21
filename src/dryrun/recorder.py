"""Runs in every Python of a dry run, as its module sitecustomize, and does nothing until torch is imported.

It then loads the stand-in for CUDA, and records the memory of the first process that uses CUDA. memsnap
writes this file and the file "config" to a private folder, which MEMSNAP_DRYRUN names and which is on
PYTHONPATH. The recorder leaves there:
    torch            torch was imported
    problem          why there can be no dry run, in one line
    owner            a process uses CUDA, and records; its id
    other-rank       a process uses CUDA that has another rank than the one to record
    other-process    a process uses CUDA after another one that records
    oom.pickle       the snapshot when memory ran out
    snapshot.pickle  the snapshot at the end; ends in -new while it is written, as the one before does
    complete         the recorded process has made its steps
    outcome          how it ended: lines of a word and a number
    reads            lines of the program that read values of the GPU most often
"""
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
OOM_DUMPS = 10  # a program that looks for its largest batch may run out of memory often
SETTLED_STEPS = 10  # optimizer steps of a distributed program that are slowed down
STOPPED = 97    # OUTCOME_STOPPED in outcome.h


def run_own_sitecustomize():
    """This file hides the user's own module of the same name."""
    sys.path[:] = [path for path in sys.path if path != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec and spec.loader:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def load_module(name):
    """A module that memsnap wrote to the folder, which is not on sys.path."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_words(path):
    with open(path) as file:
        return dict(line.rstrip("\n").split(" ", 1) for line in file)


def leave(name, text=""):
    """Creates a file in the folder; False if another process was first."""
    try:
        fd = os.open(os.path.join(HERE, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return False
    with open(fd, "w") as file:
        file.write(text)
    return True


def give_up(text):
    leave("problem", " ".join(text.split()) + "\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STOPPED)


def version_of(text):
    """(12, 8) of "12.8.1"."""
    numbers = [int(part) for part in text.split(".")[:2] if part.isdigit()]
    return (numbers + [0, 0])[:2]


class StandIn:
    """The stand-in for CUDA, a shared object."""

    def __init__(self, config):
        import ctypes
        self.ctypes = ctypes
        self.library = ctypes.CDLL(config["library"], mode=ctypes.RTLD_GLOBAL)
        self.library.memsnap_dryrun_values_read.restype = ctypes.c_uint64
        if "card" in config:
            self.library.memsnap_dryrun_card(config["card"].encode())
        for name in ("memory", "other", "devices", "lenient"):
            if name in config:
                self.set(name, int(config[name]))

    def set(self, name, value):
        self.library.memsnap_dryrun_set(name.encode(), self.ctypes.c_uint64(value))

    def load(self, files):
        """Loads libraries with the names of NVIDIA's."""
        message = self.ctypes.create_string_buffer(300)
        names = (self.ctypes.c_char_p * len(files))(*[os.fsencode(file) for file in files])
        if self.library.memsnap_dryrun_load(names, self.ctypes.c_size_t(len(files)), os.fsencode(HERE), message,
                                            self.ctypes.c_size_t(len(message))):
            give_up(message.value.decode(errors="replace"))

    def add(self, file):
        """Adds the functions of NVIDIA's that a shared object needs and that nothing has."""
        self.library.memsnap_dryrun_add(os.fsencode(file), os.fsencode(HERE))

    def set_color(self, color, ranks):
        """A communicator may be split by this color, -1 for an unknown one, into one of so many ranks."""
        self.library.memsnap_dryrun_color(self.ctypes.c_int(color), self.ctypes.c_int(ranks))

    def values_read(self):
        return self.library.memsnap_dryrun_values_read()

    def on_read(self, function):
        """The function is called when the program reads values that are not known."""
        self.callback = self.ctypes.CFUNCTYPE(None)(function) if function else None
        self.library.memsnap_dryrun_on_read(self.callback)


def shared_objects(folder):
    """The shared objects of torch, and of packages beside it that call CUDA."""
    site = os.path.dirname(folder)
    folders = [os.path.join(folder, "lib")] + [os.path.join(site, name) for name in ("torchvision", "torchaudio", "torchaudio/lib")]
    files = []
    for path in folders:
        if os.path.isdir(path):
            files += sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".so"))
    return files


def pinned_nccl():
    """The version of NCCL that torch's metadata asks for, as a number like 22703; 0 if it says nothing."""
    import importlib.metadata
    import re
    try:
        for line in importlib.metadata.requires("torch") or ():
            found = re.match(r"nvidia-nccl-cu\d+\s*\(?==\s*(\d+)\.(\d+)\.(\d+)", line)
            if found:
                major, minor, patch = map(int, found.groups())
                return major * 10000 + minor * 100 + patch
    except importlib.metadata.PackageNotFoundError:
        pass
    return 0


# What values.py does to modules that ask the GPU for values.
CHANGES = {"transformers.generation.utils": "end_generation", "transformers.masking_utils": "skip_packing"}


class Recorder:
    """Records the memory of one process."""

    def __init__(self, config):
        self.config = config
        self.stand_in = None
        self.torch = None
        self.process = None    # that records
        self.is_recording = False
        self.steps = {}        # of each optimizer
        self.most_steps = int(config["steps"])
        self.late = int(config["late"])
        self.context = "all"  # which blocks and events have stacks, as the program wants it
        self.ooms = 0
        self.steps_at_oom = 0  # of all optimizers, when memory ran out last
        self.is_complete = False

    def before_torch(self, folder):
        version = {}
        try:
            with open(os.path.join(folder, "version.py")) as file:
                exec(file.read(), version)
        except OSError:
            give_up("torch in %s has no version.py" % folder)
        leave("torch")
        if version.get("hip") or not version.get("cuda"):
            give_up("torch %s in %s is built %s; a dry run needs PyTorch's CUDA build, which needs no GPU to install"
                    % (version.get("__version__", ""), folder, "for ROCm" if version.get("hip") else "without CUDA"))
        self.stand_in = StandIn(self.config)
        major, minor = version_of(version["cuda"])
        self.stand_in.set("runtime", major * 1000 + minor * 10)
        self.stand_in.set("nccl", pinned_nccl())
        files = shared_objects(folder)
        if not files:
            give_up("torch in %s has no shared objects" % folder)
        self.stand_in.load(files)
        load_module("memsnap_extensions").install(self.stand_in.add)
        self.values = load_module("memsnap_values")
        self.conditions = load_module("memsnap_conditions")
        self.reads = self.values.Reads(os.path.dirname(folder))
        self.prepare_compiler()

    def prepare_compiler(self):
        """For torch.compile. The timings of a GPU that computes nothing must not reach the user's own caches."""
        os.environ["TRITON_LIBCUDA_PATH"] = HERE
        os.environ["TRITON_CACHE_DIR"] = os.path.join(HERE, "triton")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(HERE, "inductor")
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # the worker processes end early in a dry run

    def after_torch(self, torch):
        import atexit
        from torch.optim.optimizer import register_optimizer_step_post_hook
        self.torch = torch
        self.guard_recording(torch.cuda.memory)
        cudnn = getattr(torch._C, "_cudnn", None)
        if cudnn:
            major, minor, patch = cudnn.getCompileVersion()
            self.stand_in.set("cudnn", major * (10000 if major >= 9 else 1000) + minor * 100 + patch)
        self.values.skip_validation(torch)
        self.conditions.install(torch)
        if hasattr(torch.cuda, "_parse_visible_devices"):
            # CUDA_VISIBLE_DEVICES, where the program itself sets it, would hide the GPUs
            torch.cuda._parse_visible_devices = lambda: list(range(64))
        self.prepare_ranks()
        torch.cuda._lazy_call(self.on_cuda)  # when the program first uses CUDA, before its first allocation
        register_optimizer_step_post_hook(self.on_step)
        atexit.register(self.on_exit)
        self.guard_exit()

    def prepare_ranks(self):
        if not hasattr(self.torch, "distributed") or not self.torch.distributed.is_available():
            return
        ranks = load_module("memsnap_ranks")
        ranks.ignore_differences(self.torch)
        ranks.tell_colors(self.torch, self.stand_in.set_color)
        if "world" in self.config:
            load_module("memsnap_world").install(self.torch, int(self.config["world"]), ranks, give_up)
        else:
            ranks.send_objects(self.torch)

    def on_cuda(self):
        if os.environ.get("RANK", self.config["rank"]) != self.config["rank"]:  # torchrun starts every rank
            leave("other-rank")
            self.end_with_recorded()
            return
        if not self.claim():
            leave("other-process")
            self.end_with_recorded()
            return
        if self.torch.cuda.get_allocator_backend() == "cudaMallocAsync":
            give_up("PyTorch records no memory with its allocator's backend cudaMallocAsync; try --alloc-conf backend:native")
        self.process = os.getpid()
        self.stand_in.on_read(self.reads)
        warnings.filterwarnings("ignore", "record_context_cpp is not support")  # on aarch64: it records Python's frames only
        try:
            self.torch._C._cuda_attach_out_of_memory_observer(self.on_oom)
            if self.late == 0:
                self.start()
        except Exception as error:
            give_up("cannot record: %s" % error)

    def claim(self):
        """True for the first process that uses CUDA, also when it has replaced its program by os.execv()."""
        process = str(os.getpid())
        if leave("owner", process):
            return True
        with open(os.path.join(HERE, "owner")) as file:
            return file.read() == process

    def end_with_recorded(self):
        if self.most_steps:
            load_module("memsnap_ranks").end_with_recorded(os.path.join(HERE, "complete"))

    def guard_exit(self):
        """os._exit() runs no functions of atexit."""
        exit_at_once = os._exit

        def exit_recorded(status):
            try:
                self.on_exit()
            finally:
                exit_at_once(status)

        os._exit = exit_recorded

    def guard_recording(self, memory):
        """A program that records by itself neither ends this recording nor drops a part of it.

        But the stacks that its own snapshot would not have are left out from there on.
        """
        self.record = memory._record_memory_history

        def record(*arguments, **options):
            self.follow(*arguments, **options)
            if not self.is_recording or os.getpid() != self.process:
                self.record(*arguments, **options)

        memory._record_memory_history = record

    def follow(self, enabled="all", context="all", *arguments, **options):
        """Notes the context that the program asks for."""
        if not isinstance(enabled, str) or context == self.context or self.process not in (None, os.getpid()):
            return
        self.context = context
        if self.is_recording:
            self.start()

    def start(self):
        import inspect
        options = {"stacks": self.config["stacks"]}
        if self.context != "all":
            options["context"] = self.context
        record = getattr(self.torch.cuda.memory, "_record_memory_history_impl", self.record)
        if "record_pinned_host_memory" in inspect.signature(record).parameters:
            options["record_pinned_host_memory"] = True  # recent versions of PyTorch
        self.record(**options)
        self.is_recording = True

    def dump(self, name):
        if not self.is_recording:
            return
        path = os.path.join(HERE, name)
        self.torch.cuda.memory._dump_snapshot(path + "-new")
        os.replace(path + "-new", path)

    def on_oom(self, *sizes):
        if os.getpid() != self.process:
            return
        self.ooms += 1
        self.steps_at_oom = sum(self.steps.values())
        if self.ooms <= OOM_DUMPS:
            self.dump("oom.pickle")

    def on_step(self, optimizer, *arguments):
        if os.getpid() != self.process:
            return
        self.steps[id(optimizer)] = self.steps.get(id(optimizer), 0) + 1
        if self.is_complete:  # the program did not let SystemExit pass
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        if not self.is_recording and max(self.steps.values()) >= self.late:
            self.start()
        if self.steps[id(optimizer)] <= SETTLED_STEPS:
            self.settle()
        # of several optimizers, all make as many steps
        if self.most_steps and min(self.steps.values()) >= self.most_steps:
            self.is_complete = True
            self.dump("snapshot.pickle")
            self.report()
            leave("complete")
            load_module("memsnap_ranks").end_with_main_thread()
            raise SystemExit(0)

    def settle(self):
        """ProcessGroupNCCL looks every 100 ms which work is done, and then drops its tensors.

        A step takes longer on a GPU, so that they are gone before the next one.
        """
        distributed = sys.modules.get("torch.distributed")
        if distributed and distributed.is_available() and distributed.is_initialized():
            time.sleep(0.3)

    def on_exit(self):
        if os.getpid() != self.process:
            return
        self.stand_in.on_read(None)
        if not self.is_complete:
            self.dump("snapshot.pickle")
        if self.is_recording:  # what is freed later must not ask a Python that has ended for its stack
            self.record(enabled=None)
        self.report()

    def report(self):
        leave("reads", self.reads.text())
        interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt
        resumed = self.ooms > 0 and sum(self.steps.values()) > self.steps_at_oom
        leave("outcome", "complete %d\nsteps %d\nooms %d\nresumed %d\nvalues %d\ninterrupted %d\n"
              % (self.is_complete, max(self.steps.values(), default=0), self.ooms, resumed, self.stand_in.values_read(), interrupted))


class Finder(importlib.abc.MetaPathFinder):
    """Calls the recorder before and after modules are imported."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.is_searching = False

    def find_spec(self, name, path=None, target=None):
        if (name != "torch" and name not in CHANGES) or self.is_searching:
            return None
        self.is_searching = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_searching = False
        if spec and spec.loader and spec.origin:
            self.watch(spec)
        return spec

    def watch(self, spec):
        loader = spec.loader
        exec_module = loader.exec_module

        def watched(module):
            del loader.exec_module
            if spec.name == "torch":
                self.recorder.before_torch(os.path.dirname(spec.origin))
                exec_module(module)
                self.recorder.after_torch(module)
            else:
                exec_module(module)
                getattr(self.recorder.values, CHANGES[spec.name])(module)

        loader.exec_module = watched


if os.environ.get("MEMSNAP_DRYRUN") == HERE:
    sys.meta_path.insert(0, Finder(Recorder(read_words(os.path.join(HERE, "config")))))
run_own_sitecustomize()
