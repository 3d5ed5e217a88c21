"use strict";
/* The colour of a band: of what it is for, of the call site that made it, or of its size. */

const SITE_COLOURS = [0x0072b2, 0xf0c63c, 0xd55e00, 0x009e73, 0xcc79a7, 0x56b4e9, 0x332288, 0x999933,
    0x882255, 0x44aa99, 0xaa7744];
const OTHER_SITES = 0x9a9a9a;
const SIZE_CLASSES = [
    {below: 2 ** 20, colour: 0xfde725, name: "below 1 MiB"},
    {below: 10 * 2 ** 20, colour: 0x90d743, name: "1 to 10 MiB"},
    {below: 64 * 2 ** 20, colour: 0x35b779, name: "10 to 64 MiB"},
    {below: 256 * 2 ** 20, colour: 0x21918c, name: "64 to 256 MiB"},
    {below: 2 ** 30, colour: 0x31688e, name: "256 MiB to 1 GiB"},
    {below: Infinity, colour: 0x440154, name: "1 GiB and more"},
];

/* Groups of bands: {names, colours, of: the group of each band}. */
function groupsBy(data, what) {
    if (what === "site") {
        return siteGroups(data);
    }
    if (what === "size") {
        const of = Uint8Array.from(data.bands.size,
            (size) => SIZE_CLASSES.findIndex((c) => size < c.below));
        return {names: SIZE_CLASSES.map((c) => c.name), colours: SIZE_CLASSES.map((c) => c.colour), of};
    }
    return {
        names: data.categories.map((c) => c.name.replace(/_/g, " ")),
        colours: data.categories.map((c) => c.colour),
        of: data.bands.category,
    };
}

/* The call sites with the largest areas; the rest is one group. */
function siteGroups(data) {
    const {count, begin, end, size, stack} = data.bands;
    const area = new Map();
    for (let b = 0; b < count; b++) {
        const label = data.stacks.label[stack[b]];
        area.set(label, (area.get(label) || 0) + size[b] * (end[b] - begin[b]));
    }
    const order = [...area.keys()].sort((a, b) => area.get(b) - area.get(a));
    const shown = order.slice(0, SITE_COLOURS.length);
    const groupOf = new Map(shown.map((label, i) => [label, i]));
    const of = new Uint8Array(count);
    for (let b = 0; b < count; b++) {
        const group = groupOf.get(data.stacks.label[stack[b]]);
        of[b] = group === undefined ? shown.length : group;
    }
    const names = shown.map((label) => data.strings[label]);
    const colours = SITE_COLOURS.slice(0, shown.length);
    if (order.length > shown.length) {
        names.push("other call sites");
        colours.push(OTHER_SITES);
    }
    return {names, colours, of};
}

/* As canvases keep pixels: alpha, blue, green, red. */
function pixelOf(colour) {
    return (0xff000000 | ((colour & 0xff) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
}

/* `share` of a colour, and for the rest of `other`. */
function mix(colour, other, share) {
    let result = 0;
    for (let shift = 0; shift < 24; shift += 8) {
        const part = ((colour >> shift) & 0xff) * share + ((other >> shift) & 0xff) * (1 - share);
        result |= Math.round(part) << shift;
    }
    return result;
}

function cssColour(colour) {
    return "#" + colour.toString(16).padStart(6, "0");
}

/* The pixel of each band, then of the rest and of nothing, as Raster numbers them.
 * Neighbours of one colour are told apart by shades; bands that a search did not find are dimmed.
 * `found` is null without a search. */
function bandPixels(groups, found, theme) {
    const shades = [1, 0.9, 0.8], count = groups.of.length;
    const table = new Uint32Array(count + 2);
    const bright = groups.colours.map((c) => shades.map((s) => pixelOf(mix(c, 0xffffff, s))));
    const dim = groups.colours.map((c) => shades.map((s) => pixelOf(mix(c, theme.paper, 0.16 * s))));
    for (let b = 0; b < count; b++) {
        table[b] = (found && !found[b] ? dim : bright)[groups.of[b]][b % 3];
    }
    table[count] = pixelOf(theme.rest);
    table[count + 1] = pixelOf(theme.paper);
    return table;
}

/* The colours that the style gives the page. */
function readTheme() {
    const style = getComputedStyle(document.documentElement);
    const theme = {};
    for (const name of ["paper", "ink", "soft", "line", "panel", "rest", "curve", "mark", "window"]) {
        theme[name] = style.getPropertyValue("--" + name).trim();
    }
    theme.css = {...theme};
    theme.paper = parseInt(theme.paper.slice(1), 16);
    theme.rest = parseInt(theme.rest.slice(1), 16);
    return theme;
}

/* Black or white, whichever is read better on a colour. */
function textOn(colour) {
    const light = 0.299 * (colour >> 16) + 0.587 * ((colour >> 8) & 0xff) + 0.114 * (colour & 0xff);
    return light < 128 ? "#ffffff" : "#000000";
}
