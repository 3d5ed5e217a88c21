#!/usr/bin/env python3
"""Makes the small files of this folder anew, in the folder named: they are kept, for they must not
change by themselves. The README says why each is there."""
import gzip
import pickle
import struct
import sys
import zlib
from pathlib import Path

from pickles import (BASE, EMPTY, annotation, array, block, event, frame, get, integer, laughs,
                     mapping, pickled, put, segment, snapshot, text)

MINIMAL = snapshot([segment(BASE, 1 << 21, array([block(BASE)]))],
                   [event("alloc", BASE, 512, array([frame("main")]))])
JSON = b'{"segments": [], "device_traces": [[{"action": "alloc", "addr": 512, "size": 1, ' \
       b'"stream": 0, "time_us": 1, "frames": []}]]}'
MANY_KEYS = {f"k{i}": b"N" for i in range(17)}
SHARED = array([block(BASE, state="inactive")] * 17) + put(1)


def packed(data):
    return gzip.compress(data, 9, mtime=0)


def with_extra_header():
    """All the fields a gzip header may have."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (b"\x1f\x8b\x08\x1f" + bytes(6) + b"\x04\0abcd" + b"name\0" + b"comment\0" +
            struct.pack("<H", zlib.crc32(b"\x1f\x8b\x08\x1f" + bytes(6) + b"\x04\0abcd" +
                                         b"name\0" + b"comment\0") & 0xFFFF) +
            body.compress(MINIMAL) + body.flush() +
            struct.pack("<II", zlib.crc32(MINIMAL), len(MINIMAL)))


FILES = {
    "good-minimal.pickle": MINIMAL,
    "good-minimal.json": JSON,
    "good-no-segments.pickle": pickled(EMPTY),
    "good-protocol-0.pickle": pickle.dumps({"segments": [], "device_traces": [[
        {"action": "alloc", "addr": BASE, "size": 512, "stream": 0, "frames": []}]]}, 0),
    "good-members.pickle.gz": packed(MINIMAL[:50]) + packed(b"") + packed(MINIMAL[50:]) +
                              bytes(600),
    "good-header.pickle.gz": with_extra_header(),
    "good-stored.json.gz": gzip.compress(JSON, 0, mtime=0),
    "good-shared-blocks.pickle": snapshot(
        [segment(BASE, 1 << 21, array([block(BASE)]) + put(1)),
         segment(BASE + (1 << 21), 1 << 21, get(1))]),
    "good-shared-events.pickle": snapshot((), [event("alloc", BASE, 512) + put(1),
                                               event("free_completed", BASE, 512), get(1)]),
    "good-memo-again.pickle": snapshot(
        (), [event("alloc", BASE, 512, array([frame("a") + put(1)])),
             event("alloc", BASE + 512, 512, array([get(1)])),
             event("alloc", BASE + 1024, 512, array([frame("b") + put(1)])),
             event("alloc", BASE + 1536, 512, array([get(1)]))]),
    "good-callables.pickle": snapshot((), (), extra=b"cos\nsystem\n" + text("false") + b"\x85R"),
    "good-long-zero.pickle": snapshot((), [mapping(
        action=text("alloc"), addr=b"\x8a\0", size=b"\x8b" + bytes(4), stream=integer(-1),
        frames=EMPTY)]),
    "good-user-metadata-laughs.pickle": snapshot(
        (), [event("alloc", BASE, 512, user_metadata=laughs(9, 30, mapping(), 1))]),
    "bad-empty": b"",
    "bad-cut.pickle": MINIMAL[:-1],
    "bad-opcode.pickle": b"\x80\x04]\xff.",
    "bad-protocol.pickle": b"\x80\x06].",
    "bad-underflow.pickle": b"\x80\x04]u.",
    "bad-no-mark.pickle": b"\x80\x04]]e.",
    "bad-memo-hole.pickle": b"\x80\x04]q\x01h\x00.",
    "bad-memo-index.pickle": b"\x80\x04]r\xff\xff\xff\xff.",
    "bad-memo-digits.pickle": b"\x80\x02]p99999999999999999999\n.",
    "bad-claim-2g.pickle": b"\x80\x04]X\xff\xff\xff\x7fabc",
    "bad-claim-2-63.pickle": b"\x80\x04]\x8e" + struct.pack("<Q", 1 << 63) + b"abc",
    "good-claim-frame.pickle": b"\x80\x04\x95" + b"\xff" * 8 + b"].",
    "bad-claim-long.pickle": b"\x80\x04]\x8b\xff\xff\xff\x7f\x01",
    "bad-claim-negative-long.pickle": b"\x80\x04]\x8b\xff\xff\xff\xff\x01",
    "bad-not-a-snapshot.pickle": b"\x80\x04}.",
    "bad-trace-twice.pickle": pickled(mapping(segments=EMPTY, device_traces=array(
        [array([event("alloc", BASE, 512)]) + put(1), get(1)]))),
    "bad-ends-elsewhere.pickle": MINIMAL[:-1] + b"}.",
    "bad-second-snapshot.pickle": pickled(mapping(device_traces=array(
        [array([event("alloc", BASE, 512)])])))[:-1] + b"0" + pickled(mapping(segments=EMPTY))[2:],
    "bad-negative-size.pickle": snapshot((), [event("alloc", BASE, -1)]),
    "bad-block-overflow.pickle": snapshot([segment(BASE, 1, array(
        [mapping(size=integer((1 << 63) + k), state=text("inactive")) for k in range(3)]))]),
    "bad-cut.pickle.gz": packed(MINIMAL)[:-4],
    "bad-damaged.pickle.gz": packed(MINIMAL)[:-8] + b"\0" * 8,
    "bad-garbage.pickle.gz": packed(MINIMAL) + b"\0\0x",
    "bad-twice-gzipped.pickle.gz": packed(packed(MINIMAL)),
    "bad-cut.json": JSON[:-3],
    "bad-garbage.json": JSON + b" x",
    "bad-escape.json": b'{"segments": [], "device_traces": [], "\\x": 1}',
    "bad-surrogate-digits.json": b'{"segments": [], "device_traces": [], "\\ud8": 1}',
    "bad-control.json": b'{"segments": [], "device_traces": [], "a\nb": 1}',
    "bad-number.json": b'{"segments": [], "device_traces": [], "a": 01}',
    "bad-literal.json": b'{"segments": [], "device_traces": [], "a": nul}',
    "limit-settings-laughs.pickle": snapshot(allocator_settings=mapping(
        x=laughs(10, 14, mapping(), 1))),
    "limit-blocks-twice.pickle": snapshot(
        [segment(BASE, 1 << 21, SHARED), segment(BASE + (1 << 21), 1 << 21, get(1))]),
    "limit-segment-twice.pickle": snapshot([segment(BASE, 1 << 21, **MANY_KEYS) + put(1), get(1)]),
    "limit-block-twice.pickle": snapshot([segment(BASE, 1 << 21, array(
        [block(BASE, state="inactive", **MANY_KEYS) + put(1), get(1)]))]),
    "limit-annotation-twice.pickle": snapshot(external_annotations=array(
        [annotation("START", "x", 1, **MANY_KEYS) + put(1), get(1)])),
    "limit-nesting.json": b'{"a": ' + b"[" * 1100,
    "limit-number.json": b'{"a": ' + b"1" * 1100 + b"}",
    "limit-device.json": b'{"device_traces": [' + b"[]," * 1100 + b"[]]}",
}


def main():
    folder = Path(sys.argv[1])
    for name, data in FILES.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
