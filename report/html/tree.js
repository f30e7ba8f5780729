/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variance tree as an icicle: as wide as the share, waits hatched.  Shares below a node sum to its own. */

import { figure, hatch, html, lead, legend, named, readout, svg } from "./elements.js";
import { plural, shortened, textCount, textNs, textPercent, textPlace, textPlusMinus } from "./format.js";
import { bar, table, twin } from "./table.js";

const ROW = 28, LETTER = 6.9;

/* What is left out at a node is one more child of it. */
function growTree(data) {
	const byId = new Map(data.nodes.map((node) => [node.id, { ...node, children: [] }]));

	for (const node of byId.values())
		if (node.parent !== null) {
			node.up = byId.get(node.parent);
			node.up.children.push(node);
		}
	for (const rest of data.rests) {
		const up = byId.get(rest.parent);

		up.children.push({ ...rest, up, kind: "rest", label: `${rest.count} more`, children: [] });
	}
	for (const node of byId.values())
		node.children.sort((a, b) => b.share - a.share);
	return byId.get(0);
}

function isWait(node) {
	return node.kind === "wait" || node.kind === "blame";
}

/* Places {node, x, width, y} of what is drawn below, and above, the node that is zoomed to.  Where some children are negative the others
 * are drawn narrower, so that they fit. */
function layOut(zoomed, width) {
	const list = [], above = [];

	for (let up = zoomed.up; up; up = up.up)
		above.unshift(up);
	above.forEach((node, y) => list.push({ node, x: 0, width, y, isAbove: true }));
	const place = (node, x, nodeWidth, y) => {
		const drawn = node.children.filter((child) => child.share > 0);
		const sum = Math.max(node.share, drawn.reduce((all, child) => all + child.share, 0));
		let at = x;

		list.push({ node, x, width: nodeWidth, y });
		for (const child of drawn) {
			const childWidth = child.share / sum * nodeWidth;

			if (childWidth >= 0.7)
				place(child, at, childWidth, y + 1);
			at += childWidth;
		}
	};

	place(zoomed, 0, width, above.length);
	return list;
}

function describe(node) {
	const parts = [node.label, `${textPercent(node.share)}${node.ci95 && node.id ? ` ${textPlusMinus(node.ci95)}` : ""} of the variance`,
		`mean ${textNs(node.mean_ns)}`];

	if (node.variance_ns2 !== undefined)
		parts.push(`sd ${textNs(Math.sqrt(node.variance_ns2))}`);
	if (node.estimated)
		parts.push(`estimated from ${plural(node.samples, "sample")}`);
	if (node.file)
		parts.push(textPlace(node.file, node.line));
	return parts.join(" · ");
}

function labelIn(place) {
	const share = textPercent(place.node.share), room = Math.floor((place.width - 12) / LETTER);
	const sign = `${place.node.estimated ? "~" : ""}${place.node.label}`;

	if (room >= share.length + 8)
		return `${shortened(sign, room - share.length - 1)} ${share}`;
	return room >= 4 ? shortened(sign, room) : "";
}

function drawPlace(picture, place, act) {
	const { node } = place;
	const kind = place.isAbove ? "above" : node.kind === "rest" ? "rest" : isWait(node) ? "wait" : node.kind === "body" ? "body" : "code";
	const box = svg("g", {
		class: `cell ${kind}`, "data-id": node.id, transform: `translate(${place.x} ${place.y * ROW})`,
		on: { click: () => act.zoom(node), pointerenter: () => act.tell(node) },
	}, svg("rect", { width: Math.max(0.7, place.width - 1), height: ROW - 2, rx: place.width > 8 ? 3 : 0, fill: kind === "wait" ? "url(#tree-wait)" : null }));
	const text = labelIn(place);

	if (text)
		box.append(svg("text", { x: 7, y: ROW / 2 + 3 }, text));
	if (node === act.focused())
		box.classList.add("focused");
	picture.append(box);
}

/* Up and down go to the parent and the largest child, left and right to siblings; Enter zooms, Escape zooms out. */
function neighbour(node, key) {
	const siblings = node.up ? node.up.children.filter((child) => child.share > 0) : [node];
	const at = siblings.indexOf(node);

	return {
		ArrowUp: node.up, ArrowDown: node.children.find((child) => child.share > 0),
		ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1],
	}[key];
}

function makeIcicle(section, root) {
	const said = readout(describe(root));
	let zoomed = root, focused = root;
	const act = {
		focused: () => (document.activeElement === drawn.box ? focused : null),
		tell: (node) => { said.textContent = describe(node); },
		zoom: (node) => {
			zoomed = focused = node.kind === "rest" ? node.up : node;
			drawn.redraw();
			act.tell(node);
		},
	};
	const drawn = { box: null };

	Object.assign(drawn, figure(section, "Variance tree as an icicle. Arrow keys move between nodes, Enter zooms in, Escape zooms out.",
		(picture, width) => {
			const places = layOut(zoomed, width);

			hatch(picture, "tree-wait", "wait-fill");
			picture.setAttribute("height", (Math.max(...places.map((place) => place.y)) + 1) * ROW);
			places.forEach((place) => drawPlace(picture, place, act));
		}, { tabindex: 0, class: "icicle", role: "application" }));
	drawn.box.addEventListener("keydown", (event) => {
		const next = neighbour(focused, event.key);

		if (next) {
			focused = next;
			if (!layOut(zoomed, drawn.picture.clientWidth).some((place) => place.node === next))
				zoomed = next.up ?? next;
			drawn.redraw();
			act.tell(next);
		} else if (event.key === "Enter" || event.key === " ")
			act.zoom(focused);
		else if (event.key === "Escape" || event.key === "Backspace")
			act.zoom(zoomed.up ?? root);
		else
			return;
		event.preventDefault();
	});
	for (const name of ["focus", "blur"])
		drawn.box.addEventListener(name, () => drawn.redraw());
	section.append(said);
}

/* Depth first, largest first: the tree in lines. */
function linesOf(node, depth, list) {
	list.push({ node, depth });
	for (const child of node.children)
		linesOf(child, depth + 1, list);
	return list;
}

function nodeCell(line) {
	const name = named(`${line.node.estimated ? "~" : ""}${line.node.label}`, isWait(line.node));
	const box = html("span", { class: "indent" }, name);

	box.style.paddingInlineStart = `min(${Math.min(line.depth, 14) * 0.9}em, ${Math.min(line.depth, 14)}vw)`;
	return [box, line.node.file ? html("small", { class: "place" }, ` ${textPlace(line.node.file, line.node.line)}`) : ""];
}

function treeTable(lines) {
	return table("Nodes of the variance tree", [
		{ title: "node", align: "left", isHead: true, cell: nodeCell },
		{ title: "share", className: "strong", cell: (line) => textPercent(line.node.share) },
		{ title: "±", cell: (line) => line.node.id === 0 ? "" : textPlusMinus(line.node.ci95) },
		{ title: "", align: "left", className: "medium", cell: (line) => bar(line.node.share, isWait(line.node) ? "ink wait" : "ink code") },
		{ title: "sd", cell: (line) => line.node.variance_ns2 === undefined ? "" : textNs(Math.sqrt(line.node.variance_ns2)) },
		{ title: "mean", cell: (line) => textNs(line.node.mean_ns) },
		{ title: "calls", cell: (line) => line.node.kind === "function" ? String(Number(line.node.calls_per_interval.toPrecision(3))) : "" },
	], lines, 25);
}

export function drawTree(section, data) {
	const root = growTree(data);
	const lines = linesOf(root, 0, []);
	const large = lines.filter((line) => Math.abs(line.node.share) >= 0.001);
	const small = lines.filter((line) => Math.abs(line.node.share) < 0.001);
	const negative = lines.filter((line) => line.node.share < -0.0005).length;

	lead(section, "Which functions and waits the variance of the latency is in. Shares below a node sum to its own.");
	legend(section, ["code", "running code"], ["wait", "waiting, and by whom"], ["rest", "smaller ones together"]);
	makeIcicle(section, root);
	if (negative)
		section.append(html("p", { class: "note" }, `${plural(negative, "node")} with a negative share, which offset others, ` +
			"are in the table and not in the figure."));
	twin(section, "Variance tree as a table", html("div", {}, treeTable(large),
		small.length ? html("details", {}, html("summary", {}, `${textCount(small.length)} below 0.1 %`), treeTable(small)) : null), true);
}
