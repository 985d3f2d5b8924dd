// What eslint asks of the JavaScript of the report and of its tests. Names that do not exist are
// found by the type check, layout is a matter of prettier.

import js from "@eslint/js";

// A document must never become HTML or code: texts of the corpus are set as text.
const UNSAFE = ["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln", "srcdoc"];

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-param-reassign": "error",
      "no-restricted-properties": [
        "error",
        ...UNSAFE.map((property) => ({ property, message: "Use make of dom.js." })),
      ],
      "no-self-compare": "error",
      "no-shadow": "error",
      "no-undef": "off",
      "no-unneeded-ternary": "error",
      "no-unused-expressions": "error",
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "require-unicode-regexp": "error",
    },
  },
];
