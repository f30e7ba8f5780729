/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements of the page.  Whatever comes from the data becomes text or a number: nothing here parses HTML. */

import { clean } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (name === "on")
			for (const [event, handler] of Object.entries(value))
				element.addEventListener(event, handler);
		else if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : String(value));
	}
	for (const child of children.flat(Infinity))
		if (child !== null && child !== undefined)
			element.append(child instanceof Node ? child : clean(child));
	return element;
}

/* html("p", {class: "note"}, "text", otherElement): an attribute that is null or false is left out. */
export function html(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* A name of the program's: whatever letters it is made of, they turn no others around. */
export function named(text, isWait) {
	return html("bdi", { class: isWait ? "name wait" : "name" }, text);
}

export function sectionOf(id) {
	return document.getElementById(id);
}

export function lead(section, ...text) {
	section.append(html("p", { class: "lead" }, ...text));
}

/* What the pointer, or the focus, is at, below a figure. */
export function readout(text) {
	return html("p", { class: "readout", "aria-live": "polite" }, text ?? "\u00a0");
}

/*
 * A figure that is drawn as wide as there is room, and again if that changes: draw(svg, width) fills it and sets its height.  It is drawn
 * when the page is laid out, all figures at once: to ask for widths in between costs a layout each.  label is for readers who do
 * not see it.  Keys are the business of `box`, which can have the focus.
 */
export function figure(section, label, draw, attributes) {
	const picture = svg("svg", { role: "img", "aria-label": label });
	const box = html("figure", { "aria-label": label, ...attributes }, picture);
	let width = 0;

	function redraw() {
		if (!width)
			return;
		picture.replaceChildren();
		picture.setAttribute("width", width);
		draw(picture, width);
	}

	section.append(box);
	new ResizeObserver((entries) => {
		const now = Math.max(240, Math.floor(entries[0].contentRect.width));

		if (now !== width) {
			width = now;
			redraw();
		}
	}).observe(box);
	return { box, picture, redraw };
}

/* After the page has been laid out and shown. */
export function later(work) {
	return new Promise((done) => {
		requestAnimationFrame(() => setTimeout(() => done(work())));
	});
}

/* Hatched: a wait, so that colour is not all that tells it from code. */
export function hatch(picture, id, className) {
	picture.append(svg("defs", {}, svg("pattern", {
		id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)",
	}, svg("rect", { width: 6, height: 6, class: className }), svg("rect", { width: 2, height: 6, class: "stripe" }))));
}

/* Packed text of JSON: base64 of zlib's format. */
export async function unpack(part) {
	if (!part?.packed)
		return part;
	const text = atob(part.packed), bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));

	return JSON.parse(await new Response(stream).text());
}

/* What colours and patterns mean: ["wait", "waiting"]. */
export function legend(section, ...entries) {
	section.append(html("p", { class: "legend" }, entries.map(([className, text]) =>
		html("span", {}, html("i", { class: `swatch ${className}` }), text))));
}
