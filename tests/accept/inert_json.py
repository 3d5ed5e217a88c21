"""Renders what inert.py unpickled as memsnap-dump(1) says."""
import base64
import math
import re

from inert import Buffer, Bytes, Members, Opaque, Pairs, Unpickler

LONG_TEXT = 256
BIGGEST_DECIMAL = 10 ** 4300


def is_plain(text):
    """Whether a JSON string stands for this text only."""
    return not re.search("[\ud800-\udbff][\udc00-\udfff]", text)


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


def is_plain_global(value):
    module, name = map(utf8, value.what)
    return (len(module) + 1 + len(name) <= LONG_TEXT and b"." not in name and
            all(map(is_plain, value.what)))


def parts(value):
    """What an instance consists of."""
    if value.call:
        yield "$class", value.what
        yield from zip(("$args", "$kwargs"), value.call)
    else:
        yield "$class", value
    if value.states[:-1]:
        yield "$earlier", value.states[:-1]
    if value.states:
        yield "$state", value.states[-1]
    if value.items:
        yield "$items", value.items
    if value.pairs.pairs:
        yield "$dict", value.pairs


class Renderer:
    def __init__(self, root, opaques):
        self.met = {}  # by identity, or by content for texts: how often
        self.ids = {}
        self.count(root)
        discarded = [o for objects in (True, False) for o in reversed(opaques)
                     if o.is_object() == objects and id(o) not in self.met and not self.count(o)]
        self.result = {"value": self.render(root)}
        if discarded:
            self.result["discarded"] = self.render_items(discarded)

    def again(self, key):
        self.met[key] = self.met.get(key, 0) + 1
        return self.met[key] > 1

    def count(self, value, bare=False):
        if isinstance(value, str):
            if len(utf8(value)) > LONG_TEXT:
                self.again(value)
        elif isinstance(value, int) and -2 ** 63 <= value < 2 ** 64:
            pass
        elif value is None or value == () or isinstance(value, (float, Buffer)):
            pass
        elif isinstance(value, Opaque) and (bare or not value.is_object()):
            again = self.again(id(value)) if not bare else False
            if value.kind == "$global" and not is_plain_global(value):
                self.count(value.what[0])
                self.count(value.what[1])
            elif value.kind == "$persid" and not again:
                self.count(value.what)
        elif not self.again(id(value)):
            for inner in self.inside(value):
                self.count(*inner)

    def inside(self, value):
        if isinstance(value, (list, tuple)):
            yield from ((item,) for item in value)
        elif isinstance(value, Members):
            yield from ((item,) for item in value.members)
        elif isinstance(value, Pairs):
            yield from ((item,) for pair in value.pairs for item in pair)
        elif isinstance(value, Opaque):
            for key, part in parts(value):
                if key in ("$earlier", "$items"):
                    yield from ((item,) for item in part)
                elif key == "$dict":
                    yield from self.inside(part)
                else:
                    yield part, key == "$class" and part is value

    def number(self, key):
        """The members that refer to a value or number it, and whether the value is yet to come."""
        if self.met.get(key, 0) < 2:
            return {}, True
        if key in self.ids:
            return {"$ref": self.ids[key]}, False
        self.ids[key] = len(self.ids) + 1
        return {"$id": self.ids[key]}, True

    def render(self, value):
        if isinstance(value, str):
            return self.render_text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int) and -2 ** 63 <= value < 2 ** 64:
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, Buffer):
            return {"$buffer": value.number} | ({"$readonly": True} if value.readonly else {})
        if isinstance(value, Opaque) and not value.is_object():
            return self.render_opaque(value)
        if value == ():
            return {"$tuple": []}
        members, full = self.number(id(value))
        if full and isinstance(value, list) and not members:
            return self.render_items(value)
        return members | self.render_full(value) if full else members

    def render_items(self, items):
        return [self.render(item) for item in items]

    def render_text(self, text):
        members, full = self.number(text)
        if full and not is_plain(text):
            return members | {"$utf8": base64.b64encode(utf8(text)).decode()}
        if full and members:
            return members | {"$str": text}
        return members or text

    def render_opaque(self, value):
        if value.kind == "$global":
            plain = is_plain_global(value)
            return {"$global": ".".join(value.what) if plain else self.render_items(value.what)}
        if value.kind == "$ext":
            return {"$ext": value.what}
        members, full = self.number(id(value))
        return members | {"$persid": self.render(value.what)} if full else members

    def render_full(self, value):
        if isinstance(value, int):
            return {"$int": str(value) if abs(value) < BIGGEST_DECIMAL else hex(value)}
        if isinstance(value, Bytes):
            return {value.kind: base64.b64encode(value.value).decode()}
        if isinstance(value, list):
            return {"$list": self.render_items(value)}
        if isinstance(value, tuple):
            return {"$tuple": self.render_items(value)}
        if isinstance(value, Members):
            return {value.kind: self.render_items(value.members)}
        if isinstance(value, Pairs):
            rendered = self.render_pairs(value)
            return rendered if isinstance(rendered, dict) else {"$dict": rendered}
        return {key: self.render_part(value, key, part) for key, part in parts(value)}

    def render_part(self, whole, key, part):
        if key == "$class" and part is whole:
            return self.render_class(whole)
        if key == "$class" and not part.is_object():
            return self.render_class(part)
        if key == "$args" and isinstance(part, tuple) and self.met.get(id(part), 0) < 2:
            return self.render_items(part)
        if key == "$dict":
            return self.render_pairs(part)
        if key in ("$earlier", "$items"):
            return self.render_items(part)
        return self.render(part)

    def render_class(self, value):
        if value.kind == "$global" and is_plain_global(value):
            return ".".join(value.what)
        if value.kind == "$persid" and value.is_object():
            return {"$persid": self.render(value.what)}
        return self.render_opaque(value)

    def render_pairs(self, pairs):
        keys = [key for key, _ in pairs.pairs]
        if all(isinstance(key, str) and not key.startswith("$") and is_plain(key) and
               self.met.get(key, 0) < 2 for key in keys) and len(set(keys)) == len(keys):
            return {key: self.render(value) for key, value in pairs.pairs}
        return [[self.render(key), self.render(value)] for key, value in pairs.pairs]


def dump(data):
    """What memsnap is to print of a pickle: its members "value" and, maybe, "discarded"."""
    unpickler = Unpickler(data)
    root = unpickler.load()
    return Renderer(root, unpickler.opaques).result
