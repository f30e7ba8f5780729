/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and names as vprof prints them: 2221000 ns is 2.22 ms, a share of 0.619 is 61.9 %. */

/* toFixed() rounds halves up; C, and so vprof's text, to the even digit: 374.5 is 374. */
export function fixed(value, digits) {
	const exact = Math.abs(value).toFixed(60);
	const point = exact.indexOf(".");
	const kept = exact.slice(0, point + 1 + digits).replace(/\.$/, "");
	const isTie = /^50*$/.test(exact.slice(point + 1 + digits));

	return isTie && Number(kept.at(-1)) % 2 === 0 ? (value < 0 ? "-" : "") + kept : value.toFixed(digits);
}

export function textNs(ns) {
	const units = ["ns", "µs", "ms", "s"];
	const sign = ns < 0 ? "-" : "";
	let value = Math.abs(ns), unit = 0;

	if (!Number.isFinite(value))
		return "?";
	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	if (unit === 0 && Number.isInteger(value))
		return `${sign}${value} ns`;
	return `${sign}${fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[unit]}`;
}

/* All with one decimal; what rounds to nothing has no sign. */
export function textPercent(share) {
	if (typeof share !== "number" || !Number.isFinite(share))
		return "?";
	return `${fixed(Math.abs(share) < 0.0005 ? 0 : share * 100, 1)} %`;
}

/* Half of a confidence interval, in points: never 0, that would be certainty. */
export function textPlusMinus(ci95) {
	if (!ci95)
		return "";
	const points = (ci95[1] - ci95[0]) * 50;

	if (points < 0.95)
		return `±${fixed(Math.max(points, points > 0 ? 0.1 : 0), 1)}`;
	return `±${Math.ceil(points - 1e-9)}`;
}

export function textCount(count) {
	return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function plural(count, word) {
	return `${textCount(count)} ${word}${count === 1 ? "" : "s"}`;
}

export function textSigned(ns) {
	return ns > 0 ? `+${textNs(ns)}` : textNs(ns);
}

/* A place in the sources: "server.c:28". */
export function textPlace(file, line) {
	return file ? (line ? `${file}:${line}` : file) : "";
}

const waits = new Map();

/* {state: text}, of the page's data. */
export function setWaitTexts(texts) {
	for (const [state, text] of Object.entries(texts))
		waits.set(state, text);
}

/* The class of a wait, as vprof's text has it. */
export function waitText(state) {
	return waits.get(state) ?? state;
}

/* Control characters, and those that turn the direction of a line, are shown as what they are: something that is no letter. */
export function clean(text) {
	return String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd");
}

/* As much of a name as there is room for; its end tells it from others. */
export function shortened(text, width) {
	const letters = [...text];

	if (letters.length <= width)
		return text;
	if (width < 2)
		return "";
	const tail = Math.ceil((width - 1) / 2);

	return `${letters.slice(0, width - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}
