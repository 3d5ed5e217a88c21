"use strict";
/* The map of the blocks at one moment: the segments by address, one after the other, on lines that
 * wrap like text. A byte has the same width in all of them. */

const MAP_LINE = 15; /* pixels of the page, with the gap below */
const MAP_GAP = 3; /* between segments, across */
const BLOCK_WORDS = ["free", "allocated", "waiting to be freed"];
const MAP_PENDING = 0xd55e00;

class BlockMap {
    /* `actions`: choose(band), moved(). */
    constructor(data, actions) {
        this.data = data;
        this.layout = data.layout;
        this.actions = actions;
        this.canvas = byId("blocks");
        this.only = null; /* the address of the segment that is shown alone */
        this.bandOfItem = new Map();
        this.bandOfAddress = new Map(); /* allocated before the trace */
        const {born, address, count} = data.bands;
        for (let b = 0; b < count; b++) {
            if (born[b] === NEVER) {
                this.bandOfAddress.set(address[b], b);
            } else {
                this.bandOfItem.set(born[b], b);
            }
        }
        const {moments, words} = this.layout;
        byId("layout-words").textContent = words;
        byId("layout-map").hidden = moments.length === 0;
        this.listen();
        if (moments.length > 0) {
            this.slider.max = String(moments.length - 1);
            this.slider.disabled = moments.length < 2;
            const peak = data.peak.known && data.peak.item !== undefined ? data.peak.item + 1 : 0;
            this.goTo(data.peak.known ? nearestMoment(this.layout, peak) : moments.length - 1);
        }
    }

    listen() {
        const {canvas} = this;
        this.slider = byId("layout-slider");
        this.slider.addEventListener("input", () => {
            this.goTo(Number(this.slider.value));
            this.actions.moved();
        });
        byId("layout-all").addEventListener("click", () => this.show(null));
        const spanAt = (event) => {
            const box = canvas.getBoundingClientRect();
            return this.spanAt(event.clientX - box.left, event.clientY - box.top);
        };
        canvas.addEventListener("pointermove", (event) => this.tell(spanAt(event)));
        canvas.addEventListener("pointerleave", () => this.tell(null));
        canvas.addEventListener("click", (event) => {
            const found = spanAt(event);
            this.actions.choose(found ? this.bandOf(found.span.block) : -1);
        });
        canvas.addEventListener("dblclick", (event) => {
            const found = spanAt(event);
            this.show(found && this.only === null ? found.segment.address : null);
        });
    }

    /* Shows one segment alone; null: all. */
    show(address) {
        this.only = address;
        this.draw(this.theme, this.groups);
    }

    /* To a moment of the page, by its index. */
    goTo(index) {
        this.index = index;
        this.moment = this.layout.moments[index];
        this.slider.value = String(index);
        this.now = layoutAt(this.layout, this.moment);
    }

    /* The band of a block, or -1. */
    bandOf(block) {
        if (block < 0) {
            return -1;
        }
        const {from, address} = this.layout.blocks;
        const band = from[block] > 0 ? this.bandOfItem.get(from[block] - 1)
            : this.bandOfAddress.get(address[block]);
        return band === undefined ? -1 : band;
    }

    resize() {
        const ratio = Math.min(window.devicePixelRatio || 1, 2);
        const box = this.canvas.getBoundingClientRect();
        this.canvas.width = Math.round(box.width * ratio);
        this.canvas.height = Math.round(box.height * ratio);
        this.wide = Math.max(box.width, 50);
        this.lines = Math.max(Math.floor(box.height / MAP_LINE), 1);
        this.ratio = ratio;
    }

    /* Where the segments begin, in pixels along all lines. */
    place() {
        const all = this.now.segments.filter((s) => this.only === null || s.address === this.only);
        this.shown = all.length > 0 ? all : this.now.segments;
        const room = this.wide * this.lines, bytes = this.shown.reduce((sum, s) => sum + s.size, 0);
        const gaps = Math.min(MAP_GAP, (room / 4) / Math.max(this.shown.length, 1));
        this.scale = (room - gaps * this.shown.length) / Math.max(bytes, 1);
        let at = 0;
        for (const segment of this.shown) {
            segment.at = at;
            at += segment.size * this.scale + gaps;
        }
    }

    draw(theme, groups) {
        this.theme = theme;
        this.groups = groups;
        const context = this.canvas.getContext("2d");
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        context.clearRect(0, 0, this.wide, this.lines * MAP_LINE);
        this.place();
        for (const segment of this.shown) {
            this.fill(context, segment.at, segment.size * this.scale, theme.css.panel);
            this.fill(context, segment.at, segment.size * this.scale, theme.css.soft, MAP_LINE - 4);
            for (const span of segment.spans) {
                if (span.state !== BLOCK_FREE) {
                    this.drawSpan(context, segment, span);
                }
            }
        }
        byId("layout-all").hidden = this.only === null;
        this.tell(null);
    }

    drawSpan(context, segment, span) {
        const at = segment.at + span.offset * this.scale, size = span.size * this.scale;
        const band = this.bandOf(span.block);
        const colour = band < 0 ? this.theme.css.rest
            : cssColour(this.groups.colours[this.groups.of[band]]);
        this.fill(context, at, size > 2 ? size - 0.5 : size, colour);
        if (span.state === BLOCK_PENDING) {
            this.fill(context, at, size, cssColour(MAP_PENDING), (MAP_LINE - 3) / 2);
        }
    }

    /* Along the lines; `from`: the first pixel below the top of a line. */
    fill(context, at, size, colour, from = 0) {
        const {wide} = this;
        context.fillStyle = colour;
        for (let left = at, end = at + Math.max(size, 0.3); left < end;) {
            const line = Math.floor(left / wide), stop = Math.min((line + 1) * wide, end);
            context.fillRect(left - line * wide, line * MAP_LINE + from, stop - left, MAP_LINE - 3 - from);
            if (stop <= left) {
                break;
            }
            left = stop;
        }
    }

    /* {segment, span} at a place of the canvas; null between segments. */
    spanAt(x, y) {
        if (!this.shown || y < 0 || x < 0 || x >= this.wide) {
            return null;
        }
        const at = Math.floor(y / MAP_LINE) * this.wide + x;
        for (const segment of this.shown) {
            const offset = (at - segment.at) / this.scale;
            if (offset >= 0 && offset < segment.size) {
                const span = segment.spans.find((s) => offset < s.offset + s.size);
                return span ? {segment, span} : null;
            }
        }
        return null;
    }

    /* The line below the map: of the span under the pointer, else of all. */
    tell(found) {
        byId("layout-sums").textContent = found ? this.spanText(found) : this.sumsText();
    }

    spanText({segment, span}) {
        const {data} = this, band = this.bandOf(span.block);
        const address = segment.address + BigInt(Math.round(span.offset));
        const pool = segment.high || segment.low ? `, ${segment.high ? "graph" : "private"} pool (${segment.high}, ${segment.low})` : "";
        const kind = segment.expandable ? "expandable" : ["", "small", "large"][segment.class];
        return `${sizeText(span.size)} ${BLOCK_WORDS[span.state]} at 0x${address.toString(16)}` +
            (band < 0 ? "" : `, for ${sizeText(data.bands.size[band])} ${labelOf(data, band)}`) +
            `; ${kind} segment of ${sizeText(segment.size)} at 0x${segment.address.toString(16)}` +
            `, stream ${segment.stream}${pool}`;
    }

    sumsText() {
        if (!this.now) {
            return "";
        }
        const {reserved, of} = layoutSums(this.now.segments), free = of[BLOCK_FREE];
        const blocks = (sum) => `${sizeText(sum.bytes)} in ${countText(sum.count)}`;
        return `${sizeText(reserved)} in ${countText(this.now.segments.length)} segments: ` +
            `allocated ${blocks(of[BLOCK_ALLOCATED])}, waiting to be freed ${blocks(of[BLOCK_PENDING])}, ` +
            `free ${blocks(free)} blocks` + (free.count > 0 ? `, the largest ${sizeText(free.largest)}` : "") +
            (this.now.stray > 0 ? `; ${countText(this.now.stray)} more lie in no segment` : "");
    }
}
