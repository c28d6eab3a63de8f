// Opens every page of a site, and further pages, from the disk in a browser and looks for what is wrong:
// check.mjs SITE [PAGE...]
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { HtmlValidate } from "html-validate";
import { chromium } from "playwright-core";

const site = resolve(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
const fail = (page, what) => failures.push(`${relative(site, page)}: ${what}`);
const further = process.argv.slice(3).map((name) => resolve(name));
const pages = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html")).map((name) => join(site, name)).sort();
for (const page of further) existsSync(page) ? pages.unshift(page) : fail(page, "is not there");

const validator = new HtmlValidate({
  extends: ["html-validate:recommended"],
  rules: {
    // Long titles come from the user; headings and spaces are the template's own matter.
    "long-title": "off",
    "no-trailing-whitespace": "off",
    // The engine writes the void elements as HTML does.
    "void-style": ["error", { style: "omit" }],
    // A region that scrolls must be reachable by keyboard.
    "no-redundant-role": "error",
    "prefer-native-element": "off",
    // Names may hold any letters; what is written for & < > and quotes is the escaper's choice.
    "no-raw-characters": "off",
  },
});

// Every start of the browser has a new profile of its own.
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const context = await browser.newContext();

async function look(file, { width, scheme }) {
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && fail(file, `console: ${message.text()}`));
  page.on("pageerror", (error) => fail(file, `error: ${error.message}`));
  page.on("dialog", (dialog) => { fail(file, `dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("requestfailed", (request) => fail(file, `request failed: ${request.url()}`));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || fail(file, `asked the network for ${request.url()}`));
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
  const found = await page.evaluate(() => ({
    broken: window.broken,
    wide: document.documentElement.scrollWidth - window.innerWidth,
    links: [...document.querySelectorAll("a[href], img[src], link[rel=stylesheet], script[src]")].map((e) => e.href || e.src),
    fragments: [...document.querySelectorAll('a[href^="#"]')].filter((a) => !document.getElementById(a.hash.slice(1))).map((a) => a.hash),
    heading: document.querySelectorAll("h1").length,
    // Labels that reach over the edge of their chart are cut off, and text must not leave its box.
    cut: [...document.querySelectorAll("svg text")].filter((text) => {
      const [box, chart] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
      return box.width > 0 && (box.left < chart.left - 1 || box.right > chart.right + 1 || box.top < chart.top - 1 || box.bottom > chart.bottom + 1);
    }).map((text) => text.textContent),
    spilt: [...document.querySelectorAll("main td, main th, .headlines dd, .facts dd")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.trim()),
    // Amounts that a person cannot read at a glance; figures of a spec have no unit.
    raw: [...document.querySelectorAll(".headlines .value, td.number:has(.unit)")].map((e) => e.textContent).filter((text) => /\d{7}|\d[eE][-+]?\d/.test(text)),
  }));
  if (found.broken !== undefined) fail(file, `a script of the logs ran: ${found.broken}`);
  if (found.wide > 1) fail(file, `${found.wide} px wider than the window at ${width} px`);
  for (const label of found.cut) fail(file, `a label is cut off at ${width} px: ${label}`);
  for (const text of found.spilt) fail(file, `text leaves its box at ${width} px: ${text.slice(0, 80)}`);
  for (const text of found.raw) fail(file, `a number without a fitting unit: ${text}`);
  if (found.heading !== 1) fail(file, `${found.heading} first headings`);
  for (const hash of found.fragments) fail(file, `nothing is called ${hash}`);
  for (const href of found.links) {
    if (/^(https:|data:)/.test(href)) continue;
    if (!href.startsWith("file:")) fail(file, `a link to ${href}`);
    else if (!existsSync(fileURLToPath(href.split("#")[0]))) fail(file, `a link to nowhere: ${href}`);
  }
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"], preload: false }));
  for (const { id, impact, help, nodes } of violations) {
    if (impact === "serious" || impact === "critical") fail(file, `axe (${scheme}, ${width} px): ${id}: ${help}: ${nodes[0].html.slice(0, 120)}`);
  }
  return page;
}

for (const file of pages) {
  const report = await validator.validateFile(file);
  for (const result of report.results) {
    for (const message of result.messages) fail(file, `html:${message.line}: ${message.ruleId}: ${message.message}`);
  }
  if (statSync(file).size > 150_000 && file.includes(`${site}/run/`)) fail(file, `is larger than 150 kB`);
  for (const view of [{ width: 1400, scheme: "light" }, { width: 390, scheme: "dark" }]) {
    await (await look(file, view)).close();
  }
}

// A page of its own has its style with it, and asks for nothing.
for (const file of further) {
  const page = await look(file, { width: 390, scheme: "light" });
  const requests = await page.evaluate(() => performance.getEntriesByType("resource").map((entry) => entry.name));
  for (const name of requests.filter((name) => !name.startsWith("data:"))) fail(file, `asked for ${name}`);
  const policy = await page.$eval("meta[http-equiv=Content-Security-Policy]", (meta) => meta.content);
  if (!policy.startsWith("default-src 'none'") || policy.includes("unsafe")) fail(file, `has the policy ${policy}`);
  if ((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) !== "rgb(252, 252, 250)") fail(file, "its style is not in force");
  const cut = await page.$$eval("svg", (plots) => plots.flatMap((plot) => {
    const frame = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    return texts.filter(([, box]) => box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom || box.height < 9).map(([text]) => text);
  }));
  if ((await page.$$("svg circle")).length === 0) fail(file, "its plot has no run");
  for (const text of cut) fail(file, `the label ${text} is cut or too small`);
  await page.close();
}

// Sorting, search and copying are there with scripts, and nothing is lost without them.
const start = await look(join(site, "index.html"), { width: 1400, scheme: "light" });
const cells = () => start.$$eval("table.sortable tbody tr", (rows) => rows.map((row) => row.cells[1].dataset.value));
const before = await cells();
await start.click("table.sortable thead th:nth-child(2) button");
const after = await cells();
if (before.length > 1 && String([...before].sort((a, b) => b - a)) !== String(after)) fail(join(site, "index.html"), `sorted rows are ${after}`);
await start.fill("#search", "seed_0");
await start.waitForFunction(() => window.impactRuns);
if ((await start.$$("#found a")).length === 0) fail(join(site, "index.html"), "the search finds nothing");
if ((await start.$$("[data-copy] button")).length !== 1) fail(join(site, "index.html"), "there is no button to copy the statement");
await start.close();

const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
for (const file of pages.slice(0, 5)) {
  await plain.goto(pathToFileURL(file).href);
  if ((await plain.$$("main table tbody tr")).length === 0) fail(file, "there is no table without scripts");
  if (await plain.isVisible(".search")) fail(file, "there is a search that cannot work without scripts");
}
await browser.close();

console.log(`${pages.length} pages looked at, ${failures.length} failures`);
for (const failure of failures.slice(0, 60)) console.log(failure);
process.exit(failures.length === 0 && pages.length > 0 ? 0 : 1);
