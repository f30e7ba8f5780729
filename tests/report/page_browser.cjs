/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_browser.cjs BROWSER DIRECTORY: the pages server.html and hostile.html there, beside the views' JSON, in a real browser. */
"use strict";
const fs = require("fs");
const puppeteer = require("puppeteer-core");

const [browserPath, directory] = process.argv.slice(2);
const isFirefox = /firefox/.test(browserPath);
const failures = [];
let checks = 0;

function must(ok, text) {
	checks++;
	if (!ok)
		failures.push(text);
}

function view(run, name) {
	return JSON.parse(fs.readFileSync(`${directory}/${run}.${name}.json`, "utf8"));
}

/* Written anew, from what vprof's text looks like. */
function textNs(ns) {
	const size = Math.abs(ns);
	const [unit, scale] = size < 999.5 ? ["ns", 1] : size < 999500 ? ["µs", 1e3] : size < 999500000 ? ["ms", 1e6] : ["s", 1e9];
	const value = size / scale;
	const digits = unit === "ns" && Number.isInteger(ns) ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	return `${ns < 0 ? "-" : ""}${value.toFixed(digits)} ${unit}`;
}

function textPercent(share) {
	return `${(Math.abs(share) < 0.0005 ? 0 : 100 * share).toFixed(1)} %`;
}

async function open(browser, run, seen) {
	const page = await browser.newPage();

	page.on("request", (request) => seen.requests.push(request.url()));
	page.on("console", (message) => seen.errors.push(`${message.type()}: ${message.text()}`));
	page.on("pageerror", (error) => seen.errors.push(error.message));
	page.on("dialog", (dialog) => {
		seen.errors.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	await page.setViewport({ width: 1100, height: 900 });
	await page.goto(`file://${directory}/${run}.html`);
	await page.waitForFunction("document.documentElement.dataset.ready && document.getElementById('over-time').dataset.drawn");
	return page;
}

/* Texts of the cells of a section's first table, or that of a summary; all rows. */
async function rows(page, section, which) {
	return page.evaluate((id, at) => {
		const tables = [...document.getElementById(id).querySelectorAll("table")];

		return [...tables[at].querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));
	}, section, which ?? 0);
}

async function press(page, section) {
	await page.evaluate((id) => document.querySelectorAll(`#${id} button.more`).forEach((button) => button.click()), section);
}

/* ---- numbers ---- */

async function checkVerdict(page, run) {
	const { interval, sentence } = view(run, "summary");
	const text = await page.$eval("#verdict", (section) => section.textContent);

	for (const name of ["mean_ns", "stddev_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"])
		must(text.includes(textNs(interval[name])), `verdict: ${name} ${textNs(interval[name])}`);
	must(run === "hostile" || text.includes(sentence.text), "verdict: the sentence");
}

async function checkTree(page, run) {
	const { nodes } = view(run, "variance-tree");
	const large = nodes.filter((node) => Math.abs(node.share) >= 0.001);
	const shown = await rows(page, "tree");
	const key = (cells) => cells.join(" | ");
	const want = large.map((node) => key([textPercent(node.share), textNs(Math.sqrt(node.variance_ns2)), textNs(node.mean_ns)])).sort();
	const got = shown.map((cells) => key([cells[1], cells[4], cells[5]])).sort();

	must(want.length > 3 && key(want) === key(got), `tree: ${got} instead of ${want}`);
	must(shown[0][1] === "100.0 %", "tree: the interval first");
}

async function checkFactors(page, run) {
	await press(page, "factors");
	const list = view(run, "factors").factors.filter((factor) => factor.kind !== "pair");
	const shown = await rows(page, "factors");

	must(shown.length === list.length, `factors: ${shown.length} rows`);
	list.forEach((factor, i) => {
		const cells = shown[i] ?? [];

		must(cells[0] === String(factor.rank) && cells[2] === textPercent(factor.share) && cells[6] === textNs(factor.mean_ns),
			`factors: ${cells}`);
		must(run === "hostile" || cells[1].includes(factor.function ?? "queue"), `factors: ${cells[1]} is not ${factor.function}`);
	});
}

async function checkParts(page, parts, what) {
	const shown = await rows(page, "slow-vs-fast");
	const want = parts.filter((part) => part.slow_mean_ns || part.fast_mean_ns).map((part) =>
		[textNs(part.fast_mean_ns), textNs(part.slow_mean_ns), textPercent(part.slow_presence)].join(" | ")).sort();
	const got = shown.map((cells) => [cells[1], cells[2], cells[5]].join(" | ")).sort();

	must(want.length > 2 && want.join() === got.join(), `${what}: ${got} instead of ${want}`);
}

async function checkOthers(page, run) {
	const graph = view(run, "wait-graph"), histogram = view(run, "histogram"), path = view(run, "critical-path");
	const buckets = await rows(page, "latency"), edges = await rows(page, "wait-graph"), pieces = await rows(page, "critical-path");

	must(buckets.map((cells) => cells[2].replace(/,/g, "")).join() === histogram.buckets.map((b) => b.count).join(), "histogram");
	must(edges.length === graph.edges.length && edges.every((cells, i) => cells[2] === textNs(graph.edges[i].weight_ns)), "wait-graph");
	must(pieces.length === path.pieces.length && pieces.every((cells, i) =>
		cells[1] === textNs(path.pieces[i].end_ns - path.pieces[i].start_ns)), `critical-path: ${pieces}`);
	must((await page.$eval("#critical-path .answer", (answer) => answer.textContent)).includes(textNs(path.latency_ns)), "its latency");
}

/* ---- what one can do ---- */

async function watchSelections(page) {
	await page.evaluate(() => {
		window.selections = [];
		document.addEventListener("vprof:selection", (event) => window.selections.push(event.detail));
	});
}

async function lastSelection(page) {
	return page.evaluate(() => window.selections.at(-1));
}

/* Its count is that of the intervals, counted one by one. */
async function checkSelection(page, detail, what) {
	const count = await page.evaluate(async (from, to) => {
		const { sections } = JSON.parse(document.getElementById("vprof-data").textContent);
		const bytes = Uint8Array.from(atob(sections["over-time"].dots.packed), (letter) => letter.charCodeAt(0));
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
		const dots = JSON.parse(await new Response(stream).text());

		return dots.latency_ns.filter((ns) => ns >= from && ns <= to).length;
	}, detail.from_ns, detail.to_ns);

	must(detail.count === count && count > 0, `${what}: ${detail.count} selected, not ${count}`);
	must((await page.$eval("#latency .readout", (said) => said.textContent)).startsWith(`${detail.count.toLocaleString("en")} `), `${what}: said`);
}

async function checkBrush(page) {
	await watchSelections(page);
	const figure = await page.$("#latency svg");

	await figure.scrollIntoView();
	const box = await figure.boundingBox();
	const before = await page.$eval("#slow-vs-fast .answer", (answer) => answer.textContent);

	await page.mouse.move(box.x + box.width * 0.3, box.y + 100);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.5, box.y + 100, { steps: 4 });
	await page.mouse.move(box.x + box.width * 0.7, box.y + 100, { steps: 4 });
	await page.mouse.up();
	const dragged = await lastSelection(page);

	must(dragged, "the mouse selects nothing");
	await checkSelection(page, dragged, "mouse");
	must(await page.$eval("#slow-vs-fast .answer", (answer) => answer.textContent) !== before, "slow-vs-fast does not follow");
}

async function checkKeys(page) {
	const p90 = view("server", "p90");

	await page.focus("#latency figure");
	await page.keyboard.press("End");
	const slowest = await lastSelection(page);

	must(slowest.is_slowest && slowest.count === view("server", "slow-vs-fast").slow.count, "End selects the slowest");
	await checkParts(page, view("server", "slow-vs-fast").parts, "the slowest");
	await page.keyboard.press("ArrowLeft");
	must((await lastSelection(page)).from_ns < slowest.from_ns, "an arrow key moves the lower end");
	for (let i = 0; i < 130 && (await lastSelection(page)).from_ns > p90.slow.from_ns; i++)
		await page.keyboard.press("ArrowLeft");
	const at = await lastSelection(page);

	must(at.from_ns === p90.slow.from_ns && at.count === p90.slow.count, `at the 90th percentile: ${at.from_ns}, ${at.count}`);
	await checkParts(page, p90.parts, "the slowest tenth");
	await page.keyboard.down("Shift");
	await page.keyboard.press("ArrowLeft");
	must((await lastSelection(page)).to_ns < at.to_ns, "with Shift it moves the upper end");
	await page.keyboard.up("Shift");
	await page.keyboard.press("Home");
	await page.keyboard.down("Shift");
	for (let i = 0; i < 130 && (await lastSelection(page)).to_ns >= p90.slow.from_ns; i++)
		await page.keyboard.press("ArrowLeft");
	await page.keyboard.up("Shift");
	const below = await lastSelection(page);

	must(below.to_ns === p90.slow.from_ns - 1, `below the 90th percentile: ${below.to_ns}`);
	await checkSelection(page, below, "below the 90th percentile");
	await page.keyboard.press("Home");
	must((await lastSelection(page)).count === view("server", "summary").interval.count, "Home selects all");
	await page.keyboard.press("End");
}

async function checkZoom(page) {
	const widths = () => page.$$eval("#tree svg g.cell:not(.above) rect", (list) => list.map((rect) => Number(rect.getAttribute("width"))));
	const all = await page.$eval("#tree svg", (svg) => svg.clientWidth);
	const narrow = await page.evaluate(() => [...document.querySelectorAll("#tree svg g.cell")].find((cell) => cell.querySelector("rect").width.baseVal.value <
		document.querySelector("#tree svg").clientWidth - 4)?.dataset.id);

	must((await widths())[0] >= all - 2, "the interval is as wide as the figure");
	must(narrow, "some node is narrower");
	await page.evaluate((id) => document.querySelector(`#tree svg g.cell[data-id="${id}"]`).dispatchEvent(new MouseEvent("click")), narrow);
	must((await widths())[0] >= all - 2, "a click zooms in");
	await page.focus("#tree figure");
	for (let i = 0; i < 8; i++)
		await page.keyboard.press("Escape");
	must((await page.$$("#tree svg g.above")).length === 0, "Escape zooms out");
	const said = await page.$eval("#tree .readout", (line) => line.textContent);

	await page.keyboard.press("ArrowDown");
	must(await page.$eval("#tree .readout", (line) => line.textContent) !== said, "arrow keys move");
	must((await page.$$("#tree g.wait rect[fill^=url]")).length > 0, "waits are hatched");
}

async function checkIntervals(page) {
	const before = await page.$eval("#critical-path .answer", (answer) => answer.textContent);

	await page.focus("#over-time figure");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	must(await page.$eval("#critical-path .answer", (answer) => answer.textContent) !== before, "Enter opens an interval");
	await page.select("#critical-path select", "3");
	must((await page.$eval("#critical-path .answer", (answer) => answer.textContent)).includes("rank 4"), "the list opens an interval");
}

async function checkLooks(page) {
	const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	if (!isFirefox) {
		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
		const dark = await paper();

		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
		must(dark !== await paper(), "the dark theme is dark");
	}
	await page.setViewport({ width: 400, height: 800 });
	await page.waitForFunction("document.querySelector('#latency svg').clientWidth < 400");
	must(await page.evaluate(() => document.documentElement.scrollWidth <= 400), "400 pixels: it scrolls to the side");
	for (const id of ["latency", "tree", "over-time", "critical-path", "wait-graph"])
		must(await page.$eval(`#${id}`, (section) => section.querySelectorAll("table").length > 0 && section.querySelector("svg").hasChildNodes() &&
			section.querySelector("svg").getAttribute("aria-label").length > 10), `${id}: a figure, its words, its table`);
}

/* Pages with no more than this: all sections can be drawn, and no number is missing. */
async function checkOther(browser, name, seen) {
	const page = await browser.newPage();

	page.on("console", (message) => seen.errors.push(`${name}: ${message.text()}`));
	page.on("pageerror", (error) => seen.errors.push(`${name}: ${error.message}`));
	await page.setViewport({ width: 400, height: 800 });
	await page.goto(`file://${directory}/${name}`);
	await page.waitForFunction("document.documentElement.dataset.ready");
	const text = await page.$eval("main", (element) => element.outerHTML);

	must(!/NaN|undefined|Infinity|\[object/.test(text), `${name}: ${text.match(/.{30}(NaN|undefined|Infinity|\[object).{9}/)?.[0]}`);
	must(!text.includes("cannot be drawn"), `${name}: a section cannot be drawn`);
	must(await page.evaluate(() => document.documentElement.scrollWidth <= 400), `${name}: it scrolls to the side`);
	await page.close();
}

async function main() {
	const browser = await puppeteer.launch({
		executablePath: browserPath, browser: isFirefox ? "firefox" : "chrome", headless: true,
		args: isFirefox ? [] : ["--no-sandbox", "--disable-gpu"],
	});
	const seen = { requests: [], errors: [] };

	for (const run of ["server", "hostile"]) {
		const page = await open(browser, run, seen);

		await checkVerdict(page, run);
		await checkTree(page, run);
		await checkFactors(page, run);
		await checkParts(page, view(run, "slow-vs-fast").parts, `${run}: slow against fast`);
		await checkOthers(page, run);
		if (run === "server") {
			await checkBrush(page);
			await checkKeys(page);
			await checkZoom(page);
			await checkIntervals(page);
		}
		await checkLooks(page);
		await page.close();
	}
	for (const name of fs.readdirSync(directory).filter((file) => /^other\..*html$/.test(file)))
		await checkOther(browser, name, seen);
	must(seen.requests.every((url) => url.startsWith(`file://${directory}/`) && url.endsWith(".html")), `requests: ${seen.requests}`);
	must(seen.errors.length === 0, `console: ${seen.errors.join("; ")}`);
	await browser.close();
}

main().catch((error) => failures.push(error.stack)).then(() => {
	console.log(`${browserPath}: ${checks} checks, ${failures.length} failed`);
	failures.slice(0, 20).forEach((text) => console.log(`  ${text.slice(0, 600)}`));
	process.exit(failures.length ? 1 : 0);
});
