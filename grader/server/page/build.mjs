// Bundles work.ts and records the digest of its sources: `npm ci && npm run build`.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

await build({
  entryPoints: ["work.ts"], bundle: true, minify: true, target: "es2022", legalComments: "none",
  outfile: "bundle/work.js",
});
const digest = createHash("sha256");
for (const name of ["work.ts", "package.json", "package-lock.json"]) digest.update(readFileSync(name));
writeFileSync("bundle/sources.sha256", `${digest.digest("hex")}\n`);
