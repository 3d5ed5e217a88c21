"use strict";
/* Finds places in the chart where a band has room for its size and call site. */

const LABEL_STEP = 12; /* pixels between the columns that are looked at */

/* Stretches of the picture, {band, from, to, low, high} in pixels of the raster, in which a band
 * is at least `least` high and hardly moves: of each band the longest. */
function labelPlaces(raster, least) {
    const open = new Map(), best = new Map();
    const close = (place) => {
        const other = best.get(place.band);
        if (!other || place.to - place.from > other.to - other.from) {
            best.set(place.band, place);
        }
    };
    for (let p = 0; p < raster.width; p += LABEL_STEP) {
        for (const run of tallRuns(raster, p, least)) {
            const place = open.get(run.band);
            const still = place && place.to === p - LABEL_STEP &&
                Math.abs(place.low - run.low) <= 2 && Math.abs(place.high - run.high) <= 2;
            if (still) {
                place.to = p;
            } else {
                if (place) {
                    close(place);
                }
                open.set(run.band, {...run, from: p, to: p});
            }
        }
    }
    for (const place of open.values()) {
        close(place);
    }
    return [...best.values()];
}

/* Runs of pixels of one band in a column of pixels, at least `least` pixels high. */
function tallRuns(raster, p, least) {
    const runs = [], offset = p * raster.height;
    for (let low = 0, high; low < raster.height; low = high) {
        const band = raster.pixels[offset + low];
        for (high = low + 1; high < raster.height && raster.pixels[offset + high] === band;) {
            high++;
        }
        if (band < raster.rest && high - low >= least) {
            runs.push({band, low, high});
        }
    }
    return runs;
}

/* "123.00 MiB model.py:39 forward", as much of it as `room` pixels hold; "" for too little. */
function fitText(context, text, room) {
    if (context.measureText(text).width <= room) {
        return text;
    }
    let count = Math.floor((text.length * room) / context.measureText(text).width) - 1;
    while (count > 8 && context.measureText(text.slice(0, count) + "\u2026").width > room) {
        count--;
    }
    return count > 8 ? text.slice(0, count) + "\u2026" : "";
}
