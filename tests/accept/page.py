#!/usr/bin/env python3
"""The page that `memsnap plot --out FILE.html` writes: what it says against `memsnap analyze`, its
policy, and, where there is a Chromium, that it can be looked into, and that no name of a capture is
more than text. Pictures of it are left in the folder page-pictures, for people to look at."""
import array
import base64
import hashlib
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import browser
import captures

MOST_BYTES = 15 << 20
PICTURES = pathlib.Path("page-pictures")
SAMPLES = ("history-off", "leak", "oom", "train-loop", "two-devices")


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


# In the browser: the band of every pixel, by a plain walk over all bands.
PLAIN = """(() => {
  const {chart, view, data} = thePage, {raster, stack} = chart, {begin, end, size, count} = data.bands;
  const perPixel = (view.y1 - view.y0) / raster.height;
  let checked = 0, wrong = 0;
  for (let p = 7; p < raster.width; p += 97) {
    const c = raster.moments[p];
    let low = 0;
    for (let b = 0; b < count; b++) {
      if (begin[b] > c || c >= end[b] || !stack.shown[b]) continue;
      const from = (low - view.y0) / perPixel, to = (low + size[b] - view.y0) / perPixel;
      low += size[b];
      if (to - from < 4 || to < 4 || from > raster.height - 4) continue;
      const middle = Math.floor((Math.max(from, 0) + Math.min(to, raster.height)) / 2);
      checked++;
      wrong += raster.at(p, middle) === b ? 0 : 1;
    }
  }
  return [checked, wrong];
})()"""

# Drawn anew, how many pixels are others than after moving, and how many columns show another moment?
ANEW = """(() => {
  const {raster, stack} = thePage.chart, {height} = raster;
  const pixels = raster.pixels.slice(), moments = raster.moments.slice();
  raster.drawn = null;
  stack.rebuild(0);
  raster.draw(thePage.view);
  let other = 0, moved = 0;
  moments.forEach((moment, p) => {
    moved += moment !== raster.moments[p] ? 1 : 0;
    for (let i = p * height; moment === raster.moments[p] && i < (p + 1) * height; i++) {
      other += pixels[i] !== raster.pixels[i] ? 1 : 0;
    }
  });
  return [other, moved / raster.width];
})()"""

# The map of blocks: do its spans cover the segments, and is each found where it is drawn?
MAP = """(() => {
  const {blocks} = thePage, {reserved, of} = layoutSums(blocks.now.segments);
  let checked = 0, wrong = 0;
  for (const segment of blocks.shown) {
    for (const span of segment.spans) {
      const at = segment.at + (span.offset + span.size / 2) * blocks.scale;
      if (span.size * blocks.scale < 2) continue;
      const found = blocks.spanAt(at % blocks.wide, Math.floor(at / blocks.wide) * MAP_LINE + 3);
      checked++;
      wrong += found && found.span === span ? 0 : 1;
    }
  }
  return [checked, wrong, reserved, of[0].bytes + of[1].bytes + of[2].bytes];
})()"""

# A place in the page where the band that covers most is seen.
LARGE = """(() => {
  const {chart, view} = thePage, {raster} = chart, seen = new Map();
  for (let i = 0; i < raster.pixels.length; i += 7) {
    const band = raster.pixels[i];
    if (band >= raster.rest) continue;
    if (!seen.has(band)) seen.set(band, []);
    seen.get(band).push(i);
  }
  const [band, places] = [...seen].sort((a, b) => b[1].length - a[1].length)[0];
  const i = places[places.length >> 1], box = document.getElementById("chart").getBoundingClientRect();
  const x = Math.floor(i / raster.height), up = i % raster.height;
  return [band, box.left + MARGIN.left + (x + 0.5) / chart.ratio,
          box.top + MARGIN.top + (raster.height - up - 0.5) / chart.ratio];
})()"""


def text_of(page, name):
    return page.evaluate(f"document.getElementById('{name}').textContent")


def quiet_problems(page, path):
    """No error, no complaint about the policy, and no request but for the page itself."""
    for event in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
        for told in page.told(event):
            yield f"{event}: {json.dumps(told)[:300]}"
    own = pathlib.Path(path).resolve().as_uri()
    for told in page.told("Network.requestWillBeSent"):
        if told["request"]["url"].split("#")[0] != own:
            yield f"asks for {told['request']['url']}"
    if text_of(page, "trouble"):
        yield text_of(page, "trouble")


def span(page):
    return page.evaluate("thePage.view.x1 - thePage.view.x0")


def look_problems(page, path):
    """A click, a search, a zoom: what a user does."""
    page.open(path)
    yield from quiet_problems(page, path)
    page.screenshot(PICTURES / f"{path.stem}-whole.png")
    checked, wrong = page.evaluate(PLAIN)
    if wrong:
        yield f"{wrong} of {checked} bands are not where they belong"
    if not page.evaluate("thePage.data.bands.count"):
        return
    band, x, y = page.evaluate(LARGE)
    page.move(x, y)
    label = page.evaluate(f"labelOf(thePage.data, {band})")
    if page.evaluate("document.getElementById('tip').hidden") or not text_of(page, "tip").startswith(label):
        yield f"the tip is not of {label}: {text_of(page, 'tip')}"
    page.click(x, y)
    if page.evaluate("thePage.chosen") != band or label not in text_of(page, "chosen"):
        yield f"a click does not choose {label}: {text_of(page, 'chosen')}"
    frames = page.evaluate(f"framesOf(thePage.data, thePage.data.bands.stack[{band}]).length")
    shown = page.evaluate("document.querySelectorAll('#chosen li').length")
    if shown < max(frames, 1):
        yield f"{shown} of {frames} frames are shown"
    page.screenshot(PICTURES / f"{path.stem}-chosen.png")
    yield from zoom_problems(page, x, y)
    yield from search_problems(page)
    yield from toggle_problems(page)
    yield from map_problems(page, path)
    page.key("0")
    page.screenshot(PICTURES / f"{path.stem}-end.png")
    yield from quiet_problems(page, path)


def zoom_problems(page, x, y):
    whole = span(page)
    if whole <= 8:
        return
    for _ in range(4):
        page.wheel(x, y, -300)
    if not span(page) < whole / 2:
        yield f"the wheel does not zoom: {whole} to {span(page)}"
    page.screenshot(PICTURES / "zoomed.png")
    before = page.evaluate("thePage.view.x0")
    page.drag(x, y, x - 100, y)
    page.key("ArrowLeft", code="ArrowLeft")
    if page.evaluate("thePage.view.x0") == before:
        yield "dragging does not move"
    checked, wrong = page.evaluate(PLAIN)
    if wrong:
        yield f"zoomed, {wrong} of {checked} bands are not where they belong"
    other, moved = page.evaluate(ANEW)
    if other > page.evaluate("thePage.chart.raster.width") or moved > 0.02:  # a pixel's edge a column
        yield f"{other} pixels and {moved:.2%} of the columns are others when drawn anew"
    fragment = page.evaluate("location.hash")
    if not fragment.startswith(("#event=", "#time=")):
        yield f"no link to the view: {fragment}"
    page.key("0")
    if span(page) != whole:
        yield "0 does not show the whole"


def search_problems(page):
    wanted = page.evaluate("""(() => {
        const {data} = thePage, s = data.bands.stack[data.bands.count - 1], f = framesOf(data, s)[0];
        return f === undefined ? null : data.strings[data.frames.name[f]];
    })()""")
    if not wanted:
        return
    page.key("/")
    page.type(wanted)
    found = text_of(page, "found")
    plain = page.evaluate(f"""(() => {{
        const {{data}} = thePage, wanted = {json.dumps(wanted)}.trim().toLowerCase();
        const has = (id) => data.strings[id].toLowerCase().includes(wanted);
        let count = 0;
        for (const s of data.bands.stack) {{
            count += has(data.stacks.label[s]) || [...framesOf(data, s)].some(
                (f) => has(data.frames.name[f]) || has(data.frames.file[f])) ? 1 : 0;
        }}
        return count;
    }})()""")
    if not found.replace(",", "").startswith(f"{plain} found"):
        yield f"{wanted}: {found}, not {plain}"
    page.key("Enter", code="Enter", windowsVirtualKeyCode=13)
    if page.evaluate("!thePage.finder.found[thePage.chosen]"):
        yield "Enter does not choose what was found"
    page.screenshot(PICTURES / "searched.png")
    page.key("Escape")
    page.key("Escape")
    if text_of(page, "found") or page.evaluate("thePage.chosen") != -1:
        yield "Esc does not clear"


def toggle_problems(page):
    """Without a category, no pixel shows it."""
    group = page.evaluate("thePage.panel.rows[0].group")
    page.evaluate("document.querySelector('#categories input').click()")
    page.settle()
    left = page.evaluate(f"[...thePage.chart.raster.pixels].filter((b) => b < thePage.data.bands.count"
                         f" && thePage.chart.groups.of[b] === {group}).length")
    if left:
        yield f"{left} pixels of what is turned off"
    checked, wrong = page.evaluate(PLAIN)
    if wrong:
        yield f"without a category, {wrong} of {checked} bands are not where they belong"
    page.evaluate("document.querySelector('#categories input').click()")
    page.settle()


def map_problems(page, path):
    """The blocks, at several moments by the slider, and at that of a click."""
    count = page.evaluate("thePage.data.layout.moments.length")
    if bool(count) == page.evaluate("document.getElementById('layout-map').hidden"):
        yield f"{count} moments of blocks, and the map is shown or hidden"
    if not text_of(page, "layout-words"):
        yield "no word on where the blocks come from"
    for index in sorted({0, count // 3, count - 1}) if count else ():
        page.evaluate(f"(() => {{ const s = document.getElementById('layout-slider'); s.value = {index}; "
                      "s.dispatchEvent(new Event('input')); })()")
        page.settle()
        checked, wrong, reserved, spans = page.evaluate(MAP)
        if page.evaluate("thePage.blocks.index") != index:
            yield f"the slider does not move to {index}"
        if wrong or reserved != spans:
            yield f"moment {index}: {wrong} of {checked} blocks are not where they are drawn; {spans} of {reserved} bytes"
        page.screenshot(PICTURES / f"{path.stem}-blocks-{index}.png")
    if count > 20:
        box = page.evaluate("(() => { const b = document.getElementById('chart').getBoundingClientRect(); "
                            "return [b.left, b.top, b.width, b.height]; })()")
        page.key("0")
        page.click(box[0] + box[2] / 2, box[1] + box[3] / 2)
        before = page.evaluate("thePage.blocks.index")
        if not count / 4 < before < 3 * count / 4:
            yield f"a click in the middle shows the blocks of moment {before} of {count}"
        page.key("]")
        if page.evaluate("thePage.blocks.index") != before + 1:
            yield "] does not show the next moment"


def link_problems(page, path):
    page.open(path, "#event=10-30")
    got = page.evaluate("[thePage.view.x0, thePage.view.x1]")
    if got != [10, 30]:
        yield f"the link shows {got}"
    for fragment in ("#event=5", "#<img src=x>", "#time=-1-x", "#event=9999999999-99999999999"):
        page.open(path, fragment)
        yield from quiet_problems(page, path)


def still_problems(page, path):
    """Without JavaScript."""
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.go(path.resolve().as_uri())
    page.screenshot(PICTURES / "without-script.png")
    tree = page.call("DOM.getDocument", depth=-1)
    page.call("Emulation.setScriptExecutionDisabled", value=False)
    if '"nodeName": "svg"' not in json.dumps(tree):
        yield "there is no picture"


EVIL = ["</script><script>window.pwned=1</script>", "<img src=http://127.0.0.1:9/x onerror=window.pwned=1>",
        "]]><!--<script>window.pwned=1//", "'\"`${window.pwned=1}`\\", "a\nb\r\tc\x00\x1b[2J\x7f\u202egpj.exe",
        "\u2028window.pwned=1;\u2029//", "\ud800\udfff", "&lt;script&gt;", "<!--", "__proto__", "constructor",
        "<svg onload=window.pwned=1>", "javascript:window.pwned=1", "x" * 100000, "\u200b", "$(window.pwned=1)"]


def evil_capture(path):
    events = []
    for i, name in enumerate(EVIL * 2):
        frames = [{"name": name, "filename": EVIL[-1 - i % len(EVIL)] + ".py", "line": i},
                  {"name": "forward", "filename": name, "line": 1}]
        events.append({"action": "alloc", "addr": 4096 * (i + 1), "size": (i + 1) << 20, "stream": 0,
                       "time_us": 1000 + i, "frames": frames})
        events.append({"action": "annotate", "addr": 4096 * (i + 1), "size": (i + 1) << 20, "stream": 0,
                       "time_us": 1000 + i, "user_metadata": name})
    path.write_text(json.dumps({"segments": [], "device_traces": [events]}), encoding="ascii")


def evil_problems(page, folder):
    """Names that want to be more than text, in every field that is shown."""
    source = folder / "evil.json"
    evil_capture(source)
    target = folder / "x'\"`$(id)<script>window.pwned=1<!--\u202e.html"
    plot(source, target, "--title", EVIL[0] + EVIL[1] + "\u202e")
    parts = Parts(target.read_text(encoding="utf-8"))
    yield from policy_problems(parts, "")
    if page is None:
        return
    page.open(target)
    page.evaluate("for (let b = 0; b < thePage.data.bands.count; b++) thePage.choose(b, true)")
    for band in range(page.evaluate("thePage.data.bands.count")):
        page.evaluate(f"thePage.choose({band}, true)")
    page.settle()
    page.evaluate("thePage.hover({x: 400, y: 300})")
    page.evaluate("thePage.search('<script>')")
    page.settle()
    page.screenshot(PICTURES / "evil.png")
    yield from quiet_problems(page, target)
    if page.evaluate("window.pwned !== undefined || ({}).pwned !== undefined"):
        yield "a name was run"
    if page.evaluate("document.scripts.length") != 1 or page.evaluate("document.images.length"):
        yield "a name made an element"
    shown = text_of(page, "sites") + text_of(page, "chosen")
    if "</script>" not in text_of(page, "sites") and "</script>" not in shown:
        yield f"names are not shown as they are: {shown[:200]}"
    for hidden in "\u202e\u2028\u200b\x1b\x00":
        if hidden in shown:
            yield f"U+{ord(hidden):04X} is not made visible"


def annotated_problems(page, folder):
    """Annotations: of the right band, in the tip, in the details, and found."""
    source, target = folder / "annotated.json", folder / "annotated.html"
    source.write_text(json.dumps({"segments": [], "device_traces": [[
        {"action": "alloc", "addr": 4096, "size": 1 << 20, "stream": 0},
        {"action": "alloc", "addr": 1 << 30, "size": 9 << 20, "stream": 0},
        {"action": "annotate", "addr": 1 << 30, "size": 9 << 20, "stream": 0, "user_metadata": "Big one"},
        {"action": "annotate", "addr": 1 << 30, "size": 9 << 20, "stream": 0, "user_metadata": "<b>again"}]]}))
    plot(source, target)
    data = json.loads(Parts(target.read_text(encoding="utf-8")).data)
    size, notes = numbers("d", data["bands"]["size"]), numbers("I", data["bands"]["annotation"])
    texts = {int(size[b]) >> 20: data["strings"][notes[b] - 1] if notes[b] else "" for b in range(2)}
    if texts != {1: "", 9: "Big one; <b>again"}:
        yield f"annotations are {texts}"
    if page is None:
        return
    page.open(target)
    band, x, y = page.evaluate(LARGE)
    page.move(x, y)
    if "Big one; <b>again" not in text_of(page, "tip"):
        yield f"the tip lacks the annotation: {text_of(page, 'tip')}"
    page.click(x, y)
    if "annotationBig one; <b>again" not in text_of(page, "chosen"):
        yield f"the details lack the annotation: {text_of(page, 'chosen')}"
    page.evaluate("thePage.search('BIG ONE')")
    page.settle()
    if not text_of(page, "found").startswith("1 found") or not page.evaluate(f"thePage.finder.found[{band}]"):
        yield f"the search finds: {text_of(page, 'found')}"
    page.screenshot(PICTURES / "annotated.png")
    yield from quiet_problems(page, target)


def script_problems():
    """The syntax of each file of the script, where there is a Node.js to ask."""
    node = shutil.which("node")
    files = sorted((captures.TOP / "src" / "render" / "page").glob("*.js"))
    if len(files) < 5:
        yield f"only {len(files)} files"
    if not node:
        print("note: no Node.js: the syntax of the script is not checked by itself")
    for path in files if node else []:
        done = subprocess.run([node, "--check", str(path)], capture_output=True, check=False)
        if done.returncode != 0:
            yield f"{path.name}: {done.stderr.decode(errors='replace')}"


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


def main():
    tally = captures.Tally()
    tally.check("syntax", script_problems())
    path = browser.find()
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = []
        for source in captures.samples() + captures.corpus():
            target = folder / (source.name.split(".")[0] + ".html")
            if b"no device" in captures.analyze(source).stdout:
                continue
            tally.check(f"page of {source.name}", page_problems(source, target))
            made.append(target)
        tally.check("a full page", full_problems(folder))
        if not path:
            print("note: no Chromium: what the page does is not tested, only what is in it")
            tally.check("evil names", evil_problems(None, folder))
            tally.check("annotations", annotated_problems(None, folder))
        else:
            look(tally, path, folder, made)
    tally.end()


def looked_into(made):
    """One sample of each kind, and all real captures."""
    samples = {path.name.split(".")[0] for path in captures.samples()}
    return [path for path in made if path.stem not in samples or path.stem in SAMPLES]


def look(tally, path, folder, made):
    with browser.Browser(path) as page:
        for target in captures.some(looked_into(made)):
            tally.check(f"looking into {target.stem}", look_problems(page, target))
        tally.check("links", link_problems(page, made[0]))
        tally.check("evil names", evil_problems(page, folder))
        tally.check("annotations", annotated_problems(page, folder))
        tally.check("without JavaScript", still_problems(page, made[0]))
    with browser.Browser(path, width=500, height=900, dark=True) as page:
        tally.check("dark and narrow", look_problems(page, made[-1]))


if __name__ == "__main__":
    main()
