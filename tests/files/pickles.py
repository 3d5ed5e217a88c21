"""Pickles put together opcode by opcode, as no honest pickler would. Protocol 4."""
import functools
import struct

EMPTY = b"]"
BASE = 0x7F0000000000
ZERO = b"K\0"


def pickled(body):
    return b"\x80\x04" + body + b"."


@functools.lru_cache(maxsize=256)  # events are made up of few names
def short_text(value):
    data = value.encode()
    return b"\x8c%c" % len(data) + data if len(data) < 256 else None


def text(value):
    if len(value) < 256 and (short := short_text(value)):
        return short
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value):
    if 0 <= value < 256:
        return b"K%c" % value
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    return b"\x8a\x09" + value.to_bytes(9, "little", signed=True)


def put(index):
    return b"r" + struct.pack("<I", index)


def get(index):
    return b"j" + struct.pack("<I", index)


def mapping(**fields):
    return b"}(" + b"".join([text(key) + value for key, value in fields.items()]) + b"u"


def array(items):
    return b"](" + b"".join(items) + b"e"


def frame(name, line=1, file="f.py"):
    return mapping(name=text(name), filename=text(file), line=integer(line))


# Millions of events are made, each by one substitution.
EVENT = (b"}(" + text("action") + b"%b" + text("addr") + b"%b" + text("size") + b"%b" + text("stream") + ZERO +
         text("time_us") + b"%b" + text("frames") + b"%b" + b"%bu")


def event(action, address, size, frames=EMPTY, time=1, **more):
    rest = b"".join([text(key) + value for key, value in more.items()])
    return EVENT % (text(action), integer(address), integer(size), integer(time), frames, rest)


def block(address, size=512, state="active_allocated", **more):
    return mapping(address=integer(address), size=integer(size), requested_size=integer(size),
                   state=text(state), frames=EMPTY, **more)


def segment(address, size, blocks=EMPTY, **more):
    return mapping(device=integer(0), address=integer(address), total_size=integer(size),
                   allocated_size=integer(0), active_size=integer(0), stream=integer(0),
                   segment_type=text("large"), blocks=blocks, **more)


def annotation(stage, name, time, **more):
    return mapping(device=integer(0), stage=text(stage), name=text(name), time_us=integer(time),
                   **more)


def snapshot(segments=(), events=(), before=b"", **more):
    """`before`: opcodes that leave nothing on the stack, such as memoized frames."""
    return pickled((b"N" + before if before else b"") +
                   mapping(segments=array(segments), device_traces=array([array(events)]), **more))


def frames_in_memo(names, first):
    """Frames for `before`, to be had by get(first), get(first + 1)..."""
    return b"".join(frame(name, line) + put(first + line) + b"0" for line, name in enumerate(names))


def laughs(width, depth, bottom, first):
    """Containers that hold the next one `width` times: width**depth things in a few bytes."""
    value = bottom + put(first)
    for level in range(depth):
        fields = {str(i): value if i == 0 else get(first + level) for i in range(width)}
        value = mapping(**fields) + put(first + level + 1)
    return value
