"""Random pickles put together opcode by opcode, valid but unlike what any pickler writes.

An abstract stack says of each value what may be done with it: "list", "dict", "set", "tuple", "text",
"buffer", "opaque" (what can be called or changed) or "other".
"""
import struct

import specimens

PLAIN = [text for text in specimens.TEXTS if text.isascii()]
LINES = ["a", "key", "some id", "x.y", "collections", "OrderedDict", "os", "system", "", "n" * 300]
INTS = [edge for edge in specimens.EDGES if abs(edge).bit_length() < 2100]


def sized(opcode, width, data):
    return opcode + len(data).to_bytes(width, "little") + data


def escaped(rng, data):
    """A string literal of Python 2."""
    quote = rng.choice("'\"")
    body = "".join(rng.choice((f"\\x{byte:02x}", f"\\{byte:03o}", f"\\x{byte:02X}"))
                   if byte < 32 or byte > 126 or chr(byte) in "'\"\\" else chr(byte) for byte in data)
    return (quote + body + rng.choice(("", "\\n", "\\q", "\\\\", "\\'", '\\"', "\\a\\t")) + quote).encode()


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.ops = []  # each one opcode with its operand
        self.stacks = [[]]
        self.memo = {}

    @property
    def stack(self):
        return self.stacks[-1]

    def op(self, code, *pushed, pops=0):
        self.ops.append(code)
        del self.stack[len(self.stack) - pops:]
        self.stack.extend(pushed)

    def text(self):
        return self.rng.choice(specimens.TEXTS).encode("utf-8", "surrogatepass")

    def line(self):
        return self.rng.choice(LINES).encode() + b"\n"

    def octets(self):
        return self.rng.randbytes(self.rng.choice((0, 1, 2, 5, 255)))

    def integer(self):
        value = self.rng.choice(INTS)
        data = value.to_bytes(value.bit_length() // 8 + 1 + self.rng.randrange(3), "little",
                              signed=True)
        small = value & 0xffff
        self.op(self.rng.choice((
            b"I%d\n" % value, b"I01\n", b"I00\n", b"I-0\n", b"L%dL\n" % value, b"L%d\n" % value,
            sized(b"\x8a", 1, data) if len(data) < 256 else b"K\0", sized(b"\x8b", 4, data),
            sized(b"\x8a", 1, b""), b"K%c" % (value & 0xff), struct.pack("<cH", b"M", small),
            struct.pack("<ci", b"J", small - 40000))), "other")

    def real(self):
        value = self.rng.choice(specimens.FLOATS)
        self.op(self.rng.choice((b"F%r\n" % value, b"F1\n", b"F-1E5\n", b"FInfinity\n",
                                 struct.pack(">cd", b"G", value))), "other")

    def string(self):
        old = self.rng.choice((self.octets(), self.rng.choice(PLAIN).encode()))
        new = self.text()
        raw = self.rng.choice(specimens.TEXTS).encode("raw-unicode-escape").replace(b"\n", b"\\u000a")
        code = self.rng.choice((
            b"S" + escaped(self.rng, old) + b"\n", sized(b"T", 4, old), sized(b"U", 1, old[:255]),
            sized(b"X", 4, new), sized(b"\x8d", 8, new), b"V" + raw + b"\n",
            b"V\\" + raw + b"\\U0001F600\\uD83D\\\\u0041\xe9\\\n",
            sized(b"\x8c", 1, new) if len(new) < 256 else sized(b"X", 4, new)))
        self.op(code, "other" if code[:1] in b"STU" else "text")

    def octet_string(self):
        data = self.octets()
        self.op(self.rng.choice((sized(b"B", 4, data), sized(b"C", 1, data),
                                 sized(b"\x8e", 8, data))), "buffer")

    def simple(self):
        code, kind = self.rng.choice((
            (b"N", "other"), (b"\x88", "other"), (b"\x89", "other"), (b"]", "list"), (b"}", "dict"),
            (b")", "tuple"), (b"\x8f", "set"), (b"\x97", "buffer"),
            (sized(b"\x96", 8, self.octets()), "other")))
        self.op(code, kind)

    def opaque(self):
        self.op(self.rng.choice((
            b"c" + self.line() + self.line(), b"P" + self.line(), b"\x82%c" % self.rng.randrange(1, 256),
            struct.pack("<cH", b"\x83", self.rng.randrange(1, 65536)),
            struct.pack("<ci", b"\x84", self.rng.randrange(1, 2 ** 31)))), "opaque")

    def push(self):
        self.rng.choice((self.integer, self.real, self.string, self.octet_string, self.simple,
                         self.opaque, self.opaque))()

    def mark(self):
        self.op(b"(")
        self.stacks.append([])

    def close(self, code, *pushed, pops=0):
        """An opcode that takes all down to the MARK, and the MARK."""
        self.stacks.pop()
        self.op(code, *pushed, pops=pops)

    def marked(self):
        """MARK and some values."""
        self.mark()
        for _ in range(2 * self.rng.randrange(3)):
            self.rng.choice((self.push, self.get))()

    def put(self):
        if not self.stack:
            return
        index = self.rng.choice((self.rng.randrange(8), self.rng.randrange(256),
                                 self.rng.randrange(60000)))
        codes = [b"p%d\n" % index, struct.pack("<ci", b"r", index)]
        codes += [b"q%c" % index] * 2 if index < 256 else []
        code = self.rng.choice(codes + [b"\x94"] * 2)
        if code == b"\x94":
            index = len(self.memo)
        self.memo[index] = self.stack[-1]
        self.op(code)

    def get(self):
        if not self.memo:
            return self.push()
        index = self.rng.choice(list(self.memo))
        codes = [b"g%d\n" % index, struct.pack("<ci", b"j", index)]
        codes += [b"h%c" % index] * 2 if index < 256 else []
        return self.op(self.rng.choice(codes), self.memo[index])

    def call(self):
        self.opaque()
        self.rng.choice((self.opaque, lambda: self.op(b")", "tuple"), self.marked_tuple))()
        if self.rng.random() < 0.3:
            self.op(b"}", "dict")
            self.op(b"\x92", "opaque", pops=3)
        else:
            self.op(self.rng.choice((b"R", b"\x81")), "opaque", pops=2)

    def marked_call(self):
        if self.rng.random() < 0.5:
            self.marked()
            self.close(b"i" + self.line() + self.line(), "opaque")
        else:
            self.mark()
            self.opaque()
            self.push()
            self.close(b"o", "opaque")

    def tuple(self):
        count = self.rng.randrange(4)
        if count and len(self.stack) >= count:
            self.op(b"\x84\x85\x86\x87"[count:count + 1], "tuple", pops=count)
        else:
            self.marked_tuple()

    def marked_tuple(self):
        self.marked()
        self.close(b"t", "tuple")

    def collection(self):
        self.marked()
        code, kind = self.rng.choice(((b"l", "list"), (b"\x91", "other"), (b"t", "tuple"),
                                      (b"d", "dict")))
        if kind == "dict" and len(self.stack) % 2:
            self.push()
        self.close(code, kind)

    def change(self):
        """Changes what lies on top, if it can be."""
        top = self.stack[-1] if self.stack else "other"
        ways = {"list": "ae", "dict": "su", "set": "\x90", "opaque": "aesub\x90b"}.get(top)
        if not ways:
            return
        way = self.rng.choice(ways).encode("latin-1")
        if way in b"asb":
            for _ in range(2 if way == b"s" else 1):
                self.rng.choice((self.push, self.get))()
            self.op(way, pops=2 if way == b"s" else 1)
        else:
            self.marked()
            if way == b"u" and len(self.stack) % 2:
                self.push()
            self.close(way)

    def top_op(self):
        """What takes just the top of the stack, or two texts."""
        top = self.stack[-1] if self.stack else None
        if top == "buffer":
            self.op(b"\x98", "buffer", pops=1)
        elif top == "text" and self.stack[-2:] == ["text"] * 2:
            self.op(b"\x93", "opaque", pops=2)
        elif top == "text":
            self.op(sized(b"\x8c", 1, b"name.of"), "text")
            self.op(b"\x93", "opaque", pops=2)
        elif top:
            self.op(b"Q", "opaque", pops=1)

    def drop(self):
        way = self.rng.randrange(4)
        if way == 0 and self.stack:
            self.op(b"0", pops=1)
        elif way == 1 and len(self.stacks) > 1:
            self.close(b"1")
        elif way == 2 and self.stack:
            self.op(b"2", self.stack[-1])
        elif way == 3 and len(self.stacks) > 1 and not self.stack:
            self.close(b"0")

    def finish(self):
        while len(self.stacks) > 1:
            self.close(b"t", "tuple")
        if not self.stack:
            self.push()
        if self.rng.random() < 0.7:  # the result is all that can still be reached
            self.mark()
            for index in self.memo:
                if index < 256:
                    self.op(b"h%c" % index, self.memo[index])
            self.close(b"l", "list")
        self.op(b".")

    def run(self, steps):
        for _ in range(steps):
            self.rng.choice((self.push, self.push, self.put, self.put, self.get, self.mark, self.call,
                             self.marked_call, self.tuple, self.collection, self.change, self.change,
                             self.change, self.top_op, self.top_op, self.drop))()
        self.finish()
        return self.framed()

    def framed(self):
        if self.rng.random() < 0.5:
            return b"".join(self.ops)
        data = b"\x80%c" % self.rng.randrange(6)
        ops = list(self.ops)
        while ops:
            count = self.rng.randrange(1, 30)
            chunk, ops = b"".join(ops[:count]), ops[count:]
            data += sized(b"\x95", 8, chunk)[:9] + chunk if self.rng.random() < 0.7 else chunk
        return data
