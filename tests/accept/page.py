#!/usr/bin/env python3
"""The page that `memsnap plot --out FILE.html` writes: what it says against `memsnap analyze`, its
policy, and, where there is a Chromium, that it can be looked into, and that no name of a capture is
more than text. Pictures of it are left in the folder page-pictures, for people to look at."""
import json
import pathlib
import shutil
import subprocess
import tempfile

import browser
import captures
from page_file import Parts, full_problems, numbers, page_problems, plot, policy_problems
from page_look import LARGE, PICTURES, link_problems, look_problems, quiet_problems, still_problems, text_of

SAMPLES = ("history-off", "leak", "oom", "train-loop", "two-devices")

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
