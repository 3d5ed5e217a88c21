"""Random Python structures for the pickle tests, of every kind that picklers treat on its own."""
import collections
import copyreg
import dataclasses
import datetime
import decimal
import enum
import math
import pickle
import struct


class Plain:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class Slots:
    __slots__ = ("first", "second")


class SlotsAndDict(Slots):
    pass


class State:
    def __init__(self, state):
        self.state = state

    def __getstate__(self):
        return self.state

    def __setstate__(self, state):
        self.state = state


class Reduced:
    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        return self.args


class ReducedEx(Reduced):
    def __reduce_ex__(self, protocol):
        return Reduced, (protocol, *self.args), {"protocol": protocol}


class ReducedItems(Reduced):
    def __reduce__(self):
        items, pairs = self.args
        return Plain, (), None, iter(items), iter(pairs.items())


class NewArgs:
    def __new__(cls, *args):
        made = super().__new__(cls)
        made.args = args
        return made

    def __getnewargs__(self):
        return self.args


class NewArgsEx:
    def __new__(cls, *args, **named):
        made = super().__new__(cls)
        made.args, made.named = args, named
        return made

    def __getnewargs_ex__(self):
        return self.args, self.named


class MyInt(int):
    pass


class MyStr(str):
    pass


class MyList(list):
    pass


class MyDict(dict):
    pass


class MySet(set):
    pass


class MyTuple(tuple):
    pass


class Persistent:
    """Saved by the pickler as a persistent id."""
    def __init__(self, pid):
        self.pid = pid


class Coded1(Plain):
    pass


class Coded2(Plain):
    pass


class Coded4(Plain):
    pass


for _class, _code in ((Coded1, 0xff), (Coded2, 0x1234), (Coded4, 0x7fffffff)):
    copyreg.add_extension(__name__, _class.__name__, _code)

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Record:
    name: object
    values: object


class Colour(enum.Enum):
    RED = 1
    GREEN = "green"


class Outer:
    class Inner:
        def method(self):
            pass


def function():
    pass


EDGES = [edge + delta for power in (7, 8, 15, 16, 29, 31, 32, 53, 63, 64, 65, 127, 2039, 2040, 8200)
         for edge in (1 << power, -(1 << power)) for delta in (-1, 0, 1)]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 1e22, 1e300, -1e-300, 5e-324, 2.2250738585072014e-308,
          1.7976931348623157e308, math.inf, -math.inf, math.nan, 123456789.125]
TEXTS = ["", "a", "$", "$ref", "key", "\0", "\n\r\t\b\f\v\x1b\x7f", "\"\\/'", "\\u0041", "\\\\n",
         "é", "\x80\x9f\xa0\xff", "日本語", "\u200b\u202e\ufeff\u2028", "😀", "\U0010ffff", "\ud800",
         "\udfff", "\udc00\ud800", "\ud83d\ude00", "a\ud800", "\ud800\ud800\udc00", "\ufffd", "x" * 255,
         "x" * 256, "x" * 257, "é" * 128 + "x", "k." * 200]
GLOBALS = [len, print, int, dict, type(None), type(...), function, Plain, Outer, Outer.Inner,
           Outer.Inner.method, Outer.__init__, collections.OrderedDict, datetime.datetime.now,
           "text".upper, math.sin, NotImplemented, ...]


class Maker:
    """Makes structures by one random generator."""

    def __init__(self, rng, persistent=False):
        self.rng, self.persistent = rng, persistent
        self.made = []  # to be shared, and to be recursive through

    def chance(self, probability):
        return self.rng.random() < probability

    def integer(self):
        if self.chance(0.5):
            return self.rng.choice(EDGES)
        return self.rng.randrange(-300, 70000)

    def real(self):
        if self.chance(0.5):
            return self.rng.choice(FLOATS)
        return struct.unpack("<d", self.rng.randbytes(8))[0]

    def text(self):
        if self.chance(0.7):
            return self.rng.choice(TEXTS)
        if self.chance(0.01):
            return self.rng.choice("xé😀") * 70000
        return "".join(self.rng.choice(TEXTS[:22]) for _ in range(self.rng.randrange(5)))

    def octets(self):
        size = 70000 if self.chance(0.004) else self.rng.choice((0, 1, 2, 3, 20, 255, 256, 300))
        return self.rng.randbytes(size)

    def atom(self):
        return self.rng.choice((
            lambda: None, lambda: self.chance(0.5), self.integer, self.integer, self.real, self.text,
            self.text, self.octets, lambda: self.rng.choice(GLOBALS)))()

    def key(self, depth=2):
        """Something that can be hashed."""
        kind = self.rng.randrange(8)
        if kind < 5:
            return self.text()
        if kind == 5 and depth:
            return tuple(self.key(depth - 1) for _ in range(self.rng.randrange(4)))
        if kind == 6 and depth:
            return frozenset(self.key(depth - 1) for _ in range(self.rng.randrange(3)))
        return self.rng.choice((self.integer, self.real, self.octets, lambda: None))()

    def values(self, depth, most=5):
        return [self.value(depth - 1) for _ in range(self.rng.randrange(most))]

    def fields(self, depth):
        return {self.rng.choice(("a", "b", "state", "$c", "é")): value for value in self.values(depth)}

    def many(self):
        """More than a pickler adds at a time."""
        return list(range(self.rng.choice((999, 1000, 1001, 2001))))

    def container(self, depth):
        kind = self.rng.randrange(7)
        if kind == 0:
            return tuple(self.values(depth))
        if kind == 1:
            return dict(zip(map(str, range(9)), self.values(depth)))
        if kind == 2:
            return {self.key(): value for value in self.values(depth)}
        if kind == 3:
            return {self.key() for _ in range(self.rng.randrange(5))}
        if kind == 4:
            return frozenset(self.key() for _ in range(self.rng.randrange(5)))
        if kind == 5 and self.chance(0.05):
            many = self.many()
            return self.rng.choice((many, dict.fromkeys(many), set(many), tuple(many)))
        return self.values(depth)

    def subclass(self, depth):
        kind = self.rng.randrange(6)
        made = (MyInt(self.integer()) if kind == 0 else MyStr(self.text()) if kind == 1 else
                MyList(self.values(depth)) if kind == 2 else
                MyDict(self.fields(depth)) if kind == 3 else
                MySet([self.key()]) if kind == 4 else MyTuple(self.values(depth)))
        if self.chance(0.5):
            made.note = self.value(depth - 1)
        return made

    def instance(self, depth):
        fields, values = self.fields(depth), self.values(depth)
        slots = SlotsAndDict() if self.chance(0.5) else Slots()
        if self.chance(0.8):
            slots.first = self.value(depth - 1)
        cyclic = Plain(**fields)
        cyclic.itself = cyclic
        return self.rng.choice((
            lambda: Plain(**fields), lambda: slots, lambda: cyclic,
            lambda: State(self.value(depth - 1)), lambda: ReducedEx(*values),
            lambda: Reduced(Reduced, tuple(values), self.value(depth - 1)),
            lambda: ReducedItems(values, fields),
            lambda: NewArgs(*values), lambda: NewArgsEx(*values, **{"a": 1, "b": values}),
            lambda: self.rng.choice((Coded1, Coded2, Coded4))(**fields),
            lambda: Point(self.value(depth - 1), values), lambda: Record(values, fields)))()

    def from_stdlib(self, depth):
        values = self.values(depth)
        return self.rng.choice((
            lambda: collections.OrderedDict(enumerate(values)),
            lambda: collections.defaultdict(list, enumerate(values)),
            lambda: collections.deque(values, self.rng.choice((None, 3))),
            lambda: collections.Counter(["a", "b", "a"]), lambda: complex(self.real(), self.real()),
            lambda: decimal.Decimal(self.integer()), lambda: datetime.date(2024, 2, 29),
            lambda: datetime.datetime(2024, 1, 2, 3, 4, 5, 678, datetime.timezone.utc),
            lambda: datetime.timedelta(self.rng.randrange(99), 1.5), lambda: self.rng.choice(list(Colour)),
            lambda: range(self.integer()), lambda: slice(1, None, self.integer()),
            lambda: bytearray(self.octets()), lambda: KeyError(self.text()),
            lambda: pickle.PickleBuffer(bytearray(self.octets())),
            lambda: pickle.PickleBuffer(self.octets())))()

    def recursive(self, depth):
        """Something that holds itself, by way of whatever else."""
        items, pairs, plain = self.values(depth), {}, Plain()
        way = self.rng.randrange(5)
        if way == 0:
            items.insert(self.rng.randrange(len(items) + 1), items)
            return items
        if way == 1:
            pairs["self"] = pairs
            return pairs
        if way == 2:
            whole = (1, items)[:] + (plain,)
            items.append(whole)
            return whole
        if way == 3:
            plain.members = {plain, self.text()}
            return plain.members if self.chance(0.5) else plain
        plain.frozen = frozenset([plain])
        return self.rng.choice((plain, plain.frozen, [plain.frozen, plain]))

    def value(self, depth):
        if self.made and self.chance(0.12):
            return self.rng.choice(self.made)
        if depth <= 0 or self.chance(0.25):
            return self.atom()
        kind = self.rng.random()
        if self.persistent and kind < 0.1:
            return Persistent(self.text() if self.chance(0.5) else self.value(0))
        made = (self.container(depth) if kind < 0.55 else self.instance(depth) if kind < 0.75 else
                self.from_stdlib(depth) if kind < 0.87 else self.subclass(depth) if kind < 0.94 else
                self.recursive(depth))
        self.made.append(made)
        return made


def plain_data(rng, depth=4):
    """Only what every protocol writes alike, shared at places."""
    made = []

    def value(depth):
        if made and rng.random() < 0.15:
            return rng.choice(made)
        if depth == 0 or rng.random() < 0.3:
            return rng.choice((None, True, False, 1.5, -0.0, rng.choice(TEXTS), rng.choice(EDGES)))
        items = [value(depth - 1) for _ in range(rng.randrange(5))]
        whole = rng.choice((items, tuple(items), dict(enumerate(items)),
                            {rng.choice(TEXTS): item for item in items}))
        made.append(whole)
        return whole
    return value(depth)
