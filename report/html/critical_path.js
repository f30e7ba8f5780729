/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one interval spent its time on: its threads, those that it waited for, and the path through them. */

import { figure, hatch, html, lead, legend, named, readout, svg, unpack } from "./elements.js";
import { fixed, plural, shortened, textCount, textNs, waitText } from "./format.js";
import { axisBelow, scale } from "./scale.js";
import { table, twin } from "./table.js";

const LANE = 26, FIELDS = 6, ROWS = 40;

/* The pieces of a path as objects: {thread, at, ns, state, depth, frames, others}. */
function piecesOf(all, path) {
	const list = [];
	let at = 0;

	for (let i = 0; i < path.pieces.length; i += FIELDS) {
		const [thread, ns, state, depth, frames, others] = path.pieces.slice(i, i + FIELDS);

		list.push({ thread, at, ns, state, depth, frames: all.frames[frames] ?? [], others });
		at += ns;
	}
	return list;
}

function threadName(all, number) {
	const [tid, name, kind] = all.threads[number];

	return name === null ? `thread ${tid}` : kind === "thread" || kind === "kernel" ? `${name} (${tid})` : name;
}

function whatOf(piece, all) {
	const kind = all.threads[piece.thread]?.[2];

	if (piece.others)
		return `${plural(piece.others, "shorter piece")}`;
	if (kind === "timer")
		return "until the time it was set to";
	if (kind === "disk" || kind === "nic")
		return piece.state === "running" ? "at work" : "idle";
	const frames = piece.frames.join(" › ");

	if (piece.state === "running")
		return frames || "running in no probed function";
	return frames ? `${frames}: ${waitText(piece.state)}` : waitText(piece.state);
}

function describe(piece, all) {
	const where = piece.others ? "" : ` · ${threadName(all, piece.thread)}`;

	return `${textNs(piece.ns)} from ${textNs(piece.at)} on${where} · ${whatOf(piece, all)}`;
}

/* The interval's own threads first, then by how many wake-ups away they are. */
function lanesOf(pieces) {
	const depths = new Map();

	for (const piece of pieces.filter((p) => !p.others))
		depths.set(piece.thread, Math.min(piece.depth, depths.get(piece.thread) ?? Infinity));
	return [...depths.keys()].sort((a, b) => depths.get(a) - depths.get(b));
}

function drawPiece(picture, piece, x, lane, tell) {
	const left = x.at(piece.at), width = Math.max(1.2, x.at(piece.at + piece.ns) - left);
	const kind = piece.others ? "rest" : piece.state === "running" ? "code" : "wait";

	picture.append(svg("rect", {
		x: left, width, y: lane * LANE + 4, height: LANE - 8, rx: width > 6 ? 2 : 0, class: `piece ${kind}`,
		fill: kind === "wait" ? "url(#path-wait)" : null, on: { pointerenter: () => tell(piece) },
	}));
}

/* The thread that waited meanwhile: the one that the path goes on with, on the way back to the interval's own. */
function waiterOf(pieces, i) {
	return pieces.slice(i + 1).find((piece) => !piece.others && piece.depth < pieces[i].depth)?.thread;
}

function drawWaiter(picture, piece, x, lane) {
	const left = x.at(piece.at);

	picture.append(svg("rect", {
		x: left, width: Math.max(0.6, x.at(piece.at + piece.ns) - left), y: lane * LANE + LANE / 2 - 3, height: 6, class: "waiter",
		fill: "url(#path-wait)",
	}));
}

function drawLanes(picture, width, pieces, all, tell) {
	const lanes = lanesOf(pieces);
	const names = width > 560 ? 150 : 0, height = lanes.length * LANE * (names ? 1 : 1.6);
	const step = names ? LANE : LANE * 1.6;
	const end = pieces.at(-1);
	const x = scale("linear", 0, end.at + end.ns, names, width - 4);
	const laneOf = (thread) => lanes.indexOf(thread) * (step / LANE) + (names ? 0 : 0.5);
	let before = null;

	hatch(picture, "path-wait", "wait-fill");
	picture.setAttribute("height", height + 40);
	lanes.forEach((thread, i) => {
		picture.append(svg("line", { x1: names, x2: width, y1: i * step + step / 2, y2: i * step + step / 2, class: "grid" }),
			svg("text", { x: 0, y: names ? i * step + step / 2 + 4 : i * step + 10, class: "lane" },
				shortened(threadName(all, thread), names ? 20 : 44)));
	});
	for (const [i, piece] of pieces.entries()) {
		const lane = piece.others ? before ?? 0 : laneOf(piece.thread);

		if (before !== null && lane !== before)
			picture.append(svg("line", {
				x1: x.at(piece.at), x2: x.at(piece.at), y1: before * LANE + LANE / 2, y2: lane * LANE + LANE / 2, class: "handover",
			}));
		drawPiece(picture, piece, x, lane, tell);
		if (piece.depth > 0 && waiterOf(pieces, i) !== undefined)
			drawWaiter(picture, piece, x, laneOf(waiterOf(pieces, i)));
		before = lane;
	}
	axisBelow(picture, x, height + 4);
}

function textAt(ns, latency) {
	const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([size]) => latency >= size) ?? [1, "ns"];

	return unit === 1 ? `${ns} ns` : `${fixed(ns / unit, 3)} ${name}`;
}

/* The longest, in order of time, as vprof show critical-path has them. */
function pieceTable(pieces, all, latency) {
	const order = pieces.map((piece) => piece.ns).sort((a, b) => b - a);
	const limit = order.length > ROWS ? order[ROWS - 1] : 0;
	const shown = pieces.filter((piece) => piece.ns >= limit);

	return table("Pieces of the critical path", [
		{ title: "at", cell: (piece) => textAt(piece.at, latency) },
		{ title: "for", className: "strong", cell: (piece) => textNs(piece.ns) },
		{ title: "thread", align: "left", cell: (piece) => piece.others ? "" : named(threadName(all, piece.thread)) },
		{ title: "what", align: "left", cell: (piece) => {
			const box = html("span", { class: "indent" }, named(whatOf(piece, all), piece.state !== "running" && !piece.others));

			box.style.paddingInlineStart = `${Math.min(piece.depth, 8)}em`;
			return box;
		} },
	], shown, 18);
}

function labelOf(path) {
	return `${textNs(path.latency_ns)} · rank ${textCount(path.rank)} · ${path.sid}`;
}

function chooser(paths, change) {
	const option = (path, i) => html("option", { value: i }, labelOf(path));
	const groups = [["slowest", false], ["typical", true]].map(([title, typical]) => {
		const list = paths.map((path, i) => [path, i]).filter(([path]) => path.typical === typical);

		return list.length ? html("optgroup", { label: `${title} (${list.length})` }, list.map(([path, i]) => option(path, i))) : null;
	});
	const select = html("select", { "aria-label": "interval", on: { change: () => change(Number(select.value)) } }, groups);
	const move = (by) => {
		select.value = String(Math.min(paths.length - 1, Math.max(0, Number(select.value) + by)));
		change(Number(select.value));
	};

	return {
		select, box: html("div", { class: "row start" }, select,
			html("button", { type: "button", on: { click: () => move(-1) } }, "slower"),
			html("button", { type: "button", on: { click: () => move(1) } }, "faster")),
	};
}

export async function drawCriticalPath(section, data) {
	const all = await unpack(data);
	const answer = html("p", { class: "answer" });
	const said = readout();
	let path = all.paths[0], pieces = piecesOf(all, path);
	const tell = (piece) => { said.textContent = describe(piece, all); };

	lead(section, "Where a single interval's time went, piece by piece, and what it waited for.");
	const choice = chooser(all.paths, (i) => show(i));

	section.append(choice.box, answer);
	legend(section, ["code", "running"], ["wait", "waiting"]);
	const drawn = figure(section, "Threads of the interval by time; the table below has the pieces.",
		(picture, width) => drawLanes(picture, width, pieces, all, tell));

	section.append(said);
	const details = twin(section, "Pieces as a table", html("div"), true);

	function show(i) {
		path = all.paths[i];
		pieces = piecesOf(all, path);
		const longest = pieces.filter((piece) => !piece.others).reduce((a, b) => (b.ns > a.ns ? b : a));

		answer.replaceChildren(`Interval ${path.sid} took `, html("strong", {}, textNs(path.latency_ns)),
			` (rank ${textCount(path.rank)}); its longest piece: ${textNs(longest.ns)} on `, named(threadName(all, longest.thread)), ", ",
			named(whatOf(longest, all)), ".");
		details.lastElementChild.replaceWith(pieceTable(pieces, all, path.latency_ns));
		said.textContent = path.piece_cnt > pieces.length ? `${textCount(path.piece_cnt)} pieces; short ones are drawn together` : "\u00a0";
		drawn.redraw();
	}

	show(0);
	document.addEventListener("vprof:interval", (event) => {
		const i = all.paths.findIndex((p) => p.sid === event.detail.sid);

		if (i >= 0) {
			choice.select.value = String(i);
			show(i);
		} else
			said.textContent = `Interval ${event.detail.sid} is neither among the slowest nor typical: ` +
				`vprof show critical-path --interval ${event.detail.sid}`;
	});
}
