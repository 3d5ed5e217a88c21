"use strict";
/* Pointer, wheel, fingers and keys become changes of the page. */

const CLICK = 4; /* pixels that a click may move */

/* `page` as in page.js. */
function listenToPointer(canvas, page) {
    const pointers = new Map(); /* by id: where it is */
    let moved = 0, pinch = null;
    const place = (event) => {
        const box = canvas.getBoundingClientRect();
        return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        pointers.set(event.pointerId, place(event));
        moved = pointers.size === 1 ? 0 : CLICK + 1;
        pinch = pointers.size === 2 ? fingers(pointers) : null;
    });
    canvas.addEventListener("pointermove", (event) => {
        const now = place(event), before = pointers.get(event.pointerId);
        if (!before) {
            page.hover(now);
            return;
        }
        pointers.set(event.pointerId, now);
        if (pointers.size === 2 && pinch) {
            const next = fingers(pointers);
            page.pinch(pinch, next);
            pinch = next;
            return;
        }
        moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
        if (moved > CLICK) {
            canvas.classList.add("moving");
            page.drag(now.x - before.x, now.y - before.y);
        }
    });
    const release = (event) => {
        const isClick = event.type === "pointerup" && pointers.size === 1 && moved <= CLICK;
        pointers.delete(event.pointerId);
        pinch = null;
        canvas.classList.remove("moving");
        if (isClick) {
            page.click(place(event));
        }
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => page.hover(null));
    canvas.addEventListener("dblclick", (event) => page.zoomToBand(place(event)));
    canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        page.wheel(place(event), event);
    }, {passive: false});
}

/* The middle of two fingers and how far apart they are, at least a little. */
function fingers(pointers) {
    const [a, b] = [...pointers.values()];
    return {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.max(Math.hypot(a.x - b.x, a.y - b.y), 10)};
}

function listenToOverview(canvas, page) {
    const move = (event) => {
        if (event.buttons & 1) {
            page.centre(event.clientX - canvas.getBoundingClientRect().left);
        }
    };
    canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        move(event);
    });
    canvas.addEventListener("pointermove", move);
}

function listenToKeys(page) {
    const keys = {
        ArrowLeft: () => page.move(-0.15, 0),
        ArrowRight: () => page.move(0.15, 0),
        ArrowUp: (event) => (event.shiftKey ? page.zoomBytes(0.7) : page.move(0, 0.15)),
        ArrowDown: (event) => (event.shiftKey ? page.zoomBytes(1 / 0.7) : page.move(0, -0.15)),
        "+": () => page.zoom(0.6),
        "=": () => page.zoom(0.6),
        "-": () => page.zoom(1 / 0.6),
        0: () => page.whole(),
        p: () => page.toPeak(),
        t: () => page.otherAxis(),
        b: () => page.toggleBlocks(),
        "[": () => page.stepBlocks(-1),
        "]": () => page.stepBlocks(1),
        n: () => page.next(1),
        N: () => page.next(-1),
        "/": () => byId("search").focus(),
        "?": () => page.toggleHelp(),
        Escape: () => page.escape(),
    };
    document.addEventListener("keydown", (event) => {
        const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox";
        if (event.ctrlKey || event.altKey || event.metaKey || (typing && event.key !== "Escape")) {
            return;
        }
        if (Object.hasOwn(keys, event.key)) {
            event.preventDefault();
            keys[event.key](event);
        }
    });
}

function listenToTools(page) {
    byId("colour").addEventListener("change", (event) => page.colourBy(event.target.value));
    byId("axis").addEventListener("change", () => page.otherAxis());
    byId("zoom-in").addEventListener("click", () => page.zoom(0.5));
    byId("zoom-out").addEventListener("click", () => page.zoom(2));
    byId("whole").addEventListener("click", () => page.whole());
    byId("to-peak").addEventListener("click", () => page.toPeak());
    byId("help-button").addEventListener("click", () => page.toggleHelp());
    byId("search").addEventListener("input", (event) => page.search(event.target.value));
    byId("search").addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
            page.next(event.shiftKey ? -1 : 1);
        }
    });
}
