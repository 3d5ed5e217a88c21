"""Writes a snapshot as PyTorch's C++ pickler (torch/csrc/jit/serialization/pickler.cpp) lays it out.

Differences from CPython's pickles, and assumptions:
  * protocol 2; a dict is `}` `(` pairs `u`, a list `]` `(` items `e` however long, empty ones included;
  * BINPUT or LONG_BINPUT follows a container once it is filled. The C++ pickler gives one to each container that
    has a second owner. Here that is every container but an event without `frames`, which is so of a snapshot:
    the values of a dict are copied on their way, and the stacks of everything that has one are filled in last;
  * a string is BINUNICODE with its number, once; equal strings are one, however many objects they are;
  * integers are BININT1, BININT2, BININT or LONG1 of exactly 8 bytes.
"""
import struct

MARK, STOP, NONE, TRUE, FALSE = b"(", b".", b"N", b"\x88", b"\x89"
FLUSH_AT = 1 << 20
TUPLE_CODES = {1: b"\x85", 2: b"\x86", 3: b"\x87"}


def integer(value):
    if 0 <= value <= 0xff:
        return b"K%c" % value
    if 0 <= value <= 0xffff:
        return struct.pack("<cH", b"M", value)
    if -0x80000000 <= value <= 0x7fffffff:
        return struct.pack("<ci", b"J", value)
    return struct.pack("<cBq", b"\x8a", 8, value)


def numbered(short, long, number):
    """One of BINGET/LONG_BINGET or BINPUT/LONG_BINPUT."""
    return short + b"%c" % number if number <= 0xff else struct.pack("<cI", long, number)


class CppPickler:
    """Objects are identified by id(), so every written object must stay alive until the end."""

    def __init__(self, file):
        self.file = file
        self.parts, self.held = [], 0
        self.next_number = 0
        self.seen = {}      # id of a container -> the bytes that fetch it
        self.strings = {}   # text -> the bytes that fetch it
        self.stacks = {}    # ids of a stack's frames -> its bytes, once every frame was written

    def dump(self, value):
        self.emit(b"\x80\x02")
        self.push(value)
        self.emit(STOP)
        self.flush()

    def emit(self, data):
        self.parts.append(data)
        self.held += len(data)
        if self.held >= FLUSH_AT:
            self.flush()

    def flush(self):
        self.file.write(b"".join(self.parts))
        self.parts, self.held = [], 0

    def put(self):
        """Memoizes the last value; returns the bytes that fetch it."""
        number = self.next_number
        self.next_number += 1
        self.emit(numbered(b"q", b"r", number))
        return numbered(b"h", b"j", number)

    def push(self, value):
        kind = type(value)
        if kind is int:
            self.emit(integer(value))
        elif kind is str:
            self.push_string(value)
        elif kind in (dict, list, tuple):
            self.push_container(value, kind)
        elif value is None:
            self.emit(NONE)
        elif kind is bool:
            self.emit(TRUE if value else FALSE)
        elif kind is float:
            self.emit(struct.pack(">cd", b"G", value))
        else:
            raise TypeError(f"no layout for {kind}")

    def push_string(self, text):
        fetch = self.strings.get(text)
        if fetch is not None:
            self.emit(fetch)
            return
        data = text.encode()
        self.emit(struct.pack("<cI", b"X", len(data)) + data)
        self.strings[text] = self.put()

    def push_container(self, value, kind):
        fetch = self.seen.get(id(value))
        if fetch is not None:
            self.emit(fetch)
            return
        if kind is dict:
            self.push_dict(value)
        elif kind is tuple:
            self.push_tuple(value)
        else:
            self.push_list(value)
        if kind is not dict or "action" not in value or "frames" in value:
            self.seen[id(value)] = self.put()

    def push_dict(self, value):
        self.emit(b"}(")
        for key, item in value.items():
            self.push(key)
            if key == "frames":
                self.push_stack(item)
            else:
                self.push(item)
        self.emit(b"u")

    def push_list(self, value):
        self.emit(b"](")
        for item in value:
            self.push(item)
        self.emit(b"e")

    def push_tuple(self, value):
        if len(value) not in TUPLE_CODES:
            self.emit(MARK)
        for item in value:
            self.push(item)
        self.emit(TUPLE_CODES.get(len(value), b"t"))

    def push_stack(self, frames):
        """A list of frames. The bytes of an equal list written before are cached."""
        if id(frames) in self.seen or not frames:
            self.push(frames)
            return
        key = tuple(map(id, frames))
        data = self.stacks.get(key)
        if data is not None:
            self.emit(data)
            self.seen[id(frames)] = self.put()
            return
        self.push(frames)
        self.stacks[key] = b"](" + b"".join(self.seen[frame] for frame in key) + b"e"
