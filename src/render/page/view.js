"use strict";
/* Which part of the trace is looked at: x in events or in microseconds, y in bytes. */

class View {
    constructor(data) {
        this.data = data;
        this.axes = {event: eventEdges(data), time: data.time};
        this.top = 1;
        for (let c = 0; c < data.columns; c++) {
            this.top = Math.max(this.top, data.active[c], data.reserved[c]);
        }
        this.top *= 1.06;
        this.setAxis(data.axis === "time" && data.time ? "time" : "event");
        this.whole();
    }

    setAxis(name) {
        this.axis = name;
        this.edges = this.axes[name];
        this.first = this.edges[0];
        this.last = Math.max(this.edges[this.data.columns], this.first + 1);
    }

    /* To the other axis, at the same columns. */
    changeAxis(name) {
        const from = this.columnAt(this.x0), to = this.columnAt(this.x1);
        this.setAxis(name);
        this.setX(this.edges[from], this.edges[Math.min(to + 1, this.data.columns)]);
    }

    whole() {
        this.x0 = this.first;
        this.x1 = this.last;
        this.y0 = 0;
        this.y1 = this.top;
    }

    /* Keeps within the trace, and at least a few events or a microsecond wide. */
    setX(x0, x1) {
        const all = this.last - this.first;
        const span = Math.min(Math.max(x1 - x0, Math.min(all, this.axis === "time" ? 1 : 4)), all);
        this.x0 = Math.min(Math.max(x0, this.first), this.last - span);
        this.x1 = this.x0 + span;
    }

    setY(y0, y1) {
        const span = Math.min(Math.max(y1 - y0, Math.min(this.top, 1024)), this.top);
        this.y0 = Math.min(Math.max(y0, 0), this.top - span);
        this.y1 = this.y0 + span;
    }

    /* `at`: the share of the width, or height, that stays where it is. */
    zoomX(factor, at) {
        const span = (this.x1 - this.x0) * factor;
        const fixed = this.x0 + (this.x1 - this.x0) * at;
        this.setX(fixed - span * at, fixed - span * at + span);
    }

    zoomY(factor, at) {
        const span = (this.y1 - this.y0) * factor;
        const fixed = this.y0 + (this.y1 - this.y0) * at;
        this.setY(fixed - span * at, fixed - span * at + span);
    }

    moveX(share) {
        const by = (this.x1 - this.x0) * share;
        this.setX(this.x0 + by, this.x1 + by);
    }

    moveY(share) {
        const by = (this.y1 - this.y0) * share;
        this.setY(this.y0 + by, this.y1 + by);
    }

    /* The last column that begins at or before `x`. */
    columnAt(x) {
        let low = 0, high = this.data.columns;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.edges[middle] <= x) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return Math.max(low - 1, 0);
    }

    /* Columns [from, to) in the view, with room around them. */
    showColumns(from, to) {
        const x0 = this.edges[from], x1 = this.edges[Math.min(to, this.data.columns)];
        const span = Math.max(x1 - x0, 1);
        this.setX(x0 - span * 0.6, x1 + span * 0.6);
    }

    /* For the address: "#event=10-200", with "&bytes=0-4096" where that is not all. */
    toHash() {
        const digits = this.axis === "time" ? 1 : 2;
        const isWhole = this.x0 === this.first && this.x1 === this.last;
        const isHigh = this.y0 === 0 && this.y1 === this.top;
        if (isWhole && isHigh) {
            return "";
        }
        const x = `#${this.axis}=${this.x0.toFixed(digits)}-${this.x1.toFixed(digits)}`;
        return isHigh ? x : `${x}&bytes=${Math.round(this.y0)}-${Math.round(this.y1)}`;
    }

    fromHash(hash) {
        const number = "(\\d+(?:\\.\\d+)?)";
        const x = new RegExp(`^#(event|time)=${number}-${number}(?:&bytes=${number}-${number})?$`);
        const found = x.exec(hash);
        if (!found || !this.axes[found[1]]) {
            return false;
        }
        this.setAxis(found[1]);
        this.whole();
        this.setX(Number(found[2]), Number(found[3]));
        if (found[4]) {
            this.setY(Number(found[4]), Number(found[5]));
        }
        return true;
    }
}
