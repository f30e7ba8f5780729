/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For development: tests/report/page_lint.sh runs eslint with this where npm has it. */
import js from "@eslint/js";

const browser = ["document", "console", "atob", "Blob", "Response", "DecompressionStream", "CustomEvent", "ResizeObserver", "Node",
	"addEventListener", "requestAnimationFrame", "setTimeout"];

export default [
	js.configs.recommended,
	{
		languageOptions: {
			ecmaVersion: 2022, sourceType: "module",
			globals: Object.fromEntries(browser.map((name) => [name, "readonly"])),
		},
		rules: {
			"no-restricted-properties": ["error",
				...["innerHTML", "outerHTML", "insertAdjacentHTML", "write"].map((property) => ({ property, message: "names are text" }))],
			"no-eval": "error", "no-implied-eval": "error", "no-new-func": "error", "no-control-regex": "off",
			"max-lines": ["error", 600], "max-lines-per-function": ["error", 60], eqeqeq: "error", "prefer-const": "off", "no-var": "error",
		},
	},
];
