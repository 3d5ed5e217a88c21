#!/usr/bin/env python3
"""What a browser tells of the shapes of an SVG: every band that a pointer can find has a title, and it is
that band's own, by its height, its ends and its colour; and, where there is a Chromium, it is what lies
under a pointer. And what bounds the time that a browser takes to draw: bytes, shapes and points."""
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
           "communication": 0x332288, "workspace": 0x999933,
           "kv cache": 0x661100, "cast cache": 0xB4A7D6}
MOVE = re.compile(r"([Mhvlz])(-?[0-9.]*) ?(-?[0-9.]*)")
TITLES_MOST = 3000
BYTES_MOST, SHAPES_MOST, POINTS_MOST = 8 << 20, 12000, 260000
NOT_TOLD = {"before the trace", "not in the trace"}


def settings(script):
    found = re.findall(r"^(\w+) = ([-+0-9.e]+)$", script, re.M)
    return {name: float(value) for name, value in found}


def unit_of(script):
    return UNITS[re.search(r"active memory \(requested sizes\), (\w+)'", script).group(1)]


def is_shade(colour, of):
    """Bands of one colour differ by their shades, towards white."""
    parts = [((colour >> s) & 255, (of >> s) & 255) for s in (16, 8, 0)]
    return any(all(abs(255 - (255 - base) * keep // 256 - part) <= 1 for part, base in parts)
               for keep in (256, 236, 216))


def points_of(path):
    """The corners of a path, which may be several shapes."""
    x = y = 0
    for kind, first, second in MOVE.findall(path):
        if kind == "M":
            x, y = float(first), float(second)
        elif kind == "h":
            x += float(first)
        elif kind == "v":
            y += float(first)
        elif kind == "l":
            x, y = x + float(first), y + float(second)
        if kind != "z":
            yield x, y


def cost_problems(tree, target):
    paths = [p.get("d") for p in tree.iter(SVG + "path")]
    shapes = len(paths) + sum(1 for kind in ("polygon", "text", "use") for _ in tree.iter(SVG + kind))
    points = sum(len(re.findall(r"[MLHVhvlml]", path)) for path in paths)
    dashes = 0  # of strokes: each is drawn by itself
    for path in tree.iter(SVG + "path"):
        pattern = [float(part) for part in (path.get("stroke-dasharray") or "").split(",") if part]
        if pattern:
            ends = [float(n) for n in re.findall(r"-?[0-9.]+", path.get("d"))]
            length = sum(abs(ends[i] - ends[i - 2]) for i in range(2, len(ends)) if i // 2 % 2)
            dashes += 2 * length / sum(pattern)
    for what, found, most in (("bytes", target.stat().st_size, BYTES_MOST), ("shapes", shapes, SHAPES_MOST),
                              ("points", points, POINTS_MOST), ("dashes", dashes, POINTS_MOST)):
        if found > most:
            yield f"{found:.0f} {what}"


def size_of(text):
    number, unit = text.replace(",", "").split(" ")
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


def visible(bands, values, side):
    """How many of the bands are at least `side` pixels wide and high."""
    across = (values["right"] - values["left"]) * WIDTH / (values["x_last"] - values["x_first"])
    up = (values["top"] - values["bottom"]) * HEIGHT / (values["y_top"] * 1.05)
    count = 0
    for shape in bands.read_text().split("\n\n"):
        points = [tuple(map(float, line.split("\t")[:2])) for line in shape.splitlines() if line[:1] not in "#"]
        if points:
            wide = max(x for x, _ in points) - points[0][0]
            count += wide * across >= side and (points[-1][1] - points[0][1]) * up >= side
    return count


def svg_problems(folder, source, target, arguments=()):
    script = folder / (target.stem + "-script")
    done = subprocess.run([captures.MEMSNAP, "plot", *arguments, str(source), "--out", str(target),
                           "--script", str(script)], capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        yield f"status {done.returncode}: {done.stderr.decode(errors='replace')}"
        return
    text = (script / "plot.gp").read_text()
    values, unit = settings(text), unit_of(text)
    columns = len((script / "curves.tsv").read_text().splitlines()) // 2
    scale = values, unit, (values["right"] - values["left"]) * WIDTH / max(columns, 1)
    tree = xml.etree.ElementTree.parse(target)
    titled = [p for p in tree.iter(SVG + "path") if p.find(SVG + "title") is not None]
    yield from cost_problems(tree, target)
    least, most = (visible(script / "bands.tsv", values, side) for side in (0.76, 0.74))
    if not min(least, TITLES_MOST // 2) <= len(titled) <= min(most, TITLES_MOST):
        yield f"{len(titled)} titles of {least} to {most} bands"
    for shape in titled:
        points = list(points_of(shape.get("d")))
        title = shape.find(SVG + "title").text
        for problem in band_problems(points, int(shape.get("fill")[1:], 16), title, scale,
                                     "--color" not in arguments):
            yield f"{title!r}: {problem}"


def boxes_of(tree):
    """The titled shapes: left, right, title."""
    for shape in tree.iter(SVG + "path"):
        title = shape.find(SVG + "title")
        if title is not None:
            points = list(points_of(shape.get("d")))
            yield min(x for x, _ in points), max(x for x, _ in points), title.text.split("\n")


def rows_of(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]


def size_problems(boxes, bytes_of_pixel):
    """Is each as wide as the size in its title?"""
    for left, right, lines in boxes:
        found = re.match(r"[-0-9.,]+ \w+", lines[1])
        if not found:
            yield f"no size: {lines}"
            continue
        told, step = size_of(found.group(0))
        if abs((right - left) * bytes_of_pixel - told) > 0.01 * step + 1.0 * bytes_of_pixel:
            yield f"{lines} is {right - left} pixels wide"


def kind_problems(folder, source, kind):
    target, script = folder / f"{kind}.svg", folder / f"{kind}-script"
    done = subprocess.run([captures.MEMSNAP, "plot", "--kind", kind, str(source), "--out", str(target),
                           "--script", str(script)], capture_output=True, check=False)
    if done.returncode != 0 or done.stderr:
        yield f"status {done.returncode}: {done.stderr.decode(errors='replace')}"
        return
    tree = xml.etree.ElementTree.parse(target)
    yield from cost_problems(tree, target)
    values = settings((script / "plot.gp").read_text())
    boxes = list(boxes_of(tree))
    across, sure = (values["right"] - values["left"]) * WIDTH, 0.77
    if kind == "flame":
        pixel = values["x_top"] * values["x_unit"] / across
        wide = [float(row[1]) - float(row[0]) for row in rows_of(script / "frames.tsv")]
        yield from size_problems(boxes, pixel)
    elif kind == "sites":
        unit = UNITS[re.search(r"x_label = '(\w+)'", (script / "plot.gp").read_text()).group(1)]
        pixel = values["x_top"] / across
        wide = [float(row[1]) for row in rows_of(script / "bars.tsv")]
        yield from size_problems(boxes, pixel * unit)
    elif kind == "segments":
        pixel = values["row_size"] / across
        # mixtures of small pieces have none: they are hardly wider than a pixel
        wide = [float(row[1]) - float(row[0]) for row in rows_of(script / "segments.tsv")]
        sure = 2
    else:
        pixel = 1
        rows = rows_of(script / "phase-bars.tsv")
        up = (values["top"] - values["bottom"]) * HEIGHT / (values["y_top"] * 1.05)
        wide = [float(row[column]) * up for column in (1, 2) for row in rows]
    least, most = (sum(w >= side * pixel for w in wide) for side in (sure, 0.73))
    if not least <= len(boxes) <= most:
        yield f"{len(boxes)} titles of {least} to {most} boxes"


# Shapes with a title, by their titles' texts: does a place within each belong to it, and can it be
# seen there? Titles are told for what is under the pointer, or for what holds that.
HOVER = """(() => {
  const wrong = [];
  let tried = 0;
  for (const title of document.querySelectorAll('path > title')) {
    const shape = title.parentNode;
    const points = [];
    let x = 0, y = 0;
    for (const [, kind, one, two] of shape.getAttribute('d').matchAll(/([Mhvl])(-?[0-9.]*) ?(-?[0-9.]*)/g)) {
      if (kind === 'M') [x, y] = [+one, +two];
      if (kind === 'h' || kind === 'l') x += +one;
      if (kind === 'v') y += +one;
      if (kind === 'l') y += +two;
      points.push({x, y});
    }
    const a = points[0], b = points[1], top = points[points.length - 1];
    if (!b || b.x - a.x < 4 || a.y - top.y < 4) continue;
    const place = new DOMPoint((a.x + b.x) / 2, (a.y + top.y) / 2).matrixTransform(shape.getScreenCTM());
    const hit = document.elementFromPoint(place.x, place.y);
    tried++;
    // a phase's two bars tell the same
    if (hit !== shape && hit?.querySelector('title')?.textContent !== title.textContent) wrong.push(title.textContent + ': ' + (hit ? hit.outerHTML.slice(0, 100) : hit));
  }
  const areas = new Set();  // what is told along lines through the graph
  for (let y = 120; y < 840; y += 9)
    for (let x = 90; x < 1290; x += 12)
      areas.add(document.elementFromPoint(x, y)?.querySelector(':scope > title')?.textContent);
  areas.delete(undefined);
  return [tried || areas.size, wrong.slice(0, 5), document.querySelectorAll('script').length];
})()"""


def hover_problems(page, target):
    page.open(target)
    tried, wrong, scripts = page.evaluate(HOVER)
    yield from wrong
    if scripts or len(page.told("Network.requestWillBeSent")) != 1:
        yield f"{scripts} scripts, {len(page.told('Network.requestWillBeSent'))} requests"
    if tried < 4 and "leak" in target.name:
        yield f"{tried} places to hover over"


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
        for source in captures.samples() + captures.corpus():
            for kind in ("flame", "sites", "segments", "phases"):
                tally.check(f"{kind} of {source.name}", kind_problems(folder, source, kind))
        for kind in ("report", "categories", "flame", "sites", "segments", "phases"):
            one = folder / f"leak-{kind}.svg"
            subprocess.run([captures.MEMSNAP, "plot", "--kind", kind, str(captures.TOP / "samples" / "leak.pickle.gz"),
                            "--out", str(one), "--size", f"{WIDTH}x{HEIGHT}"], check=True)
            made.append(one)
        if not path:
            print("note: no Chromium: what hovering shows is not tested")
        else:
            with browser.Browser(path, width=WIDTH, height=HEIGHT) as page:
                for target in captures.some(made):
                    tally.check(f"hovering in {target.stem}", hover_problems(page, target))
    tally.end()


if __name__ == "__main__":
    main()
