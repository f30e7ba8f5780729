/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer and what it is about.  The sentence itself is in the file already. */

import { html, named } from "./elements.js";
import { plural, textCount, textNs } from "./format.js";

const dropped = {
	open: "still open at the end", aborted: "aborted", bad_path: "without a usable path", lost: "with lost records",
	nested: "starts inside another one", unmatched_ends: "ends without a start",
};

function tile(title, value) {
	return html("div", {}, html("dt", {}, title), html("dd", {}, value));
}

function latencies(interval) {
	return html("dl", { class: "tiles" },
		tile("intervals", textCount(interval.count)),
		tile("mean", textNs(interval.mean_ns)), tile("sd", textNs(interval.stddev_ns)),
		tile("p50", textNs(interval.p50_ns)), tile("p90", textNs(interval.p90_ns)),
		tile("p99", textNs(interval.p99_ns)), tile("max", textNs(interval.max_ns)));
}

/* 2026-11-26 19:04 UTC; nothing of a run whose start is not known. */
function textDate(ns) {
	return ns > 0 ? `${new Date(ns / 1e6).toISOString().slice(0, 16).replace("T", " ")} UTC` : "";
}

function facts(data) {
	const run = data.facts;
	const left = Object.entries(data.interval.dropped).filter(([name, count]) => count && dropped[name])
		.map(([name, count]) => `${textCount(count)} ${dropped[name]}`);
	const rows = [
		["command", run.command && html("code", {}, named(run.command))],
		["recorded", textDate(run.started_ns)],
		["length", run.duration_ns ? textNs(run.duration_ns) : ""],
		["functions", run.functions ? `${textCount(run.functions)} recorded` : ""],
		["left out", left.join(", ")],
		["lost", run.lost_records ? plural(run.lost_records, "record") : ""],
		["CPUs", data.warnings.some((warning) => warning.code === "overloaded") ? "" : data.cpu_text],
	];

	return html("dl", { class: "facts" }, rows.filter(([, value]) => value).map(([title, value]) =>
		[html("dt", {}, title), html("dd", {}, value)]));
}

function warnings(list) {
	const item = (warning) => html("li", {}, html("code", {}, warning.code), " ", warning.text);

	if (!list.length)
		return null;
	if (list.length <= 2)
		return html("ul", { class: "warnings" }, list.map(item));
	return html("div", {}, html("ul", { class: "warnings" }, item(list[0])),
		html("details", {}, html("summary", {}, plural(list.length - 1, "more warning")),
			html("ul", { class: "warnings" }, list.slice(1).map(item))));
}

export function drawTop(data) {
	const run = data.facts.name ? [`run ${data.facts.number} · `, named(data.facts.name)] : [`run ${data.facts.number}`];

	document.getElementById("top").append(
		html("h1", {}, "Why is ", named(data.interval.name), " sometimes slow?"),
		html("p", { class: "mark" }, "vprof · ", ...run));
}

export function drawVerdict(section, data) {
	section.classList.toggle("unsure", !data.sentence.sure);
	section.append(latencies(data.interval), facts(data));
	const list = warnings(data.warnings);

	if (list)
		section.append(list);
}
