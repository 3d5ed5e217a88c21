"use strict";
/* Where the blocks lay: data.layout. Moment m is after the first m items of the trace. Blocks and
 * pieces of reserved memory exist at the moments [from, to), and are sorted by address. */

const BLOCK_FREE = 0, BLOCK_ALLOCATED = 1, BLOCK_PENDING = 2;

/* Numbers in LEB128. */
class Numbers {
    constructor(base64) {
        this.bytes = bytesOf(base64);
        this.at = 0;
    }

    next() {
        let number = 0, scale = 1, byte;
        do {
            byte = this.bytes[this.at++];
            number += (byte & 0x7f) * scale;
            scale *= 128;
        } while (byte & 0x80);
        return number;
    }

    nextBig() {
        let number = 0n, shift = 0n, byte;
        do {
            byte = this.bytes[this.at++];
            number |= BigInt(byte & 0x7f) << shift;
            shift += 7n;
        } while (byte & 0x80);
        return number;
    }
}

/* As lives.h packs them. */
function readBlocks(base64) {
    const numbers = new Numbers(base64), address = [], size = [], from = [], to = [], pending = [];
    let spot = 0n;
    while (numbers.at < numbers.bytes.length) {
        spot += numbers.nextBig();
        const bytes = numbers.next();
        let first = 0;
        for (let lives = numbers.next(); lives > 0; lives--) {
            first += numbers.next();
            const moments = numbers.next(), end = moments < 2 ? NEVER : first + Math.floor(moments / 2);
            let waits = end === NEVER ? NEVER : end - 1;
            if (moments % 2 === 1) {
                const after = numbers.next();
                waits = after === 0 ? NEVER : first + after - 1;
            }
            address.push(spot);
            size.push(bytes);
            from.push(first);
            to.push(end);
            pending.push(waits);
        }
    }
    return {
        address: BigUint64Array.from(address), size: Float64Array.from(size), from: Uint32Array.from(from),
        to: Uint32Array.from(to), pending: Uint32Array.from(pending),
    };
}

function readLayout(layout) {
    const {pieces} = layout;
    const sizes = (base64) => Float64Array.from(arrayOf(BigUint64Array, base64), Number);
    return {
        source: layout.source,
        words: layout.words,
        moments: keptMoments(layout),
        blocks: readBlocks(layout.blocks),
        pieces: {
            address: arrayOf(BigUint64Array, pieces.address),
            size: sizes(pieces.size),
            from: arrayOf(Uint32Array, pieces.from),
            to: arrayOf(Uint32Array, pieces.to),
            stream: arrayOf(BigInt64Array, pieces.stream),
            high: arrayOf(BigUint64Array, pieces.pool_high),
            low: arrayOf(BigUint64Array, pieces.pool_low),
            class: arrayOf(Uint8Array, pieces.class),
            expandable: arrayOf(Uint8Array, pieces.expandable),
        },
    };
}

/* The moments of which all blocks are in the page, ascending. */
function keptMoments({source, last, peak, stride}) {
    if (source === "none") {
        return [];
    }
    if (source === "snapshot") {
        return [last];
    }
    const kept = new Set([peak, last]);
    for (let moment = 0; moment <= last; moment += stride) {
        kept.add(moment);
    }
    return Uint32Array.from(kept).sort();
}

/* The index of the kept moment that is nearest. */
function nearestMoment(layout, moment) {
    const {moments} = layout;
    let low = 0, high = moments.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (moments[middle] < moment) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && moment - moments[low - 1] < moments[low] - moment ? low - 1 : low;
}

/* The reserved memory at a moment, by address: mapped stretches of an expandable segment that touch
 * are one. */
function segmentsAt(pieces, moment) {
    const segments = [];
    let last = null;
    for (let p = 0; p < pieces.from.length; p++) {
        if (pieces.from[p] > moment || moment >= pieces.to[p]) {
            continue;
        }
        const segment = {
            address: pieces.address[p], size: pieces.size[p], stream: pieces.stream[p],
            high: pieces.high[p], low: pieces.low[p], class: pieces.class[p],
            expandable: pieces.expandable[p], spans: [],
        };
        if (last && joins(last, segment)) {
            last.size += segment.size;
            last.class = last.class || segment.class;
        } else {
            segments.push(segment);
            last = segment;
        }
    }
    return segments;
}

function joins(before, next) {
    return before.expandable && next.expandable && before.stream === next.stream &&
        before.high === next.high && before.low === next.low &&
        (!before.class || !next.class || before.class === next.class) &&
        before.address + BigInt(before.size) === next.address;
}

/* The segments at a moment, each with spans from its start to its end: {offset, size, state, block},
 * where `block` is -1 for free memory. `stray` counts the blocks that lie in no segment, or in
 * another block: only a trace that contradicts itself has them. */
function layoutAt(layout, moment) {
    const {blocks} = layout, segments = segmentsAt(layout.pieces, moment);
    let s = 0, end = 0, stray = 0;
    const free = (segment, to) => {
        if (to > end) {
            segment.spans.push({offset: end, size: to - end, state: BLOCK_FREE, block: -1});
        }
        end = Math.max(end, to);
    };
    for (let b = 0; b < blocks.from.length; b++) {
        if (blocks.from[b] > moment || moment >= blocks.to[b]) {
            continue;
        }
        const address = blocks.address[b];
        for (; s < segments.length && address >= segments[s].address + BigInt(segments[s].size); s++) {
            free(segments[s], segments[s].size);
            end = 0;
        }
        const segment = segments[s], offset = segment ? Number(address - segment.address) : -1;
        if (offset < end) {
            stray++;
            continue;
        }
        free(segment, offset);
        const size = Math.min(blocks.size[b], segment.size - offset);
        const state = blocks.pending[b] <= moment ? BLOCK_PENDING : BLOCK_ALLOCATED;
        segment.spans.push({offset, size, state, block: b});
        end = offset + size;
    }
    for (; s < segments.length; s++) {
        free(segments[s], segments[s].size);
        end = 0;
    }
    return {segments, stray};
}

/* Sums over spans by state: {bytes, count, largest}. */
function layoutSums(segments) {
    const sums = {reserved: 0, of: [0, 1, 2].map(() => ({bytes: 0, count: 0, largest: 0}))};
    for (const segment of segments) {
        sums.reserved += segment.size;
        for (const span of segment.spans) {
            const sum = sums.of[span.state];
            sum.bytes += span.size;
            sum.count++;
            sum.largest = Math.max(sum.largest, span.size);
        }
    }
    return sums;
}
