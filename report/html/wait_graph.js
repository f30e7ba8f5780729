/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wait-for graph of the whole run: arcs from the thread that waits to what it waits for, as thick as the time. */

import { figure, html, lead, legend, named, readout, svg } from "./elements.js";
import { plural, shortened, textCount, textNs, textPercent, waitText } from "./format.js";
import { table, twin } from "./table.js";

const ROW = 30, MOST = 16;

/* The vertices that take part in the heaviest edges; knots stand together, what waits above what it waits for. */
function chosen(data) {
	const inKnot = new Set(data.knots.filter((knot) => !knot.sink && !knot.background).flatMap((knot) => knot.vertices));
	const edges = data.edges.filter((edge) => !edge.prefiltered || inKnot.has(edge.from) && inKnot.has(edge.to));
	const drawn = edges.length ? edges : data.edges;
	const ids = [];

	for (const edge of drawn)
		for (const id of [edge.from, edge.to])
			if (!ids.includes(id) && ids.length < MOST)
				ids.push(id);
	const weight = (id) => drawn.reduce((sum, edge) => sum + (edge.from === id ? edge.weight_ns : 0) - (edge.to === id ? edge.weight_ns : 0), 0);
	const vertices = ids.map((id) => data.vertices.find((vertex) => vertex.id === id)).filter(Boolean)
		.sort((a, b) => (inKnot.has(b.id) - inKnot.has(a.id)) || weight(b.id) - weight(a.id));

	return { vertices, inKnot, edges: drawn.filter((edge) => ids.includes(edge.from) && ids.includes(edge.to)) };
}

function whereOf(edge) {
	const stack = edge.stacks[0];

	return stack ? [stack.waiter.at(-1) ?? "", waitText(stack.wait)].filter(Boolean).join(": ") : "";
}

function describe(edge, labels, runNs) {
	return `${labels.get(edge.from)} waits for ${labels.get(edge.to)}: ${textNs(edge.weight_ns)}, ` +
		`${textPercent(edge.weight_ns / runNs)} of the run · ${whereOf(edge)}`;
}

/* An arc to the left of the names; the arrow is at what is waited for. */
function drawArc(picture, edge, rows, view) {
	const from = rows.get(edge.from) * ROW + ROW / 2 + 3, to = rows.get(edge.to) * ROW + ROW / 2 - 3;
	const reach = Math.min(view.left - 8, 14 + Math.abs(rows.get(edge.from) - rows.get(edge.to)) * 16);
	const width = 1 + 5 * edge.weight_ns / view.most;
	const isKnot = view.inKnot.has(edge.from) && view.inKnot.has(edge.to);
	const d = edge.from === edge.to ? `M${view.left} ${from}c-24 8 -24 -16 0 -8`
		: `M${view.left} ${from}C${view.left - reach} ${from} ${view.left - reach} ${to} ${view.left - 6} ${to}`;

	picture.append(svg("path", {
		d, class: `arc${isKnot ? " knot" : ""}`, "stroke-width": width, on: { pointerenter: () => view.tell(edge) },
	}), svg("path", { d: `M${view.left - 9} ${to - 4}l8 4l-8 4z`, class: `arrow${isKnot ? " knot" : ""}` }));
}

function drawVertex(picture, vertex, row, view, width) {
	const all = Math.max(1, vertex.running_ns + vertex.runnable_ns + vertex.waiting_ns);
	const nameWidth = Math.min(230, Math.max(90, (width - view.left) * 0.5));
	const barLeft = view.left + 8 + nameWidth, barWidth = Math.max(30, width - barLeft - 4);
	let x = barLeft;

	picture.append(svg("text", { x: view.left + 6, y: row * ROW + ROW / 2 + 4, class: view.inKnot.has(vertex.id) ? "knot" : null },
		shortened(vertex.label, Math.floor(nameWidth / 7))));
	for (const [name, ns] of [["code", vertex.running_ns], ["ready", vertex.runnable_ns], ["wait", vertex.waiting_ns]]) {
		const part = ns / all * barWidth;

		if (part > 0.5)
			picture.append(svg("rect", { x, width: Math.max(0.5, part - 0.5), y: row * ROW + 9, height: ROW - 18, class: `piece ${name}` }));
		x += part;
	}
}

function edgeTable(data, labels) {
	return table("Edges of the wait-for graph", [
		{ title: "who waits", align: "left", isHead: true, cell: (edge) => named(labels.get(edge.from)) },
		{ title: "for", align: "left", cell: (edge) => named(labels.get(edge.to)) },
		{ title: "weight", className: "strong", cell: (edge) => textNs(edge.weight_ns) },
		{ title: "of run", cell: (edge) => textPercent(edge.weight_ns / data.run_ns) },
		{ title: "direct", cell: (edge) => textNs(edge.direct_ns) },
		{ title: "in", align: "left", cell: (edge) => named(whereOf(edge)) },
	], data.edges, 15);
}

function vertexTable(data) {
	return table("Threads and devices", [
		{ title: "thread", align: "left", isHead: true, cell: (vertex) => named(vertex.label) },
		{ title: "running", cell: (vertex) => textNs(vertex.running_ns) },
		{ title: "runnable", cell: (vertex) => textNs(vertex.runnable_ns) },
		{ title: "waiting", cell: (vertex) => textNs(vertex.waiting_ns) },
	], data.vertices, 15);
}

function knotText(data, labels) {
	const knots = data.knots.filter((knot) => !knot.sink && !knot.background);
	const list = (knot) => knot.vertices.map((id) => labels.get(id)).join(", ");

	if (knots.length)
		return `${knots.length === 1 ? "The knot" : plural(knots.length, "knot")}, whose members wait for each other only: ` +
			`${knots.map(list).join("; ")}. What holds the whole run back is in it.`;
	const sinks = data.knots.filter((knot) => knot.sink);

	return sinks.length ? `There is no knot; all long waits end at ${sinks.slice(0, 3).map(list).join(", ")}.` : "There is no knot.";
}

export function drawWaitGraph(section, data) {
	const labels = new Map(data.vertices.map((vertex) => [vertex.id, vertex.label]));
	const graph = chosen(data);
	const rows = new Map(graph.vertices.map((vertex, i) => [vertex.id, i]));
	const said = readout();
	const view = {
		left: 0, inKnot: graph.inKnot, most: Math.max(1, ...graph.edges.map((edge) => edge.weight_ns)),
		tell: (edge) => { said.textContent = describe(edge, labels, data.run_ns); },
	};

	lead(section, "Threads and devices of the whole run. An arc leads from who waits to who is waited for. Time that its waker waited itself ",
		"counts for the edge it waited at, too, so weights may sum to more than the run.");
	section.append(html("p", { class: "answer" }, knotText(data, labels)));
	legend(section, ["code", "running"], ["ready", "ready, without a CPU"], ["wait", "waiting"], ["knot", "in a knot"]);
	figure(section, "Wait-for graph; the table below has its edges.", (picture, width) => {
		view.left = Math.min(30 + (graph.vertices.length - 1) * 16, width * 0.22);
		picture.setAttribute("height", graph.vertices.length * ROW);
		for (const edge of [...graph.edges].reverse())
			drawArc(picture, edge, rows, view);
		graph.vertices.forEach((vertex, i) => drawVertex(picture, vertex, i, view, width));
	});
	section.append(said);
	if (graph.vertices.length < data.vertex_cnt)
		section.append(html("p", { class: "note" }, `${graph.vertices.length} of ${data.vertex_cnt} threads and devices are drawn: ` +
			"those of the heaviest edges."));
	if (data.edges.length < data.edge_cnt)
		section.append(html("p", { class: "note" }, `The table has ${textCount(data.edges.length)} of ${textCount(data.edge_cnt)} edges: ` +
			"the heaviest, and those of knots. vprof show wait-graph has all."));
	twin(section, "Edges as a table", edgeTable(data, labels));
	twin(section, "Threads and devices as a table", vertexTable(data));
}
