"use strict";
/* The page as a whole: its state, and what follows from a change of it. */

class Page {
    constructor(data) {
        this.data = data;
        this.view = new View(data);
        this.view.fromHash(location.hash);
        this.chart = new Chart(byId("chart"), byId("overlay"), data, this.view);
        this.overview = new Overview(byId("overview"), data, this.view);
        this.overview.resize();
        this.finder = new Search(data);
        this.panel = new Panel(data, {
            toggle: (group, on) => this.toggle(group, on),
            toggleRest: (on) => this.toggleRest(on),
            choose: (band) => this.choose(band, true),
        });
        this.blocks = new BlockMap(data, {
            choose: (band) => this.choose(band, false),
            moved: () => this.change("blocks"),
        });
        this.blocks.resize();
        this.pointer = null;
        this.hovered = this.chosen = -1;
        this.column = data.peak.column;
        this.dirty = {shapes: true, colours: true, pointer: true};
        this.waiting = false;
        byId("colour").value = data.colour;
        byId("axis-label").hidden = !data.time;
        this.colourBy(data.colour);
    }

    /* `what` is shapes, colours, blocks or pointer; each brings those after it. Drawn once a frame. */
    change(what) {
        this.dirty[what] = true;
        if (!this.waiting) {
            this.waiting = true;
            requestAnimationFrame(() => this.draw());
        }
    }

    draw() {
        const {shapes, colours, blocks} = this.dirty;
        this.waiting = false;
        this.dirty = {};
        if (shapes) {
            this.chart.draw();
            this.overview.draw(this.chart.theme);
            this.remember();
        } else if (colours) {
            this.chart.paint();
        }
        if (shapes || colours || blocks) {
            this.drawBlocks();
        }
        this.drawPointer();
    }

    drawBlocks() {
        const {blocks, chart, data} = this, {moments} = data.layout;
        if (moments.length === 0) {
            return;
        }
        blocks.draw(chart.theme, chart.groups);
        const {moment} = blocks;
        byId("layout-title").textContent = moment === data.events ? "Blocks in the snapshot"
            : moment === 0 ? "Blocks before the first event" : `Blocks after event ${eventText(data, moment - 1)}`;
    }

    /* The column that shows a moment of the blocks. */
    columnOfBlocks() {
        const {moment} = this.blocks;
        return moment === 0 ? 0 : this.columnOf(moment - 1);
    }

    /* The blocks after an item of the trace, or at the nearest moment that the page has. */
    showBlocksAfter(item) {
        const {data, blocks} = this;
        if (data.layout.moments.length > 0) {
            blocks.goTo(nearestMoment(data.layout, item + 1));
            this.change("blocks");
        }
    }

    /* The first item of a column; the last of all for columns of the snapshot. */
    itemOf(column) {
        const {events} = this.data, columns = eventColumns(this.data);
        return column >= columns ? events - 1 : Math.floor((events * column) / columns);
    }

    stepBlocks(by) {
        const {data, blocks} = this, index = blocks.index + by;
        if (index >= 0 && index < data.layout.moments.length) {
            blocks.goTo(index);
            this.change("blocks");
        }
    }

    toggleBlocks() {
        byId("layout").hidden = !byId("layout").hidden;
        this.resize();
    }

    drawPointer() {
        const {chart, pointer, data} = this;
        this.hovered = -1;
        if (pointer) {
            const band = chart.bandAt(pointer.x, pointer.y);
            this.hovered = band < data.bands.count ? band : -1;
            this.column = chart.momentAt(pointer.x);
        }
        chart.drawOverlay(pointer ? pointer.x : NaN, this.hovered, this.chosen,
            data.layout.moments.length > 0 && !byId("layout").hidden ? this.columnOfBlocks() : -1);
        const time = data.time ? timeText(data.time[this.column]) : "";
        this.panel.showMoment(this.column, chart.raster.restBytes[this.column], time);
        this.showTip();
    }

    showTip() {
        const tip = byId("tip"), band = this.hovered;
        tip.hidden = band < 0;
        if (band < 0) {
            return;
        }
        const lines = [`${sizeText(this.data.bands.size[band])}, ` +
            this.data.categories[this.data.bands.category[band]].name.replace(/_/g, " "),
        ...this.lifetime(band).map(([name, value]) => `${name} ${value}`)];
        if (annotationOf(this.data, band)) {
            lines.unshift(annotationOf(this.data, band));
        }
        tip.replaceChildren(element("b", "", labelOf(this.data, band)),
            ...lines.map((text) => element("div", "", text)));
        const box = byId("picture").getBoundingClientRect();
        tip.style.left = tip.style.top = "0"; /* where its size does not depend on its place */
        const left = this.pointer.x + 16 + tip.offsetWidth > box.width ? this.pointer.x - tip.offsetWidth - 12
            : this.pointer.x + 16;
        const top = Math.min(this.pointer.y + 16, box.height - tip.offsetHeight - 4);
        tip.style.left = `${Math.max(left, 0)}px`;
        tip.style.top = `${Math.max(top, 0)}px`;
    }

    /* When a band lives, as pairs of a name and a text. */
    lifetime(band) {
        const {data} = this, {born, freed, begin, end} = data.bands;
        const at = (item, column) => {
            const phase = phaseAt(data, Math.min(column, data.columns - 1));
            return `at event ${eventText(data, item)}` +
                (data.time ? `, ${timeText(data.time[column])}` : "") + (phase ? `, ${phase}` : "");
        };
        return [
            ["allocated", born[band] === NEVER ? "before the trace" : at(born[band], this.columnOf(born[band]))],
            ["freed", freed[band] === NEVER ? "not in the trace" : at(freed[band], this.columnOf(freed[band]))],
        ];
    }

    /* The column that an item of the trace is in. */
    columnOf(item) {
        const {events} = this.data, columns = eventColumns(this.data);
        return Math.min(Math.floor(((item + 1) * columns - 1) / Math.max(events, 1)), columns - 1);
    }

    remember() {
        const hash = this.view.toHash();
        if (hash === location.hash) {
            return;
        }
        try {
            history.replaceState(null, "", hash || location.pathname + location.search);
        } catch (error) {
            /* a browser may refuse where the page is a file: then there is no link to copy */
        }
    }

    choose(band, show) {
        this.chosen = band;
        this.panel.showBand(band, band < 0 ? [] : this.lifetime(band));
        if (band >= 0 && show) {
            this.bringIntoView(band);
        }
        this.change("pointer");
    }

    /* Zooms only where the band would not be seen. */
    bringIntoView(band) {
        const {view} = this, {begin, end} = this.data.bands;
        const from = view.edges[begin[band]], to = view.edges[end[band]];
        const pixels = ((to - from) / (view.x1 - view.x0)) * this.chart.wide;
        if (to <= view.x0 || from >= view.x1 || pixels < 3) {
            view.showColumns(begin[band], end[band]);
            this.change("shapes");
        }
    }

    hover(place) {
        this.pointer = place;
        this.change("pointer");
    }

    click(place) {
        const band = this.chart.bandAt(place.x, place.y);
        this.choose(band < this.data.bands.count ? band : -1, false);
        this.showBlocksAfter(this.itemOf(this.chart.momentAt(place.x)));
    }

    zoomToBand(place) {
        const band = this.chart.bandAt(place.x, place.y);
        if (band < this.data.bands.count) {
            this.view.showColumns(this.data.bands.begin[band], this.data.bands.end[band]);
            this.change("shapes");
        }
    }

    drag(x, y) {
        this.pointer = null;
        this.move(-x / this.chart.wide, y / this.chart.high);
    }

    pinch(before, now) {
        const factor = before.apart / now.apart;
        this.view.zoomX(factor, this.chart.shareX(now.x));
        this.view.moveX((before.x - now.x) / this.chart.wide);
        this.change("shapes");
    }

    wheel(place, event) {
        const lines = event.deltaMode === 1 ? 30 : 1;
        const by = (event.shiftKey && event.deltaY === 0 ? event.deltaX : event.deltaY) * lines;
        const factor = Math.exp(Math.min(Math.max(by, -400), 400) * 0.0025);
        if (event.shiftKey) {
            this.view.zoomY(factor, this.chart.shareY(place.y));
        } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            this.view.moveX((event.deltaX * lines) / this.chart.wide);
        } else {
            this.view.zoomX(factor, this.chart.shareX(place.x));
        }
        this.pointer = place;
        this.change("shapes");
    }

    /* In shares of the view, across in whole pixels: then most of the picture can stay. */
    move(x, y) {
        const pixels = this.chart.raster.width;
        this.view.moveX(Math.round(x * pixels) / pixels);
        this.view.moveY(y);
        this.change("shapes");
    }

    /* About the pointer where there is one, else the middle. */
    zoom(factor) {
        this.view.zoomX(factor, this.pointer ? this.chart.shareX(this.pointer.x) : 0.5);
        this.change("shapes");
    }

    zoomBytes(factor) {
        this.view.zoomY(factor, this.pointer ? this.chart.shareY(this.pointer.y) : 0);
        this.change("shapes");
    }

    whole() {
        this.view.whole();
        this.change("shapes");
    }

    toPeak() {
        const {peak, columns} = this.data, around = Math.max(Math.round(columns / 200), 20);
        this.view.showColumns(Math.max(peak.column - around, 0), Math.min(peak.column + around, columns));
        this.column = peak.column;
        this.pointer = null;
        this.showBlocksAfter(peak.item === undefined ? -1 : peak.item);
        this.change("shapes");
    }

    centre(x) {
        const value = this.overview.valueAt(x), span = this.view.x1 - this.view.x0;
        this.view.setX(value - span / 2, value + span / 2);
        this.change("shapes");
    }

    otherAxis() {
        if (this.data.time) {
            this.view.changeAxis(this.view.axis === "time" ? "event" : "time");
            byId("axis").value = this.view.axis;
            this.change("shapes");
        }
    }

    colourBy(what) {
        const {chart, data} = this, groups = groupsBy(data, what);
        chart.groups = groups;
        chart.recolour();
        this.shown = new Array(groups.names.length).fill(true);
        this.shown.rest = true;
        chart.raster.showsRest = true;
        this.showGroups();
        this.change("colours");
    }

    /* The order of the rows: from the top of a stack down. */
    showGroups() {
        const {chart, data} = this, groups = chart.groups;
        const used = new Set(groups.of);
        const all = groups.of === data.bands.category ? data.order : groups.names.map((name, i) => i);
        const order = all.filter((group) => used.has(group));
        chart.stack.shown = Uint8Array.from(groups.of, (group) => (this.shown[group] ? 1 : 0));
        chart.stack.rebuild(0);
        this.panel.listGroups(groups, groups.of === data.bands.category ? order.reverse() : order,
            this.shown, chart.theme.rest);
        this.change("shapes");
    }

    toggle(group, on) {
        this.shown[group] = on;
        const {chart} = this;
        chart.stack.shown = Uint8Array.from(chart.groups.of, (other) => (this.shown[other] ? 1 : 0));
        chart.stack.rebuild(0);
        this.change("shapes");
    }

    toggleRest(on) {
        this.shown.rest = on;
        this.chart.raster.showsRest = on;
        this.change("shapes");
    }

    search(text) {
        this.finder.find(text);
        this.chart.found = this.finder.found;
        this.chart.recolour();
        byId("found").textContent = this.finder.text();
        this.change("colours");
    }

    next(by) {
        const band = this.finder.step(by);
        if (band >= 0) {
            this.choose(band, true);
        }
    }

    escape() {
        if (this.chosen >= 0) {
            this.choose(-1, false);
        } else if (this.finder.found) {
            byId("search").value = "";
            this.search("");
        }
        byId("search").blur();
    }

    toggleHelp() {
        const help = byId("help");
        help.hidden = !help.hidden;
        byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
        this.resize();
    }

    resize() {
        this.chart.resize();
        this.overview.resize();
        this.blocks.resize();
        this.change("shapes");
    }

    recolour() {
        this.chart.theme = readTheme();
        this.chart.recolour();
        this.change("shapes");
    }

    followHash() {
        if (this.view.fromHash(location.hash)) {
            byId("axis").value = this.view.axis;
            this.change("shapes");
        }
    }
}

function start() {
    for (const part of document.querySelectorAll(".needs-script")) {
        part.hidden = false;
    }
    const page = new Page(readData(byId("data").textContent));
    byId("data").remove();
    byId("axis").value = page.view.axis;
    listenToPointer(byId("chart"), page);
    listenToOverview(byId("overview"), page);
    listenToKeys(page);
    listenToTools(page);
    window.addEventListener("resize", () => page.resize());
    window.addEventListener("hashchange", () => page.followHash());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.recolour());
    return page;
}

let thePage = null;
try {
    thePage = start();
} catch (error) {
    byId("trouble").textContent = `This page cannot be shown: ${error.message}`;
    byId("trouble").hidden = false;
    throw error;
}
