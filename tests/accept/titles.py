#!/usr/bin/env python3
"""What a browser tells of the bands of an SVG: every band has a title, and it is that band's own, by
its height, its ends and its colour; and, where there is a Chromium, it is what lies under a pointer."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import browser
import captures

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT = 1600, 900
UNITS = {"B": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
COLOURS = {"unknown": 0x6E6E6E, "parameter": 0x0072B2, "optimizer state": 0x009E73, "gradient": 0xD55E00,
           "input": 0x882255, "activation": 0xF0C63C, "autograd detail": 0x56B4E9, "temporary": 0xCC79A7,
           "communication": 0x332288, "workspace": 0x999933}
NOT_TOLD = {"before the trace", "not in the trace"}


def settings(script):
    found = re.findall(r"^(\w+) = ([-+0-9.e]+)$", script, re.M)
    axis = re.search(r"active memory \(requested sizes\), (\w+)'", script)
    return {name: float(value) for name, value in found}, UNITS[axis.group(1)]


def is_shade(colour, of):
    """Bands of one colour differ by their shades, towards white."""
    parts = [((colour >> s) & 255, (of >> s) & 255) for s in (16, 8, 0)]
    return any(all(abs(255 - (255 - base) * keep // 256 - part) <= 1 for part, base in parts)
               for keep in (256, 236, 216))


def size_of(text):
    number, unit = text.split(" ")
    return float(number) * UNITS[unit], UNITS[unit]


def band_problems(points, colour, title, scale, by_category):
    """`scale`: settings of the script, bytes of a unit of the axis, pixels of a column."""
    lines = title.split("\n")
    values, unit, column = scale
    size, category = lines[1].rsplit(", ", 1) if ", " in lines[1] else (lines[1], "")
    if by_category and category in COLOURS and not is_shade(colour, COLOURS[category]):
        yield f"{category} is {colour:06x}"
    left, right = values["left"] * WIDTH, values["right"] * WIDTH
    graph = (values["top"] - values["bottom"]) * HEIGHT
    told, step = size_of(size)
    drawn = (points[0][1] - points[-1][1]) / graph * values["y_top"] * 1.05 * unit
    pixel = values["y_top"] * 1.05 * unit / graph
    if abs(told - drawn) > 0.01 * step + 0.05 * pixel:
        yield f"{size} is drawn as {drawn:.0f} bytes"
    per_event = (right - left) / (values["x_last"] - values["x_first"])
    for what, x in (("allocated", points[0][0]), ("freed", max(p[0] for p in points))):
        line = next(line for line in lines[2:] if line.startswith(what + " "))
        event = re.match(r"\w+ at event ([0-9,]+)", line)
        if not event:
            if line[len(what) + 1:] not in NOT_TOLD:
                yield f"tells {line}"
            place = left if what == "allocated" else right
        else:
            place = left + (int(event.group(1).replace(",", "")) - values["x_first"]) * per_event
        if abs(x - place) > 1.5 * column:
            yield f"{line}, but it is drawn at {x:.1f}, not {place:.1f}"


def svg_problems(folder, source, target, arguments=()):
    script = folder / (target.stem + "-script")
    done = subprocess.run([captures.MEMSNAP, "plot", *arguments, str(source), "--out", str(target),
                           "--script", str(script)], capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        yield f"status {done.returncode}: {done.stderr.decode(errors='replace')}"
        return
    shapes = (script / "bands.tsv").read_text().count("\n\n")
    values, unit = settings((script / "plot.gp").read_text())
    columns = len((script / "curves.tsv").read_text().splitlines()) // 2
    scale = values, unit, (values["right"] - values["left"]) * WIDTH / max(columns, 1)
    tree = xml.etree.ElementTree.parse(target)
    titled = [p for p in tree.iter(SVG + "polygon") if p.find(SVG + "title") is not None]
    if len(titled) != shapes:
        yield f"{len(titled)} titles of {shapes} bands"
    for polygon in titled:
        points = [tuple(map(float, p.split(","))) for p in polygon.get("points").split()]
        red, green, blue = map(int, re.findall(r"\d+", polygon.get("fill")))
        title = polygon.find(SVG + "title").text
        for problem in band_problems(points, red << 16 | green << 8 | blue, title, scale,
                                     "--color" not in arguments):
            yield f"{title!r}: {problem}"


# Polygons with a title, by their titles' texts: does a place within each belong to it, and can it be
# seen there? Titles are told for what is under the pointer, or for what holds that.
HOVER = """(() => {
  const wrong = [];
  let tried = 0;
  for (const polygon of document.querySelectorAll('polygon > title')) {
    const shape = polygon.parentNode, points = [...shape.points];
    const a = points[0], b = points[1], top = points[points.length - 1];
    if (b.x - a.x < 4 || a.y - top.y < 4) continue;
    const place = new DOMPoint((a.x + b.x) / 2, (a.y + top.y) / 2).matrixTransform(shape.getScreenCTM());
    const hit = document.elementFromPoint(place.x, place.y);
    tried++;
    if (hit !== shape) wrong.push(polygon.textContent + ': ' + (hit ? hit.outerHTML.slice(0, 100) : hit));
  }
  return [tried, wrong.slice(0, 5), document.querySelectorAll('script').length];
})()"""


def hover_problems(page, target):
    page.open(target)
    tried, wrong, scripts = page.evaluate(HOVER)
    yield from wrong
    if scripts or len(page.told("Network.requestWillBeSent")) != 1:
        yield f"{scripts} scripts, {len(page.told('Network.requestWillBeSent'))} requests"
    if not tried and "leak" in target.name:
        yield "nothing to hover over"


def main():
    if not shutil.which("gnuplot"):
        print("skipped: there is no gnuplot to draw with")
        sys.exit(captures.SKIPPED)
    tally = captures.Tally()
    path = browser.find()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = []
        for source in captures.samples() + captures.corpus():
            target = folder / (source.name.split(".")[0] + ".svg")
            tally.check(f"titles of {source.name}", svg_problems(folder, source, target))
            made.append(target)
        one = folder / "many.svg"
        tally.check("10000 bands", svg_problems(folder, captures.TOP / "samples" / "leak.pickle.gz", one,
                                                ("--bands", "10000", "--color", "site")))
        if not path:
            print("note: no Chromium: what hovering shows is not tested")
        else:
            with browser.Browser(path, width=WIDTH, height=HEIGHT) as page:
                for target in made:
                    tally.check(f"hovering in {target.stem}", hover_problems(page, target))
    tally.end()


if __name__ == "__main__":
    main()
