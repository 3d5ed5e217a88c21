"use strict";
/* The chart: bands, curves, axes and phases on one canvas, what follows the pointer on another. */

const MARGIN = {left: 78, right: 10, top: 22, bottom: 36}; /* pixels of the page */
const PHASE_COLOURS = ["#f2f2f2", "#ededed", "#e6ddee", "#dce8f5", "#c3d6e6", "#a9c0d6"];

class Chart {
    constructor(canvas, overlay, data, view) {
        this.canvas = canvas;
        this.overlay = overlay;
        this.data = data;
        this.view = view;
        this.stack = new LiveStack(data.bands);
        this.raster = new Raster(data, this.stack);
        this.groups = groupsBy(data, data.colour);
        this.found = null; /* by band: 1 where a search found it */
        this.theme = readTheme();
        this.resize();
    }

    resize() {
        const ratio = Math.min(window.devicePixelRatio || 1, 2);
        const box = this.canvas.getBoundingClientRect();
        this.ratio = ratio;
        this.wide = Math.max(box.width - MARGIN.left - MARGIN.right, 50);
        this.high = Math.max(box.height - MARGIN.top - MARGIN.bottom, 50);
        for (const canvas of [this.canvas, this.overlay]) {
            canvas.width = Math.round(box.width * ratio);
            canvas.height = Math.round(box.height * ratio);
        }
        this.raster.resize(Math.round(this.wide * ratio), Math.round(this.high * ratio));
        this.image = new ImageData(this.raster.width, this.raster.height);
        this.recolour();
    }

    recolour() {
        this.table = bandPixels(this.groups, this.found, this.theme);
    }

    /* Pixels of the page, from its values and back. */
    xOf(value) {
        return MARGIN.left + ((value - this.view.x0) / (this.view.x1 - this.view.x0)) * this.wide;
    }

    yOf(bytes) {
        const share = (bytes - this.view.y0) / (this.view.y1 - this.view.y0);
        return MARGIN.top + (1 - share) * this.high;
    }

    shareX(x) {
        return Math.min(Math.max((x - MARGIN.left) / this.wide, 0), 1);
    }

    shareY(y) {
        return Math.min(Math.max(1 - (y - MARGIN.top) / this.high, 0), 1);
    }

    pixelX(x) {
        return Math.floor((x - MARGIN.left) * this.ratio);
    }

    /* The band at a place of the canvas, or raster.rest or .nothing. */
    bandAt(x, y) {
        const up = this.raster.height - 1 - Math.floor((y - MARGIN.top) * this.ratio);
        return this.raster.at(this.pixelX(x), up);
    }

    /* The column of the trace that is shown at `x`. */
    momentAt(x) {
        const p = Math.min(Math.max(this.pixelX(x), 0), this.raster.width - 1);
        return this.raster.moments[p];
    }

    draw() {
        this.raster.draw(this.view);
        this.paint();
    }

    /* The same bands in other colours. */
    paint() {
        const context = this.canvas.getContext("2d");
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.fillStyle = this.theme.css.paper;
        context.fillRect(0, 0, this.canvas.width, this.canvas.height);
        this.turn();
        const left = Math.round(MARGIN.left * this.ratio), top = Math.round(MARGIN.top * this.ratio);
        context.putImageData(this.image, left, top);
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        this.drawBytes(context);
        this.drawAxis(context);
        this.drawPhases(context);
        this.drawReserved(context);
        this.drawLabels(context);
        this.drawPeak(context);
    }

    /* From columns that grow upwards to rows from the top, tile by tile for the cache's sake. */
    turn() {
        const {width, height, pixels} = this.raster, table = this.table;
        const image = new Uint32Array(this.image.data.buffer), tile = 32;
        for (let x0 = 0; x0 < width; x0 += tile) {
            const x1 = Math.min(x0 + tile, width);
            for (let y0 = 0; y0 < height; y0 += tile) {
                const y1 = Math.min(y0 + tile, height);
                for (let y = y0; y < y1; y++) {
                    const row = y * width, up = height - 1 - y;
                    for (let x = x0; x < x1; x++) {
                        image[row + x] = table[pixels[x * height + up]];
                    }
                }
            }
        }
    }

    drawBytes(context) {
        const {view, theme} = this;
        const step = roundStep(view.y1 - view.y0, Math.max(this.high / 60, 2), 2);
        const unit = unitOf(view.y1);
        const digits = Math.max(0, Math.ceil(-Math.log2(step / 1024 ** unit) * 0.5));
        context.font = "12px sans-serif";
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (let bytes = Math.ceil(view.y0 / step) * step; bytes <= view.y1; bytes += step) {
            const y = Math.round(this.yOf(bytes)) + 0.5;
            context.strokeStyle = theme.css.soft;
            context.globalAlpha = 0.25;
            line(context, MARGIN.left, y, MARGIN.left + this.wide, y);
            context.globalAlpha = 1;
            context.fillStyle = theme.css.soft;
            const text = (bytes / 1024 ** unit).toFixed(Math.min(digits, 3));
            context.fillText(bytes === 0 ? "0" : `${text} ${UNITS[unit]}`, MARGIN.left - 6, y);
        }
    }

    drawAxis(context) {
        const {view, theme} = this, time = view.axis === "time";
        const span = view.x1 - view.x0, bottom = MARGIN.top + this.high;
        const step = Math.max(roundStep(span, Math.max(this.wide / 110, 2), 10), time ? 0 : 1);
        context.strokeStyle = theme.css.soft;
        context.fillStyle = theme.css.soft;
        context.textAlign = "center";
        context.textBaseline = "top";
        line(context, MARGIN.left, bottom + 0.5, MARGIN.left + this.wide, bottom + 0.5);
        for (let x = Math.ceil(view.x0 / step) * step; x <= view.x1; x += step) {
            const at = Math.round(this.xOf(x)) + 0.5;
            line(context, at, bottom, at, bottom + 4);
            context.fillText(time ? tickTime(x, step, span) : countText(x), at, bottom + 6);
        }
        context.textAlign = "left";
        const name = time ? "since the first event" : "allocator event";
        context.fillText(name, MARGIN.left, bottom + 21);
    }

    drawPhases(context) {
        const {data, view} = this, {first, kind, names} = data.phases;
        context.font = "11px sans-serif";
        context.textAlign = "center";
        context.textBaseline = "middle";
        let last = -1; /* of the pixels that have one: none is drawn over another */
        for (let i = 0; i < first.length; i++) {
            const end = i + 1 < first.length ? first[i + 1] : data.columns;
            const from = Math.max(this.xOf(view.edges[first[i]]), MARGIN.left);
            const to = Math.min(this.xOf(view.edges[end]), MARGIN.left + this.wide);
            if (to < MARGIN.left || from > MARGIN.left + this.wide || to - last < 0.5) {
                continue;
            }
            last = to;
            context.fillStyle = PHASE_COLOURS[kind[i]] || PHASE_COLOURS[0];
            context.fillRect(from, 3, Math.max(to - from, 0.5), 15);
            const name = names[kind[i]].replace("_", " ");
            if (to - from > 7 * name.length) {
                context.fillStyle = "#222222";
                context.fillText(name, (from + to) / 2, 11);
            }
        }
    }

    drawReserved(context) {
        const {raster, theme} = this;
        context.save();
        context.beginPath();
        context.rect(MARGIN.left, MARGIN.top, this.wide, this.high);
        context.clip();
        context.beginPath();
        for (let p = 0; p < raster.width; p++) {
            const x = MARGIN.left + p / this.ratio, y = this.yOf(raster.reserved[p]);
            context.lineTo(x, y);
            context.lineTo(x + 1 / this.ratio, y);
        }
        context.strokeStyle = theme.css.curve;
        context.lineWidth = 1.6;
        context.stroke();
        context.restore();
    }

    drawLabels(context) {
        const ratio = this.ratio;
        context.font = "11px sans-serif";
        context.textAlign = "left";
        context.textBaseline = "middle";
        for (const place of labelPlaces(this.raster, 14 * ratio)) {
            const room = (place.to - place.from) / ratio - 8;
            if (room < 60 || (this.found && !this.found[place.band])) {
                continue;
            }
            const annotation = annotationOf(this.data, place.band);
            const text = `${sizeText(this.data.bands.size[place.band])} ${labelOf(this.data, place.band)}` +
                (annotation ? `, ${annotation}` : "");
            const y = MARGIN.top + this.high - (place.low + place.high) / 2 / ratio;
            context.fillStyle = textOn(this.groups.colours[this.groups.of[place.band]]);
            context.fillText(fitText(context, text, room), MARGIN.left + place.from / ratio + 5, y);
        }
    }

    drawPeak(context) {
        const {data, view, theme} = this;
        if (!data.peak.known) {
            return;
        }
        const x = this.xOf((view.edges[data.peak.column] + view.edges[data.peak.column + 1]) / 2);
        const y = this.yOf(data.peak.bytes);
        if (x < MARGIN.left || x > MARGIN.left + this.wide || y < MARGIN.top || y > MARGIN.top + this.high) {
            return;
        }
        const text = `peak ${sizeText(data.peak.bytes)}`;
        const isRight = x > MARGIN.left + this.wide / 2;
        context.fillStyle = theme.css.ink;
        context.strokeStyle = theme.css.paper;
        context.lineWidth = 3;
        context.font = "bold 12px sans-serif";
        context.textAlign = isRight ? "right" : "left";
        context.textBaseline = "bottom";
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x - 4, y - 8);
        context.lineTo(x + 4, y - 8);
        context.fill();
        context.strokeText(text, x + (isRight ? -8 : 8), y - 2);
        context.fillText(text, x + (isRight ? -8 : 8), y - 2);
        context.lineWidth = 1;
    }

    /* Draws everything that follows the pointer. `x` is NaN if the pointer is outside. A band of -1
     * means none, and so does the column of the map of blocks. */
    drawOverlay(x, hovered, chosen, mapped) {
        const context = this.overlay.getContext("2d"), {theme} = this;
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.clearRect(0, 0, this.overlay.width, this.overlay.height);
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        if (chosen >= 0) {
            this.drawEnds(context, chosen);
            this.fillBand(context, chosen, theme.css.mark, 0.85);
        }
        if (hovered >= 0 && hovered !== chosen) {
            this.fillBand(context, hovered, theme.css.ink, 0.35);
        }
        if (mapped >= 0) {
            this.drawMapped(context, mapped);
        }
        if (x >= MARGIN.left && x <= MARGIN.left + this.wide) {
            context.strokeStyle = theme.css.ink;
            context.globalAlpha = 0.6;
            line(context, Math.round(x) + 0.5, MARGIN.top, Math.round(x) + 0.5, MARGIN.top + this.high);
            context.globalAlpha = 1;
        }
    }

    /* The moment of the map of blocks: a line with a mark below. */
    drawMapped(context, column) {
        const edges = this.view.edges, bottom = MARGIN.top + this.high;
        const x = Math.round(this.xOf((edges[column] + edges[column + 1]) / 2)) + 0.5;
        if (x < MARGIN.left || x > MARGIN.left + this.wide) {
            return;
        }
        context.strokeStyle = context.fillStyle = this.theme.css.mark;
        line(context, x, MARGIN.top, x, bottom);
        context.beginPath();
        context.moveTo(x, bottom - 7);
        context.lineTo(x - 5, bottom + 1);
        context.lineTo(x + 5, bottom + 1);
        context.fill();
    }

    /* When a band begins and ends, however thin it is. */
    drawEnds(context, band) {
        const {begin, end} = this.data.bands, edges = this.view.edges;
        context.strokeStyle = this.theme.css.mark;
        context.setLineDash([3, 3]);
        for (const column of [begin[band], end[band]]) {
            const x = Math.round(this.xOf(edges[column])) + 0.5;
            if (x >= MARGIN.left && x <= MARGIN.left + this.wide) {
                line(context, x, MARGIN.top, x, MARGIN.top + this.high);
            }
        }
        context.setLineDash([]);
    }

    fillBand(context, band, colour, alpha) {
        const {raster, view, ratio} = this, {begin, end} = this.data.bands;
        const from = Math.max(this.pixelX(this.xOf(view.edges[begin[band]])), 0);
        const to = Math.min(this.pixelX(this.xOf(view.edges[end[band]])) + 1, raster.width);
        context.fillStyle = colour;
        context.globalAlpha = alpha;
        for (let p = from; p < to; p++) {
            const offset = p * raster.height;
            const low = raster.pixels.subarray(offset, offset + raster.height).indexOf(band);
            if (low < 0) {
                continue;
            }
            let high = low + 1;
            while (high < raster.height && raster.pixels[offset + high] === band) {
                high++;
            }
            context.fillRect(MARGIN.left + p / ratio, MARGIN.top + (raster.height - high) / ratio,
                1 / ratio, (high - low) / ratio);
        }
        context.globalAlpha = 1;
    }
}

function line(context, x0, y0, x1, y1) {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
}

/* A time on the axis, in a unit that suits the span, with as many digits as its steps take. */
function tickTime(micro, step, span) {
    const [unit, name] = span < 2e3 ? [1, "\u00b5s"] : span < 2e6 ? [1e3, "ms"] : [1e6, "s"];
    const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
    return `${(micro / unit).toFixed(digits)} ${name}`;
}
