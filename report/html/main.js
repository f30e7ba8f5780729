/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the data and has each section drawn: the one list of what draws them. */

import { html, later, sectionOf } from "./elements.js";
import { setWaitTexts } from "./format.js";
import { drawCausal } from "./causal.js";
import { drawCauses } from "./causes.js";
import { drawComparisonCauses, drawComparisonLatency, drawComparisonTop, drawComparisonVerdict } from "./comparison.js";
import { drawCompare } from "./compare.js";
import { drawCriticalPath } from "./critical_path.js";
import { drawFactors } from "./factors.js";
import { drawLatency } from "./latency.js";
import { drawOverTime } from "./over_time.js";
import { drawTop, drawVerdict } from "./verdict.js";
import { drawTree } from "./tree.js";
import { drawWaitGraph } from "./wait_graph.js";

/* By section: draw(section, its data, the data of all).  What it returns, if anything, runs when all are drawn. */
const drawers = {
	verdict: drawVerdict,
	latency: drawLatency,
	tree: drawTree,
	"slow-vs-fast": drawCompare,
	"over-time": drawOverTime,
	"critical-path": drawCriticalPath,
	"wait-graph": drawWaitGraph,
	causes: drawCauses,
	factors: drawFactors,
	causal: drawCausal,
};

/* Of the page of two sides. */
const comparers = { verdict: drawComparisonVerdict, latency: drawComparisonLatency, causes: drawComparisonCauses };

/* One section that fails leaves the others whole. */
async function drawSection(draw, id, data, sections) {
	const section = sectionOf(id);

	if (!section || !draw)
		return undefined;
	try {
		return await draw(section, data, sections);
	} catch (error) {
		section.append(html("p", { class: "note" }, `This section cannot be drawn here: ${error.message}`));
		console.error(error);
		return undefined;
	}
}

function navigation(ids) {
	const titles = ids.map((id) => sectionOf(id)).filter(Boolean);

	return html("nav", { "aria-label": "sections" }, titles.map((section) =>
		html("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
}

async function main() {
	const { sections, compares, waits } = JSON.parse(document.getElementById("vprof-data").textContent);

	setWaitTexts(waits);
	(compares ? drawComparisonTop : drawTop)(sections.verdict);
	document.getElementById("top").append(navigation([...document.querySelectorAll("main > section")].map((section) => section.id)));
	const after = await Promise.all(Object.entries(sections).map(([id, data]) =>
		drawSection((compares ? comparers : drawers)[id], id, data, sections)));

	after.filter((then) => typeof then === "function").forEach((then) => then());
	later(() => { document.documentElement.dataset.ready = "yes"; });
}

/* Paper has no buttons: what is folded is printed. */
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((details) => { details.open = true; }));

main();
