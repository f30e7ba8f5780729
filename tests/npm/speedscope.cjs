/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedscope.cjs BROWSER INDEX FILE...: opens each file in speedscope (its page INDEX), and saves as FILE.read.json what speedscope made
 * of it: what its own key for export writes.  Exit 1, with the reason, if it cannot read one, or meets an error.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const puppeteer = require("puppeteer-core");

const [browserPath, index, ...files] = process.argv.slice(2);

/* The page saves a Blob through a link; only the link says where it goes. */
function keepSaved() {
	const make = URL.createObjectURL;

	URL.createObjectURL = (blob) => {
		blob.text().then((text) => { window.savedText = text; });
		return make.call(URL, blob);
	};
}

async function read(browser, file) {
	const page = await browser.newPage(), script = `${path.resolve(file)}.js`, errors = [];

	page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
	page.on("pageerror", (error) => errors.push(error.message));
	page.on("dialog", (dialog) => {
		errors.push(dialog.message());
		dialog.dismiss();
	});
	await page.evaluateOnNewDocument(keepSaved);
	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))}, ` +
		`"${fs.readFileSync(file).toString("base64")}")`);
	await page.goto(`file://${index}#localProfilePath=${script}`);
	await page.waitForFunction((name) => document.title.includes(name) || /Something went wrong/.test(document.body.innerText),
		{ timeout: 60000 }, path.basename(file)).catch(() => errors.push("it shows nothing of the file"));
	if (!errors.length) {
		await page.keyboard.down("Control");
		await page.keyboard.press("s");
		await page.keyboard.up("Control");
		await page.waitForFunction("window.savedText", { timeout: 60000 }).catch(() => errors.push("it has nothing to save"));
	}
	if (!errors.length)
		fs.writeFileSync(`${file}.read.json`, await page.evaluate("window.savedText"));
	await page.close();
	return errors;
}

async function main() {
	const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, args: ["--no-sandbox", "--allow-file-access-from-files"] });
	let failed = false;

	for (const file of files) {
		const errors = await read(browser, file);

		errors.forEach((text) => console.log(`${file}: ${text}`));
		failed ||= errors.length > 0;
	}
	await browser.close();
	process.exit(failed ? 1 : 0);
}

main().catch((error) => {
	console.log(error.stack);
	process.exit(1);
});
