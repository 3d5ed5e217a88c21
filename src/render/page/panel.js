"use strict";
/* The panel beside the chart: the allocations live at a moment, and the details of one band. Text
 * from the capture becomes text nodes, never markup. */

function element(name, className, ...children) {
    const made = document.createElement(name);
    if (className) {
        made.className = className;
    }
    made.append(...children);
    return made;
}

function byId(id) {
    return document.getElementById(id);
}

/* Bytes and counts of what is live at a column: by group, and by call site, largest first. */
function liveAt(data, groups, column) {
    const {count, begin, end, size, stack} = data.bands;
    const byGroup = new Float64Array(groups.names.length), sites = new Map();
    for (let b = 0; b < count; b++) {
        if (begin[b] > column || column >= end[b]) {
            continue;
        }
        byGroup[groups.of[b]] += size[b];
        const label = data.stacks.label[stack[b]];
        const site = sites.get(label);
        if (!site) {
            sites.set(label, {label, bytes: size[b], count: 1, band: b});
        } else {
            site.bytes += size[b];
            site.count++;
            site.band = size[b] > size[site.band] ? b : site.band;
        }
    }
    return {byGroup, sites: [...sites.values()].sort((a, b) => b.bytes - a.bytes)};
}

const SITES_SHOWN = 12;
const FRAMES_OPEN = 4; /* inside the call site */

class Panel {
    /* `actions`: toggle(group, shown), toggleRest(shown), choose(band). */
    constructor(data, actions) {
        this.data = data;
        this.actions = actions;
        this.rows = [];
    }

    /* The groups as rows with a check box each; the last is the rest. */
    listGroups(groups, order, shown, restColour) {
        this.groups = groups;
        this.rows = order.map((group) => this.groupRow(groups.names[group], groups.colours[group],
            shown[group], (on) => this.actions.toggle(group, on), group));
        if (this.data.left_out > 0) {
            this.rows.push(this.groupRow("smaller or shorter ones", restColour, shown.rest,
                this.actions.toggleRest, -1));
        }
        byId("categories").replaceChildren(...this.rows.map((row) => row.element));
    }

    groupRow(name, colour, isShown, toggle, group) {
        const box = element("input"), number = element("span", "number");
        const swatch = element("span", "swatch");
        box.type = "checkbox";
        box.checked = isShown;
        box.addEventListener("change", () => toggle(box.checked));
        swatch.style.background = cssColour(colour);
        const label = element("label", "category", box, swatch, element("span", "name", name), number);
        return {element: label, number, group};
    }

    showMoment(column, rest, timeOf) {
        if (this.shownColumn === column && this.shownGroups === this.groups) {
            return;
        }
        const data = this.data, live = liveAt(data, this.groups, column);
        this.shownColumn = column;
        this.shownGroups = this.groups;
        const item = Math.floor((data.events * column) / eventColumns(data));
        const phase = phaseAt(data, column);
        byId("moment").textContent = column >= eventColumns(data) ? "In the snapshot"
            : `Event ${eventText(data, item)}` + (timeOf ? `, ${timeOf}` : "") + (phase ? `, ${phase}` : "");
        const active = column < (data.unknown || 0) ? "not known" : sizeText(data.active[column]);
        byId("moment-sums").textContent = `active ${active}, reserved ${sizeText(data.reserved[column])}`;
        for (const row of this.rows) {
            row.number.textContent = sizeText(row.group < 0 ? rest : live.byGroup[row.group]);
        }
        this.showSites(live.sites);
    }

    showSites(sites) {
        const items = sites.slice(0, SITES_SHOWN).map((site) => {
            const where = element("span", "where", this.data.strings[site.label]);
            if (site.count > 1) {
                where.append(` \u00d7${countText(site.count)}`);
            }
            const button = element("button", "", element("span", "number", sizeText(site.bytes)), where);
            button.title = "show the largest of these";
            button.addEventListener("click", () => this.actions.choose(site.band));
            return element("li", "", button);
        });
        if (sites.length > SITES_SHOWN) {
            items.push(element("li", "", `and ${countText(sites.length - SITES_SHOWN)} more`));
        }
        byId("sites").replaceChildren(...items);
    }

    /* Shows the details of a band; -1 hides them. */
    showBand(band, lifetime) {
        const box = byId("chosen");
        box.hidden = band < 0;
        if (band < 0) {
            box.replaceChildren();
            return;
        }
        const data = this.data, {size, address, category, reason, stack} = data.bands;
        const close = element("button", "close", "\u00d7");
        close.title = "close (Esc)";
        close.setAttribute("aria-label", "close");
        close.addEventListener("click", () => this.actions.choose(-1));
        const why = data.reasons[reason[band]], annotation = annotationOf(data, band);
        const facts = [
            ["size", `${sizeText(size[band])} (${countText(size[band])} bytes)`],
            ["category", data.categories[category[band]].name.replace(/_/g, " ") + (why ? `: ${why}` : "")],
            ...annotation ? [["annotation", annotation]] : [],
            ...lifetime,
            ["address", "0x" + address[band].toString(16)],
        ];
        const list = element("dl");
        for (const [name, value] of facts) {
            list.append(element("dt", "", name), element("dd", "", value));
        }
        box.replaceChildren(close, element("b", "", labelOf(data, band)), list,
            this.stackList(stack[band]));
    }

    /* Innermost first; what lies below the call site is folded where it is much. */
    stackList(stack) {
        const data = this.data, list = element("ol"), frames = framesOf(data, stack);
        const site = data.stacks.site[stack];
        const inner = element("ol"), isFolded = site < frames.length && site > FRAMES_OPEN;
        if (isFolded) {
            const summary = element("summary", "", `${site} frames inside it`);
            list.append(element("li", "", element("details", "", summary, inner)));
        }
        frames.forEach((frame, i) => {
            const line = data.frames.line[frame], file = data.strings[data.frames.file[frame]];
            const where = line ? `${file}:${line}` : file;
            const item = element("li", i === site ? "ours" : "",
                data.strings[data.frames.name[frame]] || "(no name)", " ", element("span", "file", where));
            (isFolded && i < site ? inner : list).append(item);
        });
        if (!data.stacks.whole[stack]) {
            list.append(element("li", "file", "\u2026 the rest was left out to keep this page small"));
        } else if (frames.length === 0) {
            list.append(element("li", "file", "no stack was recorded"));
        }
        return list;
    }
}
