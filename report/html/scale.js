/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From values to pixels, and where an axis has its marks. */

import { svg } from "./elements.js";
import { textNs } from "./format.js";

/* kind: "log" or "linear"; from, to: values; left, right: pixels. */
export function scale(kind, from, to, left, right) {
	const isLog = kind === "log";
	const low = isLog ? Math.log(Math.max(1, from)) : from;
	const high = isLog ? Math.log(Math.max(1, to)) : to;
	const span = high - low || 1;
	const at = (value) => left + ((isLog ? Math.log(Math.max(1, value)) : value) - low) / span * (right - left);

	return { at, isLog, from, to, left, right };
}

/* 1, 2, 5 times a power of ten. */
function roundSteps(from, to, most) {
	if (!(to > from))
		return [from];
	const step = (to - from) / most;
	const power = 10 ** Math.floor(Math.log10(step));
	const round = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= step);
	const first = Math.ceil(from / round) * round, list = [];

	for (let i = 0; i <= most && first + i * round <= to + round * 1e-9; i++)
		list.push(first + i * round);
	return list;
}

function roundPowers(from, to, most) {
	const list = [];
	const decades = Math.log10(to / Math.max(1, from));

	for (let power = 10 ** Math.floor(Math.log10(Math.max(1, from))); power <= to; power *= 10)
		for (const n of decades * 3 <= most ? [1, 2, 5] : [1])
			if (n * power >= from && n * power <= to)
				list.push(n * power);
	return list.filter((_, i) => list.length <= most || i % Math.ceil(list.length / most) === 0);
}

export function ticks(s, most) {
	const list = s.isLog ? roundPowers(s.from, s.to, most) : roundSteps(s.from, s.to, most);

	return list.length ? list : [s.from];
}

/* 10 ms and not 10.0 ms: marks are round numbers. */
function textMark(ns) {
	return textNs(ns).replace(/\.0+ /, " ").replace(/(\.\d*[1-9])0+ /, "$1 ");
}

export const GUTTER = 46;

export function axisBelow(picture, s, y, title) {
	for (const ns of ticks(s, Math.max(2, Math.floor((s.right - s.left) / 80)))) {
		const x = s.at(ns);

		picture.append(svg("line", { x1: x, x2: x, y1: y, y2: y + 4, class: "axis" }),
			svg("text", { x, y: y + 16, "text-anchor": x < s.left + 20 ? "start" : x > s.right - 24 ? "end" : "middle" },
				textMark(ns)));
	}
	picture.append(svg("line", { x1: s.left, x2: s.right, y1: y, y2: y, class: "axis" }));
	if (title)
		picture.append(svg("text", { x: s.right, y: y + 31, "text-anchor": "end", class: "muted" }, title));
}

/* Lines across for latencies, which stand to the left of the figure. */
export function axisBeside(picture, s, right) {
	for (const ns of ticks(s, 5)) {
		const y = s.at(ns);

		picture.append(svg("line", { x1: GUTTER, x2: right, y1: y, y2: y, class: "grid" }),
			svg("text", { x: GUTTER - 6, y: y + 4, "text-anchor": "end", class: "muted" }, textMark(ns)));
	}
}
