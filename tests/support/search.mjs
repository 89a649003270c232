// node search.mjs SITE QUERY...: for each query the address of the best result, by the search
// worker of the built site (mkdocs-material) with this site's index.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [SETUP, QUERY] = [0, 2]; // the types of the worker's messages
const [site, ...queries] = process.argv.slice(2);
const workers = path.join(site, "assets/javascripts/workers");
const file = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));

let receive, answer;
const worker = {
  console, setTimeout, clearTimeout, URL,
  location: {href: "http://localhost/"},
  importScripts() {},
  addEventListener: (_, listener) => { receive = listener; },
  postMessage: (message) => answer(message),
};
worker.self = worker;
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(workers, file), "utf8"), worker);

const ask = (type, data) => new Promise((done) => { answer = done; receive({data: {type, data}}); });
await ask(SETUP, {config: index.config, docs: index.docs, options: {suggest: false}});
for (const query of queries) {
  const found = await ask(QUERY, query);
  console.log(found.data.items[0]?.[0].location ?? "");
}
