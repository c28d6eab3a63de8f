// Opens the pictures of a profile on a site from the disk in a browser and looks for what is wrong: pictures.mjs SITE
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const site = resolve(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
const fail = (file, what) => failures.push(`${relative(site, file)}: ${what}`);
const named = (name) => readdirSync(site, { recursive: true }).filter((file) => file.endsWith(`/${name}`)).map((file) => join(site, file));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function open(file, width, scheme, scripts = true) {
  const context = await browser.newContext({ javaScriptEnabled: scripts });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && fail(file, `console: ${message.text()}`));
  page.on("pageerror", (error) => fail(file, `error: ${error.message}`));
  page.on("dialog", (dialog) => { fail(file, `dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => request.url() === pathToFileURL(file).href || fail(file, `asked for ${request.url()}`));
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
  return page;
}

async function look(file, page, width) {
  const found = await page.evaluate(() => ({
    broken: window.broken,
    wide: document.documentElement.getBoundingClientRect().width - window.innerWidth,
    small: [...document.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().height < 9 && text.getBoundingClientRect().width > 0).length,
  }));
  if (found.broken !== undefined) fail(file, `a script of the profile ran: ${found.broken}`);
  if (found.small > 0) fail(file, `${found.small} texts are too small at ${width} px`);
  if (!file.endsWith("calls.svg") && found.wide > 1) fail(file, `${found.wide} px wider than the window at ${width} px`);
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { preload: false }));
  if (passes.length === 0) fail(file, "axe has looked at nothing");
  for (const { id, help, nodes } of violations) fail(file, `axe (${width} px): ${id}: ${help}: ${nodes[0].html.slice(0, 120)}`);
}

let looked = 0;
for (const name of ["flame.svg", "calls.svg", "bands.svg"]) {
  for (const file of named(name)) {
    looked += 1;
    for (const [width, scheme] of [[1400, "light"], [390, "dark"]]) {
      const page = await open(file, width, scheme);
      await look(file, page, width);
      await page.context().close();
    }
  }
}

// The figure of a frame: what is between its name and its share.
const share = (label) => Number(/, ([\d.]+) %/.exec(label)[1]);
for (const file of named("flame.svg")) {
  const page = await open(file, 390, "light");
  // The box of a frame itself includes what is cut off of its name.
  const width = (selector) => page.$eval(`${selector} > rect`, (frame) => frame.getBoundingClientRect().width);
  const said = () => page.$eval("output", (output) => output.textContent);
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("data-name"));
  const forward = '.frame[data-name="forward"]';
  const expect = (what, wanted, found) => JSON.stringify(found) === JSON.stringify(wanted) || fail(file, `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);

  const label = await page.$eval(forward, (frame) => frame.getAttribute("aria-label"));
  const before = await width(forward);
  if (Math.abs(before - (390 * share(label)) / 100) > 1) fail(file, `the width ${before} is not that of ${label}`);

  // Zoom with the pointer, and back.
  await page.click(forward);
  expect("the width of the frame that was clicked", 390, Math.round(await width(forward)));
  expect("its caller is shown above it", true, await page.isVisible('.frame[data-name="train_step"]'));
  expect("its sibling is shown beside it", false, await page.isVisible('.frame[data-name="backward"]'));
  expect("what is said of it", label, await said());
  await page.click("button");
  expect("the width after going back", Math.round(before), Math.round(await width(forward)));

  // The keyboard: down to the first call, right to its sibling, Enter to zoom, Escape to go back.
  const root = await focused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const down = await focused();
  if (down === root || down === null) fail(file, "the arrow down does not move");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect("the arrow up goes back", root, await focused());
  await page.focus('.frame[data-name="train_step"]');
  await page.click('.frame[data-name="train_step"]');
  await page.keyboard.press("ArrowDown");
  expect("the first call", "backward", await focused());
  await page.keyboard.press("ArrowRight");
  expect("the call beside it", "forward", await focused());
  await page.keyboard.press("Enter");
  expect("the width after Enter", 390, Math.round(await width(forward)));
  await page.keyboard.press("Escape");
  expect("the width after Escape", Math.round(before), Math.round(await width(forward)));
  expect("frames in the order of Tab", 1, (await page.$$('.frame[tabindex="0"]')).length);

  // The search counts what contains each other once.
  await page.keyboard.press("/");
  await page.keyboard.type("FORWARD");
  expect("frames that are found", ["forward"], await page.$$eval(".frame.hit", (frames) => frames.map((frame) => frame.dataset.name)));
  const found = await said();
  if (!found.startsWith("1 found, with ") || Math.abs(parseFloat(found.split("with ")[1]) - share(label)) > 0.1) fail(file, `the search says ${found}`);
  await page.keyboard.press("Escape");
  expect("frames that are found after Escape", 0, (await page.$$(".frame.hit")).length);
  await page.context().close();

  const plain = await open(file, 390, "light", false);
  if ((await plain.$$(".frame")).length < 5) fail(file, "there are no frames without scripts");
  if ((await plain.$$("input")).length > 0) fail(file, "there is a search that cannot work without scripts");
  await plain.context().close();
}
await browser.close();

console.log(`${looked} pictures looked at, ${failures.length} failures`);
for (const failure of failures.slice(0, 60)) console.log(failure);
process.exit(failures.length === 0 && looked >= 3 ? 0 : 1);
