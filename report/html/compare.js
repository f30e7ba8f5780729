/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the selected intervals spend more time in than fast ones do.  Every nanosecond is in one part. */

import { html, lead, named, unpack } from "./elements.js";
import { plural, textCount, textNs, textPercent, textSigned } from "./format.js";
import { difference, table } from "./table.js";

function sum(list, from, to) {
	let all = 0;

	for (let i = from; i < to; i++)
		all += list[i];
	return all;
}

/* Rows for the intervals between two edges, of the sums over the bins. */
function rowsOf(data, bins, detail) {
	const count = detail.count || 1;
	const mean = (sums) => sum(sums.ns, detail.from, detail.to) / count;
	const rows = data.parts.map((part, i) => ({
		label: part.label, isWait: Boolean(part.wait), file: part.file, fast: part.fast_mean_ns, slow: mean(bins.parts[i]),
		presence: sum(bins.parts[i].present, detail.from, detail.to) / count,
	}));

	if (bins.others)
		rows.push({ label: plural(data.others.count, "other part"), fast: data.others.fast_mean_ns, slow: mean(bins.others) });
	return { rows, mean: sum(bins.latency_ns, detail.from, detail.to) / count };
}

/* The slowest as the run's results have them. */
function rowsOfSlowest(data) {
	const rows = data.parts.map((part) => ({
		label: part.label, isWait: Boolean(part.wait), file: part.file, fast: part.fast_mean_ns, slow: part.slow_mean_ns,
		presence: part.slow_presence,
	}));

	if (data.others)
		rows.push({ label: plural(data.others.count, "other part"), fast: data.others.fast_mean_ns, slow: data.others.slow_mean_ns });
	return { rows, mean: data.slow.mean_ns };
}

function compared(found) {
	const rows = found.rows.filter((row) => row.slow || row.fast)
		.sort((a, b) => Math.abs(b.slow - b.fast) - Math.abs(a.slow - a.fast));
	const most = Math.max(1, ...rows.map((row) => Math.abs(row.slow - row.fast)));

	return table("Time per interval", [
		{ title: "part", align: "left", isHead: true, cell: (row) => named(row.label, row.isWait) },
		{ title: "fast", cell: (row) => textNs(row.fast) },
		{ title: "selected", cell: (row) => textNs(row.slow) },
		{ title: "extra", className: "strong", cell: (row) => textSigned(row.slow - row.fast) },
		{ title: "", align: "left", className: "wide", cell: (row) =>
			difference(row.slow - row.fast, most, row.slow < row.fast ? "less" : row.isWait ? "ink wait" : "ink code") },
		{ title: "in", cell: (row) => row.presence === undefined ? "" : textPercent(row.presence) },
	], rows, 12);
}

export async function drawCompare(section, data) {
	const bins = data.selections ? await unpack(data.selections) : null;
	const box = html("div", { "aria-live": "off" });
	const heading = html("p", { class: "answer" });

	function show(detail) {
		const found = detail.is_slowest || !bins ? rowsOfSlowest(data) : rowsOf(data, bins, detail);
		const count = detail.is_slowest || !bins ? data.slow.count : detail.count;

		heading.replaceChildren(`${textCount(count)} selected, mean ${textNs(found.mean)}, against the ` +
			`${textCount(data.fast.count)} fast ones (up to the median, ${textNs(data.fast.to_ns)}), mean ${textNs(data.fast.mean_ns)}: `,
		html("strong", {}, `${textSigned(found.mean - data.fast.mean_ns)} per interval`));
		box.replaceChildren(compared(found));
	}

	lead(section, bins ? "Where the selected intervals spend time that fast ones do not."
		: "Where the slowest intervals spend time that fast ones do not. It does not follow the selection: the trace is not there any more.");
	section.append(heading, box, html("p", { class: "note" }, "extra: the differences add up to the difference of the means. " +
		"in: selected intervals in which the part took any time."));
	show({ is_slowest: true });
	document.addEventListener("vprof:selection", (event) => {
		if (bins)
			show(event.detail);
	});
}
