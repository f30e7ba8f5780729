/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions and waits, each summed over all its places, best first. */

import { html, lead, named } from "./elements.js";
import { fixed, textCount, textNs, textPercent, textPlace, textPlusMinus } from "./format.js";
import { bar, table } from "./table.js";

function sites(factor) {
	const list = [factor.call_sites.length ? factor.call_sites.slice(0, 4).join(", ") : textPlace(factor.file, factor.line)];

	if (factor.call_sites.length > 4)
		list.push(` and ${factor.call_sites.length - 4} more`);
	return html("small", { class: "place" }, ...list);
}

function becauseOf(factor) {
	const list = (factor.because_of ?? []).filter((cause) => cause.share >= 0.01).slice(0, 3);

	if (!list.length)
		return null;
	return html("small", { class: "because" }, "because of ", list.flatMap((cause, i) => [i ? ", " : "", named(cause.function ?? "unknown"),
		`${cause.wait ? ` (${cause.wait})` : ""} ${textPercent(cause.share)}`]));
}

export function drawFactors(section, data) {
	const rows = data.factors.filter((factor) => factor.kind !== "pair");

	lead(section, "What to look into first. ", `score: specificity (how deep in the call graph) times share. ${textCount(data.factor_cnt)} in all.`);
	section.append(table("Factors", [
		{ title: "#", cell: (factor) => factor.rank },
		{ title: "factor", align: "left", cell: (factor) => [
			html("div", {}, named(`${factor.estimated ? "~" : ""}${factor.label}`, factor.kind === "wait")), becauseOf(factor), sites(factor)] },
		{ title: "share", className: "strong", cell: (factor) => textPercent(factor.share) },
		{ title: "±", cell: (factor) => textPlusMinus(factor.ci95) },
		{ title: "", align: "left", className: "medium", cell: (factor) => bar(factor.share, factor.kind === "wait" ? "ink wait" : "ink code") },
		{ title: "own", cell: (factor) => textPercent(factor.variance_share) },
		{ title: "mean", cell: (factor) => textNs(factor.mean_ns) },
		{ title: "score", cell: (factor) => fixed(factor.score, 2) },
	], rows, 8));
}
