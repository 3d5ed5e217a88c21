"""Unpickles into inert stand-ins.

The stand-ins keep what Python's own containers lose (the order of a set's members, the key that a
dict is given twice) or would run (classes). Stack, memo and marks are those of the unpickler that is
written in Python; Python's other one, in C, decides what may be called, and with what: a tuple of
arguments.
"""
import io
import pickle
import sys


class Refused(Exception):
    pass


class Bytes:
    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class List(list):
    """Without what a list takes from SETITEM only because it has indices."""
    __hash__ = object.__hash__

    def __setitem__(self, *_):
        raise Refused("SETITEM of a list")


class Pairs:
    def __init__(self):
        self.pairs = []

    def __setitem__(self, key, value):
        self.pairs.append((key, value))


class Members:
    def __init__(self, kind, members=()):
        self.kind, self.members = kind, list(members)

    def add(self, member):
        if self.kind != "$set":
            raise Refused("ADDITEMS of a frozenset")
        self.members.append(member)


class Buffer:
    def __init__(self, number, readonly=False):
        self.number, self.readonly = number, readonly


class Opaque:
    """What only running it would tell: a global, a persistent id, an extension code, or a call."""
    def __init__(self, kind, what, *call):
        self.kind, self.what, self.call = kind, what, call
        self.states, self.items, self.pairs = [], [], Pairs()

    def is_object(self):
        return bool(self.call or self.states or self.items or self.pairs.pairs)

    def append(self, item):
        self.items.append(item)

    def extend(self, items):
        self.items.extend(items)

    def add(self, item):
        self.items.append(item)

    def __setitem__(self, key, value):
        self.pairs[key] = value


def expect(condition, message):
    if not condition:
        raise Refused(message)


class Unpickler(pickle._Unpickler):
    dispatch = dict(pickle._Unpickler.dispatch)

    def __init__(self, data):
        super().__init__(io.BytesIO(data), buffers=map(Buffer, range(1 << 30)))
        self.opaques = []

    def opaque(self, *args):
        self.opaques.append(Opaque(*args))
        return self.opaques[-1]

    def find_class(self, module, name):
        return self.opaque("$global", (module, name))

    def persistent_load(self, pid):
        return self.opaque("$persid", pid)

    def get_extension(self, code):
        expect(code > 0, "extension code below 1")
        self.append(self.opaque("$ext", code))

    def _decode_string(self, value):
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            return Bytes("$bytes", value)

    def instantiate(self, function, *call):
        args, kwargs = call if len(call) > 1 else (*call, Pairs())
        expect(isinstance(function, Opaque), "a call of what cannot be called")
        expect(isinstance(args, (tuple, Opaque)), "arguments that are no tuple")
        expect(isinstance(kwargs, (Pairs, Opaque)), "named arguments that are no dict")
        self.append(self.opaque("$class", function, *call))

    def _instantiate(self, function, args):
        self.instantiate(function, tuple(args))


def opcode(name):
    def register(function):
        Unpickler.dispatch[getattr(pickle, name)[0]] = function
        return function
    return register


def kept(name, wrap):
    """The opcode as it is, and then its result in a stand-in."""
    original = pickle._Unpickler.dispatch[getattr(pickle, name)[0]]

    @opcode(name)
    def load(self):
        original(self)
        self.stack[-1] = wrap(self.stack[-1])


for _name in ("BINBYTES", "SHORT_BINBYTES", "BINBYTES8"):
    kept(_name, lambda value: Bytes("$bytes", value))
for _name in ("EMPTY_LIST", "LIST"):
    kept(_name, List)
kept("EMPTY_DICT", lambda _: Pairs())
kept("EMPTY_SET", lambda _: Members("$set"))


@opcode("BYTEARRAY8")
def load_bytearray8(self):
    size = int.from_bytes(self.read(8), "little")
    data = self.read(min(size, sys.maxsize))
    expect(len(data) == size, "truncated")
    self.append(Bytes("$bytearray", data))


@opcode("FRAME")
def load_frame(self):
    self.read(8)  # how much to read at once: no part of what a pickle says


@opcode("DICT")
def load_dict(self):
    items = self.pop_mark()
    expect(len(items) % 2 == 0, "a key without a value")
    made = Pairs()
    made.pairs.extend(zip(items[::2], items[1::2]))
    self.append(made)


@opcode("FROZENSET")
def load_frozenset(self):
    members = self.pop_mark()  # which changes what self.append() is
    self.append(Members("$frozenset", members))


@opcode("REDUCE")
def load_reduce(self):
    args, function = self.stack.pop(), self.stack.pop()
    self.instantiate(function, args)


Unpickler.dispatch[pickle.NEWOBJ[0]] = load_reduce


@opcode("NEWOBJ_EX")
def load_newobj_ex(self):
    kwargs, args, function = self.stack.pop(), self.stack.pop(), self.stack.pop()
    self.instantiate(function, args, kwargs)


def unless_nothing(name):
    """An opcode that adds items: of none, whatever it is that they would be added to."""
    original = pickle._Unpickler.dispatch[getattr(pickle, name)[0]]

    @opcode(name)
    def load(self):
        if self.stack:
            original(self)
        else:
            self.pop_mark()
            expect(self.stack, "nothing below the mark")


for _name in ("APPENDS", "SETITEMS", "ADDITEMS"):
    unless_nothing(_name)


@opcode("BUILD")
def load_build(self):
    state, instance = self.stack.pop(), self.stack[-1]
    expect(isinstance(instance, Opaque), "BUILD of what has no state")
    instance.states.append(state)


@opcode("READONLY_BUFFER")
def load_readonly_buffer(self):
    top = self.stack[-1]
    if isinstance(top, Buffer):
        self.stack[-1] = top if top.readonly else Buffer(top.number, True)
    else:
        expect(isinstance(top, Opaque) or getattr(top, "kind", "") == "$bytes", "not a buffer")
