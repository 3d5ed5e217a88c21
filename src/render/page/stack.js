"use strict";
/* The stack of live bands at one column, which can be moved to another: a tree of sums over all
 * bands in their order, so that what is smaller than a pixel need not be looked into. All sums are
 * whole numbers below 2^53, so they do not drift. */

class LiveStack {
    constructor(bands) {
        this.bands = bands;
        this.leaves = 1;
        while (this.leaves < bands.count) {
            this.leaves *= 2;
        }
        this.sum = new Float64Array(2 * this.leaves);
        this.shown = new Uint8Array(bands.count).fill(1);
        this.byBegin = this.sorted(bands.begin);
        this.byEnd = this.sorted(bands.end);
        this.column = -1; /* where nothing is live yet */
        this.begun = 0; /* how many of byBegin have begun, and of byEnd ended */
        this.ended = 0;
        this.lowest = 0; /* the lowest band that the last move changed; bands.count: none */
    }

    sorted(key) {
        const order = new Uint32Array(this.bands.count);
        for (let i = 0; i < order.length; i++) {
            order[i] = i;
        }
        return order.sort((a, b) => key[a] - key[b]);
    }

    total() {
        return this.sum[1];
    }

    isLive(band, column) {
        return this.shown[band] && this.bands.begin[band] <= column && column < this.bands.end[band];
    }

    set(band, size) {
        const sum = this.sum;
        let node = this.leaves + band;
        const change = size - sum[node];
        if (band < this.lowest) {
            this.lowest = band;
        }
        for (; node >= 1; node >>= 1) {
            sum[node] += change;
        }
    }

    /* Anew, for bands that are shown or hidden, or a far column. */
    rebuild(column) {
        const {begin, end, size, count} = this.bands;
        const sum = this.sum.fill(0);
        for (let b = 0; b < count; b++) {
            if (this.isLive(b, column)) {
                sum[this.leaves + b] = size[b];
            }
        }
        for (let node = this.leaves - 1; node >= 1; node--) {
            sum[node] = sum[2 * node] + sum[2 * node + 1];
        }
        this.begun = firstAbove(this.byBegin, begin, column);
        this.ended = firstAbove(this.byEnd, end, column);
        this.column = column;
        this.lowest = 0;
    }

    /* Bands that begin and end between the two columns are skipped. */
    moveTo(column) {
        const {begin, end, size, count} = this.bands;
        if (column < this.column) {
            this.rebuild(column);
            return;
        }
        this.lowest = count;
        for (; this.ended < count && end[this.byEnd[this.ended]] <= column; this.ended++) {
            const band = this.byEnd[this.ended];
            if (begin[band] <= this.column && this.sum[this.leaves + band] > 0) {
                this.set(band, 0);
            }
        }
        for (; this.begun < count && begin[this.byBegin[this.begun]] <= column; this.begun++) {
            const band = this.byBegin[this.begun];
            if (end[band] > column && this.shown[band]) {
                this.set(band, size[band]);
            }
        }
        this.column = column;
    }

    /* Bytes below a band. */
    below(band) {
        let bytes = 0;
        for (let node = this.leaves + band; node > 1; node >>= 1) {
            if (node & 1) {
                bytes += this.sum[node - 1];
            }
        }
        return bytes;
    }

    /* The band that most of a node's bytes belong to, as far as halves tell. */
    largest(node) {
        const sum = this.sum;
        while (node < this.leaves) {
            node = sum[2 * node] >= sum[2 * node + 1] ? 2 * node : 2 * node + 1;
        }
        return node - this.leaves;
    }
}

/* The number of items in `order` whose key is at most `value`. */
function firstAbove(order, key, value) {
    let low = 0, high = order.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (key[order[middle]] <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
