"use strict";
/* Numbers for people. */

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

function unitOf(bytes) {
    let unit = 0;
    while (unit < UNITS.length - 1 && Math.abs(bytes) >= 1024 ** (unit + 1)) {
        unit++;
    }
    return unit;
}

function sizeText(bytes) {
    const unit = unitOf(bytes);
    if (unit === 0) {
        return bytes + " B";
    }
    return (bytes / 1024 ** unit).toFixed(2) + " " + UNITS[unit];
}

function countText(count) {
    return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/* `micro` since the first event. */
function timeText(micro) {
    if (Math.abs(micro) < 1e3) {
        return micro.toFixed(0) + " \u00b5s";
    }
    return Math.abs(micro) < 1e6 ? (micro / 1e3).toFixed(3) + " ms" : (micro / 1e6).toFixed(6) + " s";
}

/* A round step that divides `span` into at most `most` parts; `base` is 10, or 2 for bytes. */
function roundStep(span, most, base) {
    const least = span / most;
    if (!(least > 0)) {
        return 1;
    }
    if (base === 2) {
        return 2 ** Math.ceil(Math.log2(least));
    }
    const power = 10 ** Math.floor(Math.log10(least));
    for (const factor of [1, 2, 5]) {
        if (power * factor >= least) {
            return power * factor;
        }
    }
    return power * 10;
}
