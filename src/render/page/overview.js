"use strict";
/* The strip below the chart: all of the trace, and which part of it the chart shows. */

class Overview {
    constructor(canvas, data, view) {
        this.canvas = canvas;
        this.data = data;
        this.view = view;
    }

    resize() {
        const ratio = Math.min(window.devicePixelRatio || 1, 2);
        const box = this.canvas.getBoundingClientRect();
        this.canvas.width = Math.round(box.width * ratio);
        this.canvas.height = Math.round(box.height * ratio);
        this.wide = Math.max(box.width - MARGIN.left - MARGIN.right, 50);
        this.high = box.height;
        this.ratio = ratio;
    }

    /* The value of the axis at a place of the canvas. */
    valueAt(x) {
        const share = Math.min(Math.max((x - MARGIN.left) / this.wide, 0), 1);
        return this.view.first + (this.view.last - this.view.first) * share;
    }

    draw(theme) {
        const context = this.canvas.getContext("2d");
        const {view, data, wide, high} = this;
        const scale = wide / (view.last - view.first);
        context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
        context.clearRect(0, 0, this.canvas.width, this.canvas.height);
        context.fillStyle = theme.css.rest;
        let c = 0;
        for (let p = 0; p < wide; p++) {
            let most = data.active[c];
            while (c + 1 < data.columns && (view.edges[c + 1] - view.first) * scale < p + 1) {
                c++;
                most = Math.max(most, data.active[c]);
            }
            const tall = (most / view.top) * (high - 4);
            context.fillRect(MARGIN.left + p, high - tall, 1, tall);
        }
        const from = MARGIN.left + (view.x0 - view.first) * scale;
        const size = Math.max((view.x1 - view.x0) * scale, 2);
        context.fillStyle = theme.css.window;
        context.fillRect(from, 0, size, high);
        context.strokeStyle = "#0072b2";
        context.strokeRect(from + 0.5, 0.5, Math.max(size - 1, 1), high - 1);
    }
}
