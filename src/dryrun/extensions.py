"""Libraries that a program loads after torch, such as those of bitsandbytes, may call functions of CUDA that torch does
not call. Stand-ins for these are added right before such a library is loaded."""
import ctypes
import importlib.machinery
import os


def install(add):
    """`add` adds the functions that a shared object needs."""
    make = ctypes.CDLL.__init__
    create = importlib.machinery.ExtensionFileLoader.create_module

    def __init__(self, name, *args, **kwargs):
        if name is not None and os.path.isfile(name):
            add(name)
        make(self, name, *args, **kwargs)

    def create_module(self, spec):
        add(self.path)
        return create(self, spec)

    ctypes.CDLL.__init__ = __init__
    importlib.machinery.ExtensionFileLoader.create_module = create_module
