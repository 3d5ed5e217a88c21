"use strict";
/* Which band each pixel of the chart shows; `rest` stands for allocations without a band of their
 * own, and `nothing` for none. Columns of pixels are contiguous, the lowest pixel first. A column
 * shows one moment: that of the columns of the trace in it after which most was active, so that no
 * spike is lost. */

class Raster {
    constructor(data, stack) {
        this.data = data;
        this.stack = stack;
        this.restBytes = restOf(data);
        this.showsRest = true;
        this.rest = data.bands.count;
        this.nothing = data.bands.count + 1;
        this.width = this.height = 0;
        this.pixels = new Uint32Array(0);
        this.moments = new Int32Array(0); /* the column of the trace that each pixel column shows */
        this.reserved = new Float64Array(0); /* the most in each pixel column */
        this.todo = new Uint32Array(64);
    }

    resize(width, height) {
        this.width = width;
        this.height = height;
        this.pixels = new Uint32Array(width * height);
        this.drawn = null; /* of what view */
        this.moments = new Int32Array(width);
        this.reserved = new Float64Array(width);
    }

    /* For the columns of pixels [from, to): the column of the trace with most active among those that
     * begin there, or the one that the pixel lies in. */
    chooseMoments(view, from, to) {
        const {active, reserved, columns} = this.data, edges = view.edges;
        const wide = (view.x1 - view.x0) / this.width;
        let c = view.columnAt(view.x0 + wide * from);
        for (let p = from; p < to; p++) {
            const next = view.x0 + wide * (p + 1);
            let best = c, most = reserved[c];
            while (c + 1 < columns && edges[c + 1] < next) {
                c++;
                if (active[c] > active[best]) {
                    best = c;
                }
                most = Math.max(most, reserved[c]);
            }
            this.moments[p] = best;
            this.reserved[p] = most;
        }
    }

    draw(view) {
        const [from, to] = this.reuse(view);
        const perPixel = (view.y1 - view.y0) / this.height;
        this.chooseMoments(view, from, to);
        for (let p = from; p < to; p++) {
            this.drawColumn(p, p > from, view.y0, perPixel);
        }
    }

    /* Shifts the columns that stay visible if the view has moved by whole pixels. Returns the range
     * of columns that must be drawn. */
    reuse(view) {
        const {width, drawn} = this;
        const now = {x0: view.x0, span: view.x1 - view.x0, y0: view.y0, y1: view.y1,
            edges: view.edges, shown: this.stack.shown, showsRest: this.showsRest};
        const same = drawn && Math.abs(now.span / drawn.span - 1) < 1e-9 &&
            ["y0", "y1", "edges", "shown", "showsRest"].every((name) => now[name] === drawn[name]);
        const by = same ? ((now.x0 - drawn.x0) / now.span) * width : width;
        const whole = Math.round(by);
        this.drawn = now;
        if (Math.abs(by - whole) > 1e-3 || Math.abs(whole) >= width) {
            return [0, width];
        }
        now.x0 = drawn.x0 + (whole / width) * now.span;
        this.shift(whole);
        return whole >= 0 ? [width - whole, width] : [0, -whole];
    }

    /* To the left, by columns of pixels. */
    shift(by) {
        const to = Math.max(-by, 0), from = Math.max(by, 0), end = this.width - to;
        this.pixels.copyWithin(to * this.height, from * this.height, end * this.height);
        this.moments.copyWithin(to, from, end);
        this.reserved.copyWithin(to, from, end);
    }

    /* `next`: the column on its left has just been drawn. What lies below all that has changed since
     * is as it was there. */
    drawColumn(p, next, y0, perPixel) {
        const {stack, height, pixels, moments} = this;
        stack.moveTo(moments[p]);
        if (!next) {
            this.fillColumn(p, 0, y0, perPixel);
            return;
        }
        const rest = this.restBytes[moments[p]] !== this.restBytes[moments[p - 1]];
        const bytes = stack.lowest < this.rest ? stack.below(stack.lowest) : stack.total();
        const row = stack.lowest < this.rest || rest
            ? Math.min(Math.max(Math.round((bytes - y0) / perPixel) - 1, 0), height) : height;
        pixels.copyWithin(p * height, (p - 1) * height, (p - 1) * height + row);
        if (row < height) {
            this.fillColumn(p, row, y0, perPixel);
        }
    }

    /* Walks the tree from the lowest band up, and draws from `row` on; what is below a pixel is
     * drawn as its largest band. */
    fillColumn(p, row, y0, perPixel) {
        const {stack, height, pixels, todo} = this;
        const sum = stack.sum, leaves = stack.leaves, offset = p * height;
        let bytes = -y0, depth = 0;
        todo[depth++] = 1;
        while (depth > 0 && row < height) {
            const node = todo[--depth], size = sum[node];
            if (size === 0) {
                continue;
            }
            const end = Math.round((bytes + size) / perPixel);
            if (end <= row) {
                bytes += size;
            } else if (node >= leaves || end - row <= 1) {
                const band = node >= leaves ? node - leaves : stack.largest(node);
                for (const stop = end < height ? end : height; row < stop; row++) {
                    pixels[offset + row] = band;
                }
                bytes += size;
            } else {
                todo[depth++] = 2 * node + 1;
                todo[depth++] = 2 * node;
            }
        }
        if (this.showsRest && row < height) {
            const top = Math.round((stack.total() - y0 + this.restBytes[this.moments[p]]) / perPixel);
            const stop = Math.min(Math.max(top, row), height);
            pixels.fill(this.rest, offset + row, offset + stop);
            row = stop;
        }
        pixels.fill(this.nothing, offset + row, offset + height);
    }

    /* `up` counts pixels from the bottom. */
    at(x, up) {
        if (x < 0 || up < 0 || x >= this.width || up >= this.height) {
            return this.nothing;
        }
        return this.pixels[x * this.height + up];
    }
}

/* Active bytes that no band stands for, by column. */
function restOf(data) {
    const {begin, end, size, count} = data.bands;
    const rest = new Float64Array(data.columns + 1);
    for (let b = 0; b < count; b++) {
        rest[begin[b]] += size[b];
        rest[end[b]] -= size[b];
    }
    let sum = 0;
    for (let c = 0; c < data.columns; c++) {
        sum += rest[c];
        rest[c] = Math.max(data.active[c] - sum, 0);
    }
    return rest.subarray(0, data.columns);
}
