"use strict";
/* Finds bands by what their stacks and annotations say. */

class Search {
    constructor(data) {
        this.data = data;
        this.lower = null; /* texts in lower case, once there is a search */
        this.clear();
    }

    clear() {
        this.found = null; /* by band, 1: found */
        this.order = []; /* those found, largest area first */
        this.at = -1;
    }

    /* `text` in a function, a file, file:line, or a call site, of any frame, or in an annotation; case
     * does not count. */
    find(text) {
        const wanted = text.trim().toLowerCase();
        this.clear();
        if (wanted === "") {
            return;
        }
        this.lower = this.lower || this.data.strings.map((text) => text.toLowerCase());
        const texts = this.lower.map((lower) => lower.includes(wanted));
        const stacks = this.stacksWith(wanted, texts);
        const {count, begin, end, size, stack, annotation} = this.data.bands;
        this.found = new Uint8Array(count);
        for (let b = 0; b < count; b++) {
            if (stacks[stack[b]] || (annotation && annotation[b] > 0 && texts[annotation[b] - 1])) {
                this.found[b] = 1;
                this.order.push(b);
            }
        }
        const area = (b) => size[b] * (end[b] - begin[b]);
        this.order.sort((a, b) => area(b) - area(a));
    }

    /* `texts`: which of the strings have it. */
    stacksWith(wanted, texts) {
        const {frames, stacks, stacked} = this.data;
        const hits = new Uint8Array(frames.name.length);
        for (let f = 0; f < hits.length; f++) {
            hits[f] = texts[frames.name[f]] || texts[frames.file[f]] || this.isLine(f, wanted) ? 1 : 0;
        }
        const result = new Uint8Array(stacks.label.length);
        for (let s = 0; s < result.length; s++) {
            const end = s + 1 < result.length ? stacks.first[s + 1] : stacked.length;
            let hit = texts[stacks.label[s]];
            for (let i = stacks.first[s]; !hit && i < end; i++) {
                hit = hits[stacked[i]] === 1;
            }
            result[s] = hit ? 1 : 0;
        }
        return result;
    }

    /* "model.py:39", perhaps with the function behind it. */
    isLine(frame, wanted) {
        const {name, file, line} = this.data.frames;
        const at = wanted.indexOf(":" + line[frame]);
        return at >= 0 && line[frame] > 0 &&
            `${this.lower[file[frame]]}:${line[frame]} ${this.lower[name[frame]]}`.includes(wanted);
    }

    /* The next band found, `by` 1 or -1; -1 without any. */
    step(by) {
        if (this.order.length === 0) {
            return -1;
        }
        this.at = this.at < 0 && by < 0 ? this.order.length - 1
            : (this.at + by + this.order.length) % this.order.length;
        return this.order[this.at];
    }

    /* "12 found, 1.20 GiB": the sum of what was found at its highest. */
    text() {
        if (!this.found) {
            return "";
        }
        if (this.order.length === 0) {
            return "nothing found";
        }
        const {begin, end, size} = this.data.bands, columns = this.data.columns;
        const change = new Float64Array(columns + 1);
        for (const b of this.order) {
            change[begin[b]] += size[b];
            change[end[b]] -= size[b];
        }
        let sum = 0, most = 0;
        for (let c = 0; c < columns; c++) {
            sum += change[c];
            most = Math.max(most, sum);
        }
        return `${countText(this.order.length)} found, at most ${sizeText(most)} at a time`;
    }
}
