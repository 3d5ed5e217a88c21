"""What a user does with the page that `memsnap plot --out FILE.html` writes, in a browser."""
import json
import pathlib

PICTURES = pathlib.Path("page-pictures")

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
