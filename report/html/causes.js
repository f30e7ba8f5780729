/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What causes the variance, and what it is made of in each function: running, and each class of wait. */

import { html, lead, legend, named } from "./elements.js";
import { fixed, textCount, textNs, textPercent, textPlace, textPlusMinus, waitText } from "./format.js";
import { bar, table, twin } from "./table.js";

function whoOf(cause) {
	if (cause.known === false)
		return "not known";
	return cause.function ?? cause.peer ?? cause.device ?? (cause.how === "runqueue" ? "waiting for a CPU" : "no probed function");
}

/* vprof show causes: all time of the critical paths goes to its last known doer. */
function knownTable(list) {
	return table("Causes", [
		{ title: "#", cell: (cause) => cause.rank ?? "" },
		{ title: "cause", align: "left", isHead: true, cell: (cause) => [
			named(whoOf(cause), cause.how !== "cpu" && cause.known !== false),
			cause.file ? html("small", { class: "place" }, ` ${textPlace(cause.file, cause.line)}`) : ""] },
		{ title: "how", align: "left", cell: (cause) => [cause.how, cause.peer, cause.device].filter(Boolean).join(", ") },
		{ title: "share", className: "strong", cell: (cause) => textPercent(cause.share) },
		{ title: "±", cell: (cause) => textPlusMinus(cause.ci95) },
		{ title: "", align: "left", className: "wide", cell: (cause) => bar(cause.share, cause.how === "cpu" ? "ink code" : "ink wait") },
	], list, 6);
}

/* Running, then the waits, side by side. */
function stacked(entry) {
	const box = html("span", { class: "stack", "aria-hidden": "true" });
	const sum = entry.causes.reduce((all, cause) => all + Math.max(0, cause.share), 0) || 1;

	for (const cause of entry.causes.filter((c) => c.share > 0)) {
		const part = html("span", { class: `class-${cause.cause}`, title: `${cause.cause} ${textPercent(cause.share)}` });

		part.style.width = `${cause.share / Math.max(1, sum) * 100}%`;
		box.append(part);
	}
	return box;
}

function classTable(functions) {
	const rows = functions.flatMap((entry) => [{ entry }, ...entry.causes.map((cause) => ({ entry, cause }))])
		.filter((row) => Math.abs((row.cause ?? row.entry).share) >= 0.0005);
	const of = (row) => row.cause ?? row.entry;

	return table("Variance by class", [
		{ title: "function and class", align: "left", isHead: true, cell: (row) => row.cause
			? html("span", { class: "indent one" }, named(row.cause.cause, row.cause.cause !== "running"))
			: html("strong", {}, named(row.entry.function ?? "the interval")) },
		{ title: "share", className: "strong", cell: (row) => textPercent(of(row).share) },
		{ title: "of own", cell: (row) => row.cause && row.entry.variance_ns2 > 0
			? `${fixed(100 * row.cause.variance_ns2 / row.entry.variance_ns2, 1)} %` : "" },
		{ title: "sd", cell: (row) => textNs(Math.sqrt(of(row).variance_ns2)) },
		{ title: "mean", cell: (row) => textNs(of(row).mean_ns) },
	], rows, 25);
}

function bars(functions) {
	const shown = functions.filter((entry) => entry.share >= 0.01).slice(0, 12);

	return html("div", { class: "stacks", role: "img", "aria-label": "Variance of each function by class; the table below has the numbers." },
		shown.map((entry) => html("div", {}, named(entry.function ?? "the interval"), stacked(entry), html("b", {}, textPercent(entry.share)))));
}

export function drawCauses(section, data) {
	if (data.known?.causes?.length) {
		lead(section, "All time of the critical paths, at its last known doer: whoever held the lock, served the queue, did the reading.");
		section.append(knownTable(data.known.causes));
	}
	if (!data.by_class?.functions?.length)
		return;
	const { functions } = data.by_class;
	const classes = [...new Set(functions.flatMap((entry) => entry.causes.filter((c) => c.share > 0.0005).map((c) => c.cause)))];

	lead(section, "What the variance of the interval, and of each function with all that it calls, is made of.");
	legend(section, ...classes.map((name) => [`class-${name}`, name === "running" ? name : waitText(name)]));
	section.append(bars(functions));
	if (functions.length < data.by_class.function_cnt)
		section.append(html("p", { class: "note" }, `${textCount(functions.length)} of ${textCount(data.by_class.function_cnt)} functions are here: ` +
			"the first ones of vprof show variance-tree --by cause."));
	twin(section, "Variance by class as a table", classTable(functions));
}
