// usage: node harness.mjs ROUX FILE.mjs [NAME...]     runs the checks that FILE exports; see run
//
// A check is `async function what_it_shows(t)`; its name, with spaces, is the TAP line. `t` gives it a home of its own:
//   t.dir, t.env, t.recipe(name, document), t.roux(...words), t.serve(...options) -> {url, pid, stop(), kill()}
//   t.open(url, {width, dark, script, apart}) -> a puppeteer page that fails the check on a console error or CSP report; apart: with cookies of its own
//   t.until(what), t.holds(page, what), t.follow(page, selector), t.axe(page), t.shot(page, name), t.equal(a, b), t.ok(value, text)
// A check with `browsers = ['chromium', 'firefox']` runs once in each, with t.browser set. Everything a check started is
// ended by its pid.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual, inspect } from 'node:util';
import { inflateSync } from 'node:zlib';

const [roux, file, ...only] = [resolve(process.argv[2]), process.argv[3], ...process.argv.slice(4)];
const require = createRequire(join(process.env.ROUX_BROWSER_PACKAGES, 'package.json'));
const puppeteer = (await import(pathToFileURL(require.resolve('puppeteer-core')).href)).default;
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WATCHDOG_MS = +(process.env.ROUX_TEST_WATCHDOG_MS ?? 300_000);
const PROGRAMS = { chromium: '/usr/bin/chromium', firefox: '/usr/bin/firefox-esr' };

const browsers = {};
async function browser(name) {
  if (!browsers[name]) {
    const home = mkdtempSync(join(tmpdir(), 'roux-browser-'));
    const options = { executablePath: PROGRAMS[name], headless: true, env: { ...process.env, HOME: home }, timeout: WATCHDOG_MS, protocolTimeout: WATCHDOG_MS };
    // Chromium's own sandbox does not work for root, which a machine that tests often is.
    if (name === 'chromium') options.args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    else options.browser = 'firefox';
    browsers[name] = { home, ...{ it: await puppeteer.launch(options) } };
  }
  return browsers[name].it;
}

// A PNG as a browser writes it: 8 bits a channel, not interlaced.
function greys(png) {
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20), step = { 2: 3, 6: 4 }[png[25]], parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts)), line = width * step, found = [];
  let above = Buffer.alloc(line);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)], row = Buffer.from(raw.subarray(y * (line + 1) + 1, (y + 1) * (line + 1)));
    for (let x = 0; x < line; x++) {
      const left = x < step ? 0 : row[x - step], corner = x < step ? 0 : above[x - step], up = above[x];
      const guess = left + up - corner, [a, b, c] = [left, up, corner].map(v => Math.abs(guess - v));
      row[x] += [0, left, up, (left + up) >> 1, a <= b && a <= c ? left : b <= c ? up : corner][filter];
    }
    for (let x = 0; x < line; x += step) found.push(Math.round(0.2126 * row[x] + 0.7152 * row[x + 1] + 0.0722 * row[x + 2]));
    above = row;
  }
  return found;
}

class Check {
  constructor(browserName) {
    this.browser = browserName;
    this.dir = mkdtempSync(join(tmpdir(), 'roux-serve-'));
    this.recipes = join(this.dir, '.pi/agent/recipes');
    mkdirSync(this.recipes, { recursive: true });
    mkdirSync(join(this.dir, 'run'), { mode: 0o700 });
    this.env = { HOME: this.dir, PATH: process.env.PATH, LANG: 'C.UTF-8', XDG_RUNTIME_DIR: join(this.dir, 'run'),
      ROUX_STATE_DIR: join(this.dir, 'state') };
    for (const key of Object.keys(process.env)) if (/^(A|UB|L)SAN_/.test(key)) this.env[key] = process.env[key];
    this.pages = [];
    this.contexts = [];
    this.servers = [];
    this.faults = [];
    this.end = Date.now() + WATCHDOG_MS;
  }

  recipe(name, document) {
    writeFileSync(join(this.recipes, name), typeof document === 'string' ? document : JSON.stringify(document));
  }

  // {code, out, err} of a command of roux, which may fail.
  roux(...words) {
    return new Promise(done => execFile(roux, words, { env: this.env, cwd: this.dir, maxBuffer: 1 << 28 },
      (e, out, err) => done({ code: e ? e.code : 0, out, err })));
  }

  // A server of this home on a port of its own; its first line is the link that logs in.
  async serve(...options) {
    const child = spawn(roux, ['serve', '--port', '0', ...options], { env: this.env, cwd: this.dir, stdio: ['ignore', 'pipe', 'pipe'] });
    const server = { child, pid: child.pid, err: '', ended: new Promise(done => child.on('exit', (code, signal) => done({ code, signal }))) };
    child.stderr.on('data', d => { server.err += d; });
    server.url = await new Promise((done, fail) => {
      let text = '';
      child.stdout.on('data', d => { text += d; if (text.includes('\n')) done(text.trim()); });
      child.on('exit', () => fail(new Error(`roux serve ended: ${server.err}`)));
    });
    server.origin = new URL(server.url).origin;
    server.kill = async () => { child.kill('SIGKILL'); return server.ended; };
    server.stop = async () => { child.kill('SIGTERM'); return server.ended; };
    this.servers.push(server);
    return server;
  }

  // Expected messages of the console are given as `expect`, a regular expression.
  async open(url, { width = 1280, height = 900, dark = false, script = true, expect = null, apart = false, browser: name = this.browser } = {}) {
    const where = apart ? await (await browser(name)).createBrowserContext() : await browser(name);
    if (apart) this.contexts.push(where);
    const page = await where.newPage();
    this.pages.push(page);
    page.setDefaultTimeout(WATCHDOG_MS);
    await page.setViewport({ width, height });
    if (name === 'chromium') await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    if (!script) await page.setJavaScriptEnabled(false);
    page.on('console', m => { if (m.type() === 'error' && !(expect && expect.test(m.text()))) this.faults.push(`console: ${m.text()}`); });
    page.on('pageerror', e => { if (!(expect && expect.test(e.message))) this.faults.push(`script: ${e.message}`); });
    if (url) await page.goto(url);
    // The page of a login continues by itself; what is opened next must not meet that on its way.
    if (url?.includes('/login?once=')) await this.until(() => page.evaluate(() => location.pathname === '/' && document.readyState === 'complete').catch(() => false), 'the login continues');
    return page;
  }

  // Not page.waitForFunction(): that asks at every frame, and a tab behind another has none.
  holds(page, what, ...args) { return this.until(() => page.evaluate(what, ...args), String(what)); }

  // A link or a button as the keyboard uses it, and the page behind it. A click of the mouse goes to a place, where
  // something else may be by then when the page is alive.
  async follow(page, selector) {
    await Promise.all([page.waitForNavigation(), page.$eval(selector, e => e.click())]);
  }

  async axe(page) {
    await page.evaluate(axeSource);
    const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
    const said = result.violations.map(v => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html).join(' | ')}`);
    if (said.length) throw new Error(`axe: ${page.url()}\n${said.join('\n')}`);
  }

  // Waits for what is true in the end; the time is a watchdog of the whole check.
  async until(what, text = String(what)) {
    for (;;) {
      const value = await what();
      if (value) return value;
      if (Date.now() > this.end) throw new Error(`waited in vain: ${text}`);
      await new Promise(r => setTimeout(r, 50));
    }
  }

  // A picture, kept where ROUX_SHOTS says.
  async shot(page, name, options = {}) {
    if (!process.env.ROUX_SHOTS) return;
    mkdirSync(process.env.ROUX_SHOTS, { recursive: true });
    await page.screenshot({ path: join(process.env.ROUX_SHOTS, `${name}.png`), ...options });
  }

  // A link that logs in once more.
  async link() { return (await this.roux('serve', 'link')).out.trim(); }

  // The pixels of a part of a page as shades of grey, 0 to 255, row by row. The page has to be the one in front.
  async grey(page, clip) { return greys(Buffer.from(await page.screenshot({ clip }))); }

  ok(value, text) { if (!value) throw new Error(text ?? 'not true'); }
  equal(found, expected, text = '') {
    if (!isDeepStrictEqual(found, expected)) throw new Error(`${text} found ${inspect(found, { depth: 6 })}, expected ${inspect(expected, { depth: 6 })}`);
  }

  // What each open page shows, for the report of a failure.
  async pagesSay() {
    const look = () => `${location.href}: ${document.title}: ${document.querySelector('#live')?.textContent ?? 'no #live'}: ${[...document.querySelectorAll('#nodes [data-p]')].slice(0, 9).map(e => `${e.dataset.p}=${e.dataset.s}`).join(' ')}`;
    const late = new Promise(r => setTimeout(r, 5000, 'it does not answer'));
    return Promise.all(this.pages.map(page => Promise.race([page.evaluate(look).catch(e => e.message), late])));
  }

  async close(clean) {
    for (const page of this.pages) await page.close().catch(() => {});
    for (const context of this.contexts) await context.close().catch(() => {});
    for (const s of this.servers) if (s.child.exitCode === null && s.child.signalCode === null) await s.stop();
    const runs = await this.roux('runs', '--json', '--status', 'running');
    if (runs.code === 0) for (const r of JSON.parse(runs.out).runs ?? []) await this.roux('kill', r.run ?? r.id);
    if (clean) rmSync(this.dir, { recursive: true, force: true });
    for (const s of this.servers) if (/Sanitizer|runtime error:/.test(s.err)) this.faults.push(`a server has reported: ${s.err}`);
    if (this.faults.length) throw new Error(this.faults.join('\n'));
  }
}

const checks = [];
for (const [name, f] of Object.entries(await import(pathToFileURL(resolve(file)).href)))
  if (typeof f === 'function') for (const b of f.browsers ?? ['chromium']) checks.push({ name, f, b });
console.log(`1..${checks.length}`);
let failed = 0, number = 0;
for (const { name, f, b } of checks) {
  const line = `${++number} - ${name.replaceAll('_', ' ')}${b === 'chromium' ? '' : ` (${b})`}`;
  const left = only.length && !only.includes(name) ? 'not asked for' : !existsSync(PROGRAMS[b]) ? `there is no ${basename(PROGRAMS[b])}` : '';
  if (left) { console.log(`ok ${line} # SKIP ${left}`); continue; }
  const t = new Check(b);
  let error = null, watchdog;
  try {
    await Promise.race([f(t), new Promise((_, fail) => { watchdog = setTimeout(() => fail(new Error('it hangs')), WATCHDOG_MS + 30_000); })]);
  } catch (e) { error = e; }
  clearTimeout(watchdog);
  const said = error ? await t.pagesSay() : [];
  await t.close(!error).catch(e => { error ??= e; });
  console.log(`${error ? 'not ok' : 'ok'} ${line}`);
  if (error) {
    failed++;
    for (const l of String(error.stack ?? error).split('\n')) console.log(`# ${l}`);
    for (const l of said) console.log(`# page: ${l}`);
    for (const s of t.servers) for (const l of s.err.split('\n').filter(Boolean).slice(-20)) console.log(`# server: ${l}`);
    console.log(`# kept in ${t.dir}`);
  }
}
for (const { it, home } of Object.values(browsers)) {
  await it.close().catch(() => {});
  rmSync(home, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
