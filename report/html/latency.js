/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of the latencies.  The brush selects a class of intervals; sections that follow it listen to vprof:selection. */

import { figure, html, lead, readout, svg } from "./elements.js";
import { fixed, plural, textCount, textNs } from "./format.js";
import { GUTTER, axisBelow, scale } from "./scale.js";
import { table, twin } from "./table.js";

const HEIGHT = 210, TOP = 52, BOTTOM = 40;

/* The selection is from edge `from` up to, and without, edge `to`. */
class Selection {
	constructor(data) {
		this.edges = data.bins.from_ns;
		this.counts = data.bins.count;
		this.max = data.interval.max_ns;
		this.slowFrom = Math.max(0, this.edges.indexOf(data.slow_from_ns));
		this.reset();
	}

	reset() {
		this.from = this.slowFrom;
		this.to = this.edges.length;
	}

	/* In either order; at least one bin. */
	set(one, other) {
		const last = this.edges.length;

		this.from = Math.min(Math.max(0, Math.min(one, other)), last - 1);
		this.to = Math.max(Math.min(last, Math.max(one, other)), this.from + 1);
	}

	get fromNs() {
		return this.edges[this.from];
	}

	get toNs() {
		return this.to === this.edges.length ? this.max : this.edges[this.to] - 1;
	}

	get count() {
		return this.counts.slice(this.from, this.to).reduce((sum, n) => sum + n, 0);
	}

	get isSlowest() {
		return this.from === this.slowFrom && this.to === this.edges.length;
	}

	/* The edge that is nearest to a pixel. */
	nearest(s, pixel) {
		let best = 0;

		for (let i = 0; i <= this.edges.length; i++) {
			const x = s.at(i === this.edges.length ? this.max : this.edges[i]);
			const bestX = s.at(best === this.edges.length ? this.max : this.edges[best]);

			if (Math.abs(x - pixel) < Math.abs(bestX - pixel))
				best = i;
		}
		return best;
	}

	get detail() {
		return { from_ns: this.fromNs, to_ns: this.toNs, count: this.count, from: this.from, to: this.to, is_slowest: this.isSlowest };
	}
}

/* Bars of the bins between two steps of the scale: {from, to, count}. */
function barsOf(data) {
	const steps = data.bins.bars_from_ns;
	const bars = steps.map((from, i) => ({ from, to: steps[i + 1] ?? data.interval.max_ns, count: 0 }));
	let bar = 0;

	data.bins.from_ns.forEach((edge, i) => {
		while (bar + 1 < steps.length && steps[bar + 1] <= edge)
			bar++;
		bars[bar].count += data.bins.count[i];
	});
	return bars;
}

function drawBars(picture, bars, s, selection) {
	const most = Math.log1p(Math.max(...bars.map((bar) => bar.count), 1));
	const end = HEIGHT - BOTTOM;

	for (const n of [1, 10, 100, 1000, 10000, 100000, 1000000].filter((k) => Math.log1p(k) <= most)) {
		const y = end - Math.log1p(n) / most * (end - TOP);

		picture.append(svg("line", { x1: s.left, x2: s.right, y1: y, y2: y, class: "grid" }),
			svg("text", { x: s.left - 6, y: y + 4, "text-anchor": "end", class: "muted" }, textCount(n)));
	}
	for (const bar of bars.filter((b) => b.count)) {
		const height = Math.max(2, Math.log1p(bar.count) / most * (end - TOP));
		const left = s.at(bar.from), right = Math.max(s.at(bar.to), left + 1.5);
		const from = Math.min(right, Math.max(left, s.at(selection.fromNs)));
		const to = selection.to === selection.edges.length ? right : Math.min(right, Math.max(left, s.at(selection.toNs + 1)));
		const add = (x1, x2, className) => x2 - x1 > 0.3 && picture.append(svg("rect", {
			x: x1, width: Math.max(0.8, x2 - x1 - (x2 === right && right - left > 3 ? 1 : 0)), y: end - height, height, class: className,
		}));

		add(left, Math.min(from, right), "rest");
		add(from, to, "selected");
		add(Math.max(to, left), right, "rest");
	}
}

/* Each name stands in the first line where it lies on none before it. */
function drawPercentiles(picture, interval, s) {
	const ends = [-Infinity, -Infinity, -Infinity];

	for (const [name, ns] of [["p50", interval.p50_ns], ["p90", interval.p90_ns], ["p99", interval.p99_ns], ["max", interval.max_ns]]) {
		const x = s.at(ns), text = `${name} ${textNs(ns)}`, width = text.length * 6.6 + 8;
		const isLate = x + width > s.right;
		const from = isLate ? x - width : x;
		const line = Math.max(0, ends.findIndex((end) => end <= from));

		ends[line] = from + width;
		picture.append(svg("line", { x1: x, x2: x, y1: 3 + line * 15, y2: HEIGHT - BOTTOM, class: "percentile" }),
			svg("text", { x: x + (isLate ? -4 : 4), y: 12 + line * 15, "text-anchor": isLate ? "end" : "start" }, text));
	}
}

function drawBrush(picture, selection, s) {
	const left = s.at(selection.fromNs), right = s.at(selection.toNs);

	picture.append(svg("rect", { x: left, width: Math.max(2, right - left), y: TOP, height: HEIGHT - TOP - BOTTOM, class: "brush" }),
		svg("path", { d: `M${left} ${TOP}v${HEIGHT - TOP - BOTTOM}M${right} ${TOP}v${HEIGHT - TOP - BOTTOM}`, class: "brush-ends" }));
}

function describe(selection) {
	const to = selection.to === selection.edges.length ? "or more" : `to ${textNs(selection.toNs)}`;

	return `${plural(selection.count, "interval")} selected: ${textNs(selection.fromNs)} ${to}` +
		(selection.isSlowest ? " (the slowest)" : "");
}

/* Arrows move the lower end, with Shift the upper one. */
function keys(event, selection, change) {
	const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];

	if (step && event.shiftKey)
		change(() => selection.set(selection.from, Math.max(selection.from + 1, selection.to + step)));
	else if (step)
		change(() => selection.set(Math.min(selection.from + step, selection.to - 1), selection.to));
	else if (event.key === "Home")
		change(() => selection.set(0, selection.edges.length));
	else if (event.key === "End" || event.key === "Escape")
		change(() => selection.reset());
	else
		return;
	event.preventDefault();
}

function pointer(picture, selection, scaleNow, change) {
	let first = null;
	const edge = (event) => selection.nearest(scaleNow(), event.clientX - picture.getBoundingClientRect().left);

	picture.addEventListener("pointerdown", (event) => {
		first = edge(event);
		picture.setPointerCapture(event.pointerId);
	});
	picture.addEventListener("pointermove", (event) => {
		const now = first === null ? null : edge(event);

		if (now !== null && now !== first)
			change(() => selection.set(first, now));
	});
	for (const name of ["pointerup", "pointercancel"])
		picture.addEventListener(name, () => { first = null; });
	picture.addEventListener("dblclick", () => change(() => selection.reset()));
}

function bucketTable(data) {
	const all = data.interval.count || 1;

	return table("Latencies", [
		{ title: "from", cell: (b) => textNs(b.from_ns) },
		{ title: "below", cell: (b) => textNs(b.to_ns) },
		{ title: "intervals", cell: (b) => textCount(b.count) },
		{ title: "of all", cell: (b) => `${fixed(100 * b.count / all, 1)} %` },
	], data.buckets);
}

export function drawLatency(section, data) {
	const selection = new Selection(data);
	const bars = barsOf(data);
	const said = readout();
	let s = null;

	lead(section, "How many intervals took how long. Drag over the figure to select a class of them: the sections below follow.");
	const drawn = figure(section, "Histogram of the latencies. Arrow keys move the lower end of the selection, with Shift the upper " +
		"end; Home selects all, End the slowest.", (picture, width) => {
		picture.setAttribute("height", HEIGHT);
		s = scale(data.bins.scale, data.interval.min_ns, data.interval.max_ns, GUTTER, width - 2);
		drawBars(picture, bars, s, selection);
		drawPercentiles(picture, data.interval, s);
		drawBrush(picture, selection, s);
		axisBelow(picture, s, HEIGHT - BOTTOM, "latency; intervals on a logarithmic scale");
	}, { tabindex: 0, class: "brushable", role: "application" });
	const change = (how) => {
		how();
		drawn.redraw();
		said.textContent = describe(selection);
		section.dispatchEvent(new CustomEvent("vprof:selection", { detail: selection.detail, bubbles: true }));
	};

	drawn.box.addEventListener("keydown", (event) => keys(event, selection, change));
	pointer(drawn.picture, selection, () => s, change);
	section.append(html("div", { class: "row" }, said,
		html("button", { type: "button", on: { click: () => change(() => selection.reset()) } }, "the slowest again")));
	twin(section, "Latencies as a table", bucketTable(data));
	return () => change(() => undefined);
}
