// Bundles work.ts, collects the licences of its packages, and records the digest of the sources:
// `npm ci && npm run build`.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const built = await build({
  entryPoints: ["work.ts"], bundle: true, minify: true, target: "es2022", legalComments: "none",
  outfile: "bundle/work.js", metafile: true,
});
const packages = new Set(
  Object.keys(built.metafile.inputs)
    .map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1])
    .filter((name) => name !== undefined),
);
const licences = [...packages].sort().map((name) => {
  const path = `node_modules/${name}/LICENSE`;
  if (!existsSync(path)) throw new Error(`${name} has no LICENSE`);
  return `${name}\n\n${readFileSync(path, "utf-8").trim()}\n`;
});
writeFileSync("bundle/LICENSES.txt", licences.join(`\n${"-".repeat(70)}\n\n`));
const digest = createHash("sha256");
for (const name of ["work.ts", "package.json", "package-lock.json"]) digest.update(readFileSync(name));
writeFileSync("bundle/sources.sha256", `${digest.digest("hex")}\n`);
