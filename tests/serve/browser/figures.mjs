// Figures of pages in a browser, beside their goals: tests/bench/serve runs this and prints its lines. Nothing is asserted.
//
// What happens to a run is played: its supervisor sleeps, and this writes events to its record at a known rate.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SECONDS = 5, RATE = 1000, BATCH_MS = 20;
const say = (name, text) => console.log(`# ${name.padEnd(8)} ${text}`);
const sleep = ms => new Promise(r => setTimeout(r, ms));
const isLive = (t, page) => t.holds(page, () => document.querySelector('#live').textContent === 'live');

// Milliseconds of the main thread's processor time in a second, and its longest task by the clock, while `what` runs.
async function busy(page, what) {
  const cdp = await page.createCDPSession();
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const metric = async () => (await cdp.send('Performance.getMetrics')).metrics.find(m => m.name === 'TaskDuration').value;
  await page.evaluate(() => { window.long = 0; new PerformanceObserver(l => { for (const e of l.getEntries()) window.long = Math.max(window.long, e.duration); }).observe({ type: 'longtask' }); });
  const began = Date.now(), before = await metric();
  await what();
  const used = (await metric() - before) * 1000, longest = await page.evaluate(() => window.long);
  const ms = Date.now() - began;
  return { each: used / (ms / 1000), longest, ms };
}

// Writes `rate` changes of nodes a second; `path(i)` names them in turn. Returns when each was written.
async function play(dir, rate, seconds, path) {
  const file = join(dir, 'events.jsonl'), written = [];
  let seq = JSON.parse(readFileSync(file, 'utf8').trim().split('\n').pop()).seq, n = 0;
  const began = Date.now();
  while (Date.now() - began < seconds * 1000) {
    const due = Math.floor((Date.now() - began) * rate / 1000);
    let text = '';
    for (; n < due; n++) {
      const p = path(n >> 1), ts = new Date().toISOString();
      text += JSON.stringify(n % 2 ? { seq: ++seq, ts, type: 'command.done', path: p, attempt: 1, code: 0, signal: null, timeout: false, ms: 3, stdout_bytes: 0 }
        : { seq: ++seq, ts, type: 'command.start', path: p, label: null, argv: ['true'], attempt: 1 }) + '\n';
      written.push({ p, s: n % 2 ? 'done' : 'running', at: Date.now() });
    }
    if (text) appendFileSync(file, text);
    await sleep(BATCH_MS);
  }
  return written;
}

const quantile = (list, q) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))] ?? NaN;

async function played(t, nodes) {
  t.recipe('played.json', { description: 'played', template: ['sleep 3600', { parallel: true, template: Array.from({ length: nodes / 10 }, () => ({ parallel: true, template: Array(10).fill('true') })) }] });
  await t.roux('run', 'played', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs/r?open=1');
  await isLive(t, page);
  return { page, dir: join(t.env.ROUX_STATE_DIR, 'runs/r') };
}

export async function changes_of_500_nodes(t) {
  const { page, dir } = await played(t, 500);
  const found = await busy(page, () => play(dir, RATE, SECONDS, i => `1.${Math.floor(i / 10) % 50}.${i % 10}`));
  say('nodes', `${found.each.toFixed(0).padStart(8)} ms of the main thread a second at 1,000 changes a second of 500 nodes (goal 400), longest task ${found.longest.toFixed(0)} ms (goal 50)`);
}

export async function from_event_to_text(t) {
  const { page, dir } = await played(t, 500);
  await page.evaluate(() => {
    window.seen = [];
    new MutationObserver(l => { for (const m of l) window.seen.push([m.target.dataset.p, m.target.dataset.s, Date.now()]); }).observe(document.querySelector('#nodes'), { subtree: true, attributeFilter: ['data-s'] });
  });
  const written = await play(dir, 20, SECONDS, i => `1.${Math.floor(i / 10) % 50}.${i % 10}`);
  await t.until(async () => (await page.evaluate(() => window.seen.length)) >= written.length / 2);
  await sleep(500);
  const seen = await page.evaluate(() => window.seen), took = [];
  for (const w of written) {
    const hit = seen.find(([p, s, at]) => p === w.p && s === w.s && at >= w.at);
    if (hit) took.push(hit[2] - w.at);
  }
  say('latency', `${quantile(took, 0.5).toString().padStart(8)} ms from the event to the text at the median, ${quantile(took, 0.95)} at 95 % (goal 250, machine idle), ${took.length} changes`);
}

export async function a_log_of_20000_lines(t) {
  t.recipe('long.json', { description: 'long', template: `sh -c 'seq -f "line %.0f of a log that is as wide as such lines usually are" 1 20000'` });
  await t.roux('run', 'long', '--as', 'r');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  // By the page's own clock: what this program needs to look at it is not the page's time.
  let took = await page.evaluate(() => performance.getEntriesByType('navigation')[0].loadEventEnd);
  const found = await busy(page, async () => {
    took += await page.evaluate(async () => {
      const later = document.querySelector('#later'), pos = document.querySelector('#logpos'), began = performance.now();
      while (later && !later.hidden) {
        const before = pos.textContent;
        later.click();
        while (pos.textContent === before) await new Promise(r => setTimeout(r));
      }
      document.querySelector('#log').scrollHeight; // laid out
      return performance.now() - began;
    });
  });
  const lines = await page.$$eval('#log .txt', l => l.reduce((n, e) => n + e.textContent.split('\n').length - 1, 0));
  say('log', `${took.toFixed(0).padStart(8)} ms until ${lines.toLocaleString('en')} lines are shown, window by window (goal 1,000), ${(found.each * found.ms / 1000).toFixed(0)} ms of them the main thread's`);
}

export async function a_log_that_grows(t) {
  t.recipe('quiet.json', { description: 'quiet', template: "sh -c 'seq 1 18000; exec sleep 3600'" });
  await t.roux('run', 'quiet', '--as', 'r', '--detach');
  const out = join(t.env.ROUX_STATE_DIR, 'runs/r/out/0.out');
  await t.until(() => { try { return readFileSync(out, 'utf8').includes('18000'); } catch { return false; } });
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  await isLive(t, page);
  for (let i = 0; i < 15 && await page.$eval('#earlier', e => !e.hidden).catch(() => false); i++) {
    const before = await page.$eval('#logpos', e => e.textContent);
    await page.$eval('#earlier', e => e.click());
    await t.holds(page, b => document.querySelector('#logpos').textContent !== b, before);
  }
  await page.$eval('#log', e => { e.scrollTop = e.scrollHeight; });
  const found = await busy(page, async () => {
    const began = Date.now();
    for (let n = 0; Date.now() - began < SECONDS * 1000; await sleep(BATCH_MS)) {
      const due = Math.floor((Date.now() - began) * RATE / 1000);
      let text = '';
      for (; n < due; n++) text += `line ${n} of a log that is as wide as such lines usually are\n`;
      appendFileSync(out, text);
    }
  });
  say('log', `${found.each.toFixed(0).padStart(8)} ms of the main thread a second at 1,000 new lines a second below 18,000 (goal 400), longest task ${found.longest.toFixed(0)} ms`);
}
