/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Causal experiments: what the metric would change by if a target were faster, one curve a target. */

import { figure, html, lead, legend, named, svg } from "./elements.js";
import { fixed, plural, shortened, textCount } from "./format.js";
import { GUTTER, ticks, scale } from "./scale.js";
import { table, twin } from "./table.js";

const HEIGHT = 230, TOP = 14, BOTTOM = 40, CURVES = 6;

/* A gain lowers the metric, but for the throughput: the change in per cent, as vprof show causal prints it. */
function changeOf(gain, metric) {
	return typeof gain === "number" ? 100 * (metric === "throughput" ? gain : -gain) : null;
}

function textChange(change) {
	if (change === null)
		return "";
	if (Math.abs(change) < 0.05)
		return "0";
	return `${change > 0 ? "+" : ""}${fixed(change, Math.abs(change) < 10 ? 1 : 0)}`;
}

/* {x, measured, ci95, predicted, change}: in per cent; change is what the curve shows. */
function rowOf(x, data) {
	const { metric } = data, measured = x.metrics[metric];
	const ci95 = (measured?.ci95 ?? []).map((gain) => changeOf(gain, metric)).sort((a, b) => a - b);
	const row = { x, measured: changeOf(measured?.gain, metric), ci95, predicted: changeOf(x.predicted?.[metric], metric) };

	return { ...row, change: data.replayed ? row.predicted : row.measured };
}

/* By target, in order: {target, isBound, points}, of each what the curve goes through. */
function curvesOf(rows, replayed) {
	const curves = new Map();

	for (const { x, change } of rows.filter((row) => row.change !== null)) {
		const curve = curves.get(x.target) ?? { target: x.target, isBound: replayed && x.upper_bound, points: [[0, 0]] };

		curve.points.push([100 * x.speedup, change]);
		curves.set(x.target, curve);
	}
	const reach = (curve) => Math.max(...curve.points.map(([, change]) => Math.abs(change)));

	return [...curves.values()].sort((a, b) => reach(b) - reach(a));
}

function drawCurves(picture, width, curves) {
	const changes = curves.flatMap((curve) => curve.points.map(([, change]) => change));
	const x = scale("linear", 0, 100, GUTTER, width - Math.min(180, width * 0.3));
	const y = scale("linear", Math.min(0, ...changes), Math.max(0, ...changes), HEIGHT - BOTTOM, TOP);
	const room = Math.floor((width - x.right - 8) / 7), ends = [];

	picture.setAttribute("height", HEIGHT);
	for (const change of ticks(y, 5))
		picture.append(svg("line", { x1: x.left, x2: x.right, y1: y.at(change), y2: y.at(change), class: "grid" }),
			svg("text", { x: x.left - 6, y: y.at(change) + 4, "text-anchor": "end", class: "muted" }, textChange(change)));
	for (const speedup of [0, 25, 50, 75, 100])
		picture.append(svg("text", { x: x.at(speedup), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle", class: "muted" }, String(speedup)));
	picture.append(svg("text", { x: x.right, y: HEIGHT - 6, "text-anchor": "end", class: "muted" }, "% faster"));
	for (const { target, isBound, points } of curves) {
		const [last, change] = points.at(-1);
		let at = y.at(change) + 4;

		/* Names do not lie on each other. */
		while (ends.some((end) => Math.abs(end - at) < 13))
			at += 13;
		ends.push(at);
		picture.append(svg("path", { d: points.map(([px, py], i) => `${i ? "L" : "M"}${x.at(px)} ${y.at(py)}`).join(""), class: `curve${isBound ? " bound" : ""}` }),
			svg("circle", { cx: x.at(last), cy: y.at(change), r: 3, class: "dot" }),
			svg("text", { x: x.right + 8, y: at }, shortened(target, room)));
	}
}

function causalTable(rows, data) {
	const columns = [
		{ title: "target", align: "left", isHead: true, cell: ({ x }) => named(`${x.target}${data.replayed && x.upper_bound ? " *" : ""}`) },
		{ title: "% faster", cell: ({ x }) => String(Number((100 * x.speedup).toPrecision(3))) },
	];
	const measured = [
		{ title: "change, %", className: "strong", cell: (row) => textChange(row.measured) },
		{ title: "95 % CI", cell: ({ ci95 }) => ci95.length ? `${textChange(ci95[0])} to ${textChange(ci95[1])}` : "" },
	];
	const predicted = { title: "predicted, %", className: data.replayed ? "strong" : "", cell: (row) => textChange(row.predicted) };

	return table(`Change of the ${data.metric}`, [...columns, ...data.replayed ? [] : measured, predicted,
		...data.replayed ? [] : [{ title: "rounds", cell: ({ x }) => textCount(x.rounds) }]], rows, 30);
}

function refusals(list) {
	return html("ul", { class: "warnings" }, list.map((refused) =>
		html("li", {}, named(refused.target), `: ${refused.why}${refused.instead ? `; instead: ${refused.instead}` : ""}`)));
}

export function drawCausal(section, data) {
	const rows = data.experiments.map((x) => rowOf(x, data)), curves = curvesOf(rows, data.replayed);
	const drawn = curves.slice(0, CURVES);

	section.append(html("p", { class: "answer" }, data.text));
	lead(section, `Change of the ${data.metric} of `, named(data.interval.name ?? "the interval"), ` in per cent, of ${plural(data.interval.count, "interval")} `,
		data.replayed ? "in the trace: a replay of the waits that happened, a hypothesis to be measured." : "with nothing faster.");
	if (drawn.length) {
		legend(section, ["code", data.replayed ? "predicted" : "measured"],
			...drawn.some((curve) => curve.isBound) ? [["head", "at most: what would then be waited for instead is not in the trace (*)"]] : []);
		figure(section, "Change of the metric by how much faster each target is; the table below has the numbers.",
			(picture, width) => drawCurves(picture, width, drawn));
	}
	if (drawn.length < curves.length)
		section.append(html("p", { class: "note" }, `${drawn.length} of ${curves.length} targets are drawn: those that change most.`));
	if (rows.length)
		twin(section, "Experiments as a table", causalTable(rows, data), true);
	if (data.refused.length)
		section.append(refusals(data.refused));
	for (const warning of data.warnings)
		section.append(html("ul", { class: "warnings" }, html("li", {}, html("code", {}, warning.code), " ", warning.text)));
}
