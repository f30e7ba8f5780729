/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When each interval began, and how long it took: bursts, drift, what comes every minute. */

import { figure, html, later, lead, readout, svg, unpack } from "./elements.js";
import { textCount, textNs } from "./format.js";
import { GUTTER, axisBelow, axisBeside, scale } from "./scale.js";
import { table, twin } from "./table.js";

const HEIGHT = 220, BOTTOM = 40, SLICES = 20;

/* {start, latency, sid}: columns, in order of start. */
async function readDots(data) {
	const packed = await unpack(data.dots);
	let start = 0, sid = 0;

	return {
		start: packed.start_ns.map((ns) => (start += ns)), latency: packed.latency_ns,
		sid: packed.sid.map((value) => (typeof value === "string" ? value : String(sid += value))),
	};
}

/* A column of dots without a gap is one line: a path of lines is painted in a third of the time of its dots. */
function lines(seen, columns, rows, kind) {
	const list = [];

	for (let px = 0; px < columns; px++)
		for (let py = 0, from = -1; py <= rows; py++) {
			const isOn = py < rows && seen[px * rows + py] & kind;

			if (isOn && from < 0) {
				from = py;
			} else if (!isOn && from >= 0) {
				list.push(`M${px / 2} ${from / 2}v${(py - 1 - from) / 2}`);
				from = -1;
			}
		}
	return list.join("");
}

/* On a grid of half pixels; dots that would lie on each other are drawn once. */
function drawDots(picture, dots, x, y, detail) {
	const rows = HEIGHT * 2, columns = (Math.ceil(x.right) + 1) * 2, seen = new Uint8Array(columns * rows);

	for (let i = 0; i < dots.start.length; i++) {
		const ns = dots.latency[i];

		seen[Math.round(x.at(dots.start[i]) * 2) * rows + Math.round(y.at(ns) * 2)] |= ns >= detail.from_ns && ns <= detail.to_ns ? 2 : 1;
	}
	for (const [name, kind] of [["rest", 1], ["selected", 2]])
		picture.append(svg("path", { d: lines(seen, columns, rows, kind), class: `dots ${name}` }));
}

function slices(dots, detail) {
	const last = dots.start.at(-1) || 1;
	const rows = Array.from({ length: SLICES }, (_, i) => ({ from: last * i / SLICES, count: 0, sum: 0, max: 0, selected: 0 }));

	dots.latency.forEach((ns, i) => {
		const row = rows[Math.min(SLICES - 1, Math.floor(dots.start[i] / last * SLICES))];

		row.count++;
		row.sum += ns;
		row.max = Math.max(row.max, ns);
		row.selected += ns >= detail.from_ns && ns <= detail.to_ns ? 1 : 0;
	});
	return rows;
}

function sliceTable(dots, detail) {
	return table("Latency by time", [
		{ title: "from", cell: (row) => textNs(row.from) },
		{ title: "intervals", cell: (row) => textCount(row.count) },
		{ title: "selected", cell: (row) => textCount(row.selected) },
		{ title: "mean", cell: (row) => row.count ? textNs(row.sum / row.count) : "" },
		{ title: "max", cell: (row) => row.count ? textNs(row.max) : "" },
	], slices(dots, detail));
}

function describe(dots, i) {
	return `interval ${dots.sid[i]} · began after ${textNs(dots.start[i])} · took ${textNs(dots.latency[i])}`;
}

/* The dot that is nearest to a point, of those not far to its left and right. */
function nearest(dots, x, y, px, py) {
	let low = 0, high = dots.start.length, best = -1, distance = 400;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (x.at(dots.start[middle]) < px - 20)
			low = middle + 1;
		else
			high = middle;
	}
	for (let i = low; i < dots.start.length && x.at(dots.start[i]) <= px + 20; i++) {
		const away = (x.at(dots.start[i]) - px) ** 2 + (y.at(dots.latency[i]) - py) ** 2;

		if (away < distance) {
			distance = away;
			best = i;
		}
	}
	return best;
}

/* From one selected interval to the next. */
function step(dots, detail, from, by) {
	for (let i = from + by; i >= 0 && i < dots.latency.length; i += by)
		if (dots.latency[i] >= detail.from_ns && dots.latency[i] <= detail.to_ns)
			return i;
	return from;
}

/* What the pointer and the keys do to the figure: state is {at, detail, scale, x, y}. */
function listen(section, drawn, dots, state, said) {
	const go = (i) => {
		if (i < 0)
			return;
		state.at = i;
		said.textContent = describe(dots, i);
		drawn.redraw();
	};
	const open = () => state.at >= 0 &&
		section.dispatchEvent(new CustomEvent("vprof:interval", { detail: { sid: dots.sid[state.at] }, bubbles: true }));
	const under = (event) => {
		const box = drawn.picture.getBoundingClientRect();

		return nearest(dots, state.x, state.y, event.clientX - box.left, event.clientY - box.top);
	};

	drawn.picture.addEventListener("pointermove", (event) => {
		const i = under(event);

		if (i >= 0)
			said.textContent = describe(dots, i);
	});
	drawn.picture.addEventListener("click", (event) => {
		const i = under(event);

		go(i);
		if (i >= 0)
			open();
	});
	drawn.box.addEventListener("keydown", (event) => {
		if (event.key === "ArrowRight" || event.key === "ArrowLeft")
			go(step(dots, state.detail, state.at, event.key === "ArrowRight" ? 1 : -1));
		else if (event.key === "Enter")
			open();
		else
			return;
		event.preventDefault();
	});
}

function drawAll(picture, width, dots, state, interval) {
	state.x = scale("linear", 0, dots.start.at(-1), GUTTER + 4, width - 6);
	state.y = scale(state.scale, interval.min_ns, interval.max_ns, HEIGHT - BOTTOM - 6, 14);
	axisBeside(picture, state.y, width);
	drawDots(picture, dots, state.x, state.y, state.detail);
	if (state.at >= 0)
		picture.append(svg("circle", {
			cx: state.x.at(dots.start[state.at]), cy: state.y.at(dots.latency[state.at]), r: 6, class: "ring",
		}));
	axisBelow(picture, state.x, HEIGHT - BOTTOM, "time since the first interval began");
}

/* Up to 100,000 dots are drawn when the rest of the page is there. */
export function drawOverTime(section, data, sections) {
	const { interval } = sections.verdict;
	const said = readout("Each dot is an interval. Click one to see what it did.");
	const state = { detail: { from_ns: sections.latency.slow_from_ns, to_ns: interval.max_ns }, at: -1,
		scale: sections.latency.bins.scale, x: null, y: null };
	let dots = null;

	lead(section, "Each interval by its start; the selected ones stand out. ", data.drawn < interval.count
		? `Of ${textCount(interval.count)} intervals ${textCount(data.drawn)} are drawn: the slowest, and a sample of the others.` : "");
	const drawn = figure(section, "Latency by start of the interval. Left and right go from one selected interval to the next, Enter opens it.",
		(picture, width) => {
			picture.setAttribute("height", HEIGHT);
			if (dots)
				drawAll(picture, width, dots, state, interval);
		}, { tabindex: 0, class: "dotted", role: "application" });

	section.append(said);
	const details = twin(section, "Latency over time as a table", html("div"));

	function show() {
		drawn.redraw();
		details.lastElementChild.replaceWith(sliceTable(dots, state.detail));
	}

	document.addEventListener("vprof:selection", (event) => {
		const { from_ns: from, to_ns: to } = event.detail;

		if (from === state.detail.from_ns && to === state.detail.to_ns)
			return;
		state.detail = event.detail;
		if (dots)
			show();
	});
	later(async () => {
		dots = await readDots(data);
		listen(section, drawn, dots, state, said);
		show();
		section.dataset.drawn = "yes";
	});
}
