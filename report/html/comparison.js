/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sides of runs: what vprof diff says, and the latencies of both on one scale. */

import { figure, html, lead, legend, named, svg } from "./elements.js";
import { fixed, plural, textCount, textNs, textPercent, textPlace } from "./format.js";
import { axisBelow, scale } from "./scale.js";
import { difference, table, twin } from "./table.js";

const HEIGHT = 190, BOTTOM = 40;

/* 1.21 is +21 %: a number without its sign says nothing here. */
function textChange(ratio) {
	if (typeof ratio !== "number")
		return "";
	const percent = (ratio - 1) * 100, digits = Math.abs(percent) < 9.95 ? 1 : 0;

	return `${percent > 0 ? "+" : ""}${fixed(percent, digits)} %`;
}

/* A variance in the square of the unit that the root of `whole` would have, which is one for a column: 229.9 ms². */
function textSquare(ns2, whole) {
	const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(([, ns]) => Math.sqrt(whole) >= ns) ?? ["ns", 1];
	const value = ns2 / size / size;

	return `${fixed(Math.abs(value) < 0.0005 ? 0 : value, Math.abs(value) < 9.9995 ? 3 : 1)} ${unit}²`;
}

function sideText(data, side) {
	return [named(data[`${side}_label`]), ` (${plural(data[side].runs.length, "run")}, ${plural(data[side].intervals, "interval")})`];
}

export function drawComparisonTop(data) {
	document.getElementById("top").append(
		html("h1", {}, named(data.interval), ": ", named(data.head_label), " against ", named(data.base_label)),
		html("p", { class: "mark" }, "vprof · base ", sideText(data, "base"), " · head ", sideText(data, "head")));
}

export function drawComparisonVerdict(section, data) {
	const value = (metric, side) => metric[`${side}_ns`] === null ? "" :
		metric.name === "var" ? textSquare(metric[`${side}_ns`], metric.base_ns) : textNs(metric[`${side}_ns`]);

	section.classList.toggle("unsure", data.within_these_runs_only);
	section.append(html("p"), table("Latency of both sides", [
		{ title: "", align: "left", isHead: true, cell: (metric) => metric.name },
		{ title: "base", cell: (metric) => value(metric, "base") },
		{ title: "head", cell: (metric) => value(metric, "head") },
		{ title: "change", className: "strong", cell: (metric) => textChange(metric.ratio) },
		{ title: "95 % CI", cell: (metric) => metric.ci95 ? `${textChange(metric.ci95[0])} to ${textChange(metric.ci95[1])}` : "" },
		{ title: "", align: "left", cell: (metric) => html("span", { class: `verdict ${metric.verdict}` },
			{ better: "▼ better", worse: "▲ worse", same: "the same" }[metric.verdict] ?? "not known") },
	], data.metrics));
	for (const warning of data.warnings)
		section.append(html("ul", { class: "warnings" }, html("li", {}, html("code", {}, warning.code), " ", warning.text)));
}

/* As steps: {edge, height}, of the part of a side's intervals. */
function outline(counts, edges, s, most) {
	const all = counts.reduce((sum, n) => sum + n, 0) || 1, end = HEIGHT - BOTTOM;
	const y = (count) => end - Math.log1p(count / all * 1e4) / most * (end - 10);
	const steps = edges.map((edge, i) => `${i ? "L" : "M"}${s.at(edge)} ${y(counts[i])}H${i + 1 < edges.length ? s.at(edges[i + 1]) : s.right}`);

	return `${steps.join("")}L${s.right} ${end}L${s.left} ${end}Z`;
}

export function drawComparisonLatency(section, data) {
	const share = (counts, n) => n / (counts.reduce((sum, k) => sum + k, 0) || 1);
	const largest = Math.max(...data.base.map((n) => share(data.base, n)), ...data.head.map((n) => share(data.head, n)));
	const most = Math.log1p(largest * 1e4);

	lead(section, "Which part of each side's intervals took how long, on logarithmic scales.");
	legend(section, ["code", "base"], ["head", "head"]);
	figure(section, "Latencies of both sides; the table below has the numbers.", (picture, width) => {
		const s = scale("log", data.from_ns[0], data.max_ns, 2, width - 2);

		picture.setAttribute("height", HEIGHT);
		picture.append(svg("path", { d: outline(data.base, data.from_ns, s, most), class: "side base" }),
			svg("path", { d: outline(data.head, data.from_ns, s, most), class: "side head" }));
		axisBelow(picture, s, HEIGHT - BOTTOM, "latency");
	});
	twin(section, "Latencies of both sides as a table", table("Latencies of both sides", [
		{ title: "from", cell: (i) => textNs(data.from_ns[i]) },
		{ title: "base", cell: (i) => textCount(data.base[i]) }, { title: "of all", cell: (i) => textPercent(share(data.base, data.base[i])) },
		{ title: "head", cell: (i) => textCount(data.head[i]) }, { title: "of all", cell: (i) => textPercent(share(data.head, data.head[i])) },
	], data.from_ns.map((_, i) => i).filter((i) => data.base[i] || data.head[i])));
}

export function drawComparisonCauses(section, data) {
	const most = Math.max(1, ...data.changes.map((change) => Math.abs(change.delta_ns2)));
	const whole = data.changes.reduce((sum, change) => sum + change.base_ns2, 0);
	const square = (ns2) => textSquare(ns2, Math.max(whole, most));

	lead(section, "Where the variance is on either side. The changes add up to the change of the variance.");
	section.append(table("Changes", [
		{ title: "part", align: "left", isHead: true, cell: (change) => [named(change.label, Boolean(change.wait)),
			html("small", { class: "place" }, ` ${textPlace(change.file, change.line)}`)] },
		{ title: "base", cell: (change) => square(change.base_ns2) },
		{ title: "head", cell: (change) => square(change.head_ns2) },
		{ title: "change", className: "strong", cell: (change) => `${change.delta_ns2 > 0 ? "+" : ""}${square(change.delta_ns2)}` },
		{ title: "of it", cell: (change) => change.share_of_change === null ? "" : textPercent(change.share_of_change) },
		{ title: "", align: "left", className: "wide", cell: (change) =>
			difference(change.delta_ns2, most, change.delta_ns2 < 0 ? "ink code" : "ink wait") },
	], data.changes.map((change, i) => ({ ...change, label: data.labels[i] })), 12));
}
