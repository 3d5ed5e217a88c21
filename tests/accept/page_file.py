"""What the page says that `memsnap plot --out FILE.html` writes, against `memsnap analyze`, and its policy."""
import array
import base64
import hashlib
import html.parser
import json
import re
import subprocess
import sys

import captures

MOST_BYTES = 15 << 20


def plot(source, target, *arguments):
    done = subprocess.run([captures.MEMSNAP, "plot", *arguments, str(source), "--out", str(target)],
                          capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{source}: status {done.returncode}: {done.stderr.decode(errors='replace')}")


class Parts(html.parser.HTMLParser):
    """The texts of script and style elements, and all other tags."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.styles, self.tags = [], [], []
        self.data, self.policy, self._into = "", "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "script":
            self._into = "data" if given.get("type") == "application/json" else "script"
            if self._into == "script":
                self.scripts.append("")
        elif tag == "style":
            self._into = "style"
            self.styles.append("")
        if given.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = given["content"]

    def handle_endtag(self, tag):
        self._into = None

    def handle_data(self, data):
        if self._into == "data":
            self.data += data
        elif self._into == "script":
            self.scripts[-1] += data
        elif self._into == "style":
            self.styles[-1] += data


def numbers(kind, text):
    values = array.array(kind)
    values.frombytes(base64.b64decode(text))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def policy_problems(parts, text):
    """Its own script and style only, by their hashes, and nothing from elsewhere."""
    if len(parts.scripts) != 1 or len(parts.styles) != 1:
        yield f"{len(parts.scripts)} scripts and {len(parts.styles)} styles"
        return
    for name, part in (("script", parts.scripts[0]), ("style", parts.styles[0])):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        if f"{name}-src 'sha256-{digest}'" not in parts.policy:
            yield f"the policy does not name the hash of its {name}: {parts.policy}"
    if not parts.policy.startswith("default-src 'none';") or "unsafe" in parts.policy:
        yield f"the policy is weak: {parts.policy}"
    for tag, given in parts.tags:
        wrong = [name for name in given if name.startswith("on") or name in ("href", "src", "style")]
        if wrong or tag in ("link", "iframe", "object", "base", "img"):
            yield f"<{tag}> with {wrong}"
    outside = {url for url in re.findall(r"https?://[^\s\"'<]+", text) if url != "http://www.w3.org/2000/svg"}
    if outside:
        yield f"names {outside}"


def data_problems(data, entry):
    """What is live at the peak, against the report of the same device."""
    bands = data["bands"]
    begin, end = numbers("I", bands["begin"]), numbers("I", bands["end"])
    size, category = numbers("d", bands["size"]), numbers("B", bands["category"])
    active = numbers("d", data["active"])
    peak = data["peak"]["column"]
    if entry["active"]["peak_event"] < 0:
        return  # before the first event, and so before the first column
    if data["peak"]["bytes"] != entry["active"]["peak_bytes"] or max(active) != entry["active"]["peak_bytes"]:
        yield f"peak {data['peak']['bytes']}, {max(active)}, not {entry['active']['peak_bytes']}"
    live = [b for b in range(bands["count"]) if begin[b] <= peak < end[b]]
    total = sum(size[b] for b in live)
    if data["left_out"] == 0 and total > active[peak]:
        yield f"live at the peak: {total} of {active[peak]}"
    sums = {}
    for b in live:
        name = data["categories"][category[b]]["name"]
        sums[name] = sums.get(name, 0) + size[b]
    for row in entry["categories"]:
        known = sums.pop(row["name"], 0)
        if row["name"] != "unexplained" and (known > row["bytes"] or
                                             (data["left_out"] == 0 and known != row["bytes"])):
            yield f"{row['name']} at the peak: {known}, not {row['bytes']}"
    if sums:
        yield f"not in the report: {sums}"


def stack_problems(data):
    frames, stacks, strings = data["frames"], data["stacks"], data["strings"]
    counts = {name: len(numbers("I", frames[name])) for name in ("name", "file", "line")}
    first, stacked = numbers("I", stacks["first"]), numbers("I", data["stacked"])
    if len(set(counts.values())) != 1 or list(first) != sorted(first) or (first and first[-1] > len(stacked)):
        yield f"stacks or frames do not fit: {counts}"
    for where, ids, most in (("frames", stacked, counts["name"]),
                             ("names", numbers("I", frames["name"]), len(strings)),
                             ("files", numbers("I", frames["file"]), len(strings)),
                             ("labels", numbers("I", stacks["label"]), len(strings)),
                             ("stacks", numbers("I", data["bands"]["stack"]), len(first))):
        if ids and max(ids) >= most:
            yield f"{where} beyond {most}"


def page_problems(path, target):
    plot(path, target)
    text = target.read_text(encoding="utf-8")
    parts = Parts(text)
    if len(text) > MOST_BYTES:
        yield f"{len(text)} bytes"
    data = json.loads(parts.data)
    devices = captures.report(path)["devices"]
    entry = next(entry for entry in devices if entry["device"] == data["device"])
    yield from policy_problems(parts, text)
    yield from data_problems(data, entry)
    yield from stack_problems(data)
    if "<" in parts.data:
        yield "data has a <"


def full_problems(folder):
    """More text than a page holds: it stays small, and says what it left out."""
    source, target = folder / "full.json", folder / "full.html"
    events = [{"action": "alloc", "addr": 4096 * (i + 1), "size": 4096 + i, "stream": 0, "time_us": i,
               "frames": [{"name": f"f{i}_{k}" + "\u202e" * 150, "filename": f"{i}" * 60 + ".py", "line": k}
                          for k in range(3)]} for i in range(30000)]
    source.write_text(json.dumps({"segments": [], "device_traces": [events]}), encoding="ascii")
    plot(source, target)
    text = target.read_text(encoding="utf-8")
    data = json.loads(Parts(text).data)
    if len(text) > MOST_BYTES:
        yield f"{len(text)} bytes"
    yield from stack_problems(data)
    whole = numbers("B", data["stacks"]["whole"])
    size = numbers("d", data["bands"]["size"])
    stack = numbers("I", data["bands"]["stack"])
    kept = {bool(whole[stack[b]]) for b in range(data["bands"]["count"])}
    if kept != {True, False}:
        yield f"stacks are left out: {kept}"
    largest = max(range(len(size)), key=lambda b: size[b] * (data["columns"] - b))
    if not whole[stack[largest]]:
        yield "the largest band has lost its stack"
