/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables: what a figure shows, in numbers. */

import { html } from "./elements.js";
import { textCount } from "./format.js";

/*
 * columns: [{title, align, cell(row), className}]; align "left" or "right" (default).  A cell is an element, a text, or a list of
 * both.  Of more than `most` rows the others come at the press of a button.
 */
export function table(caption, columns, rows, most) {
	const body = html("tbody");
	const limit = most && rows.length > most + 2 ? most : rows.length;
	const box = html("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption });

	function add(from, to) {
		for (const row of rows.slice(from, to))
			body.append(html("tr", {}, columns.map((column, i) =>
				html(i === 0 && column.isHead ? "th" : "td", {
					class: [column.align ?? "right", column.className ?? ""].join(" ").trim(),
					scope: i === 0 && column.isHead ? "row" : null,
				}, ...[column.cell(row)].flat()))));
	}

	add(0, limit);
	box.append(html("table", {}, html("caption", {}, caption),
		html("thead", {}, html("tr", {}, columns.map((column) =>
			html("th", { scope: "col", class: `${column.align ?? "right"} ${column.className ?? ""}`.trim() }, column.title)))), body));
	if (limit === rows.length)
		return box;
	const more = html("button", { type: "button", class: "more" }, `${textCount(rows.length - limit)} more`);

	more.addEventListener("click", () => {
		add(limit, rows.length);
		more.remove();
	});
	return html("div", {}, box, more);
}

/* A figure's numbers, folded away. */
export function twin(section, title, content, isOpen) {
	const details = html("details", { open: isOpen ?? false }, html("summary", {}, title), content);

	section.append(details);
	return details;
}

/* To the right what grows, to the left what gets less. */
export function difference(amount, most, className) {
	const box = html("span", { class: "difference", "aria-hidden": "true" });
	const ink = html("span", { class: className });

	ink.style.width = `${Math.abs(amount) / most * 50}%`;
	ink.style[amount < 0 ? "right" : "left"] = "50%";
	box.append(ink);
	return box;
}

/* A bar of a share; what is negative, or beyond all, is said by the number beside it. */
export function bar(share, className) {
	const box = html("span", { class: "bar", "aria-hidden": "true" });
	const ink = html("span", { class: className });

	ink.style.width = `${Math.min(100, Math.max(0, share * 100))}%`;
	box.append(ink);
	return box;
}
