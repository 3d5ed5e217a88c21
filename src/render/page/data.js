"use strict";
/* The data that memsnap put into the page: JSON, with arrays of numbers in base64, little-endian.
 *
 * The trace stands in `columns`: as many as it has events, or fewer that stand for several. A
 * column is one moment, that of its events after which most memory was active. If not enough was
 * recorded to know what was live, the first `unknown` columns are those of the events, and the others
 * stand for the snapshot. Bands are
 * allocations, from the lowest in the stack to the highest; band b is live in the columns from
 * begin[b] up to, not including, end[b]. */

const NEVER = 0xffffffff; /* allocated before the trace, or not freed in it */

function bytesOf(base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) {
        bytes[i] = text.charCodeAt(i);
    }
    return bytes;
}

function arrayOf(Type, base64) {
    return new Type(bytesOf(base64).buffer);
}

function readData(text) {
    const data = JSON.parse(text);
    const bands = data.bands;
    data.active = arrayOf(Float64Array, data.active);
    data.reserved = arrayOf(Float64Array, data.reserved);
    data.time = data.time ? arrayOf(Float64Array, data.time) : null;
    data.phases = {
        first: arrayOf(Uint32Array, data.phases.first),
        kind: arrayOf(Uint8Array, data.phases.kind),
        names: data.phases.names,
    };
    data.bands = {
        count: bands.count,
        begin: arrayOf(Uint32Array, bands.begin),
        end: arrayOf(Uint32Array, bands.end),
        size: arrayOf(Float64Array, bands.size),
        address: arrayOf(BigUint64Array, bands.address),
        category: arrayOf(Uint8Array, bands.category),
        reason: arrayOf(Uint8Array, bands.reason),
        stack: arrayOf(Uint32Array, bands.stack),
        born: arrayOf(Uint32Array, bands.born),
        freed: arrayOf(Uint32Array, bands.freed),
        annotation: bands.annotation ? arrayOf(Uint32Array, bands.annotation) : null,
    };
    data.numbers = data.numbers ? arrayOf(Uint32Array, data.numbers) : null; /* of sorted events */
    data.frames = {
        name: arrayOf(Uint32Array, data.frames.name),
        file: arrayOf(Uint32Array, data.frames.file),
        line: arrayOf(Uint32Array, data.frames.line),
    };
    data.stacks = {
        label: arrayOf(Uint32Array, data.stacks.label),
        site: arrayOf(Uint32Array, data.stacks.site),
        first: arrayOf(Uint32Array, data.stacks.first),
        whole: arrayOf(Uint8Array, data.stacks.whole),
    };
    data.stacked = arrayOf(Uint32Array, data.stacked);
    data.layout = readLayout(data.layout);
    return data;
}

/* The frames of a stack, innermost first. */
function framesOf(data, stack) {
    const first = data.stacks.first;
    return data.stacked.subarray(first[stack], first[stack + 1]); /* the last: up to the end */
}

/* The columns that stand for events: all but those of the snapshot. */
function eventColumns(data) {
    return data.unknown || data.columns;
}

/* The boundaries of the columns on an axis: `columns` + 1 values in ascending order. */
function eventEdges(data) {
    const edges = new Float64Array(data.columns + 1);
    const events = Math.max(data.events, 1);
    for (let c = 0; c <= data.columns; c++) {
        edges[c] = data.first_event + Math.floor((events * c) / eventColumns(data));
    }
    return edges;
}

function labelOf(data, band) {
    return data.strings[data.stacks.label[data.bands.stack[band]]];
}

/* The text that the program attached to an allocation, or "". */
function annotationOf(data, band) {
    const text = data.bands.annotation ? data.bands.annotation[band] : 0;
    return text > 0 ? data.strings[text - 1] : "";
}

/* The number of an item of the trace, as the file counts. */
function eventText(data, item) {
    return countText(data.numbers ? data.numbers[item] : data.first_event + item);
}

/* The phase that column `c` is in; "" where none is known. */
function phaseAt(data, c) {
    const first = data.phases.first;
    let low = 0, high = first.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (first[middle] <= c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? data.phases.names[data.phases.kind[low - 1]].replace("_", " ") : "";
}
