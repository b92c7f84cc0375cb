// Pages that follow what happens: runs, logs, many tabs, a server that dies.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The second browser is for the long form.
const BOTH = process.env.ROUX_TEST_LONG ? ['chromium', 'firefox'] : ['chromium'];

const runDoc = async (t, id) => JSON.parse((await t.roux('status', id, '--json')).out);
const states = page => page.$$eval('#nodes [data-p]', l => Object.fromEntries(l.map(e => [e.dataset.p, e.dataset.s])));
const isLive = (t, page) => t.holds(page, () => document.querySelector('#live').textContent === 'live');
// Commands that wait for files, so that the test says when something happens.
const gate = n => `sh -c 'until [ -e go-${n} ]; do sleep 0.05; done; echo passed ${n}'`;
async function go(t, n) { await (await import('node:fs/promises')).writeFile(join(t.dir, `go-${n}`), ''); }

async function cold(t, page, url) {
  const other = await t.open(url);
  const found = await states(other);
  await other.close();
  return found;
}

export async function every_change_appears_without_reload(t) {
  t.recipe('steps.json', { template: [gate(1), { parallel: true, template: [gate(2), gate(3)] }, gate(4)] });
  await t.roux('run', 'steps', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url);
  const url = s.origin + '/runs/r';
  await page.goto(url);
  await page.evaluate(() => { window.same = true; });
  await isLive(t, page);
  await t.until(async () => (await states(page))['0'] === 'running');
  for (const [n, p] of [[1, '0'], [2, '1.0'], [3, '1.1'], [4, '2']]) {
    await go(t, n);
    await t.until(async () => (await states(page))[p] === 'done', `${p} becomes done`);
  }
  await t.until(async () => (await page.$eval('#state .st', e => e.dataset.s)) === 'done');
  t.ok(await page.evaluate(() => window.same), 'the page was not loaded again');
  t.equal(await states(page), await cold(t, page, url), 'what was streamed is what is rendered:');
  t.ok((await page.title()).startsWith('✓'), await page.title());
}
every_change_appears_without_reload.browsers = BOTH;

export async function a_killed_server_loses_nothing(t) {
  t.recipe('steps.json', { template: [gate(1), gate(2), gate(3)] });
  await t.roux('run', 'steps', '--as', 'r', '--detach');
  const first = await t.serve(), port = new URL(first.url).port;
  const page = await t.open(first.url, { expect: /ERR_|Failed to load/ });
  await page.goto(first.origin + '/runs/r');
  await isLive(t, page);
  await go(t, 1);
  await t.until(async () => (await states(page))['0'] === 'done');
  await first.kill();
  await go(t, 2);
  await t.until(async () => (await page.$eval('#live', e => e.textContent)).startsWith('not live since'));
  await t.until(async () => (await runDoc(t, 'r')).progress.completed >= 2);
  await t.serve('--port', port);
  await isLive(t, page);
  await t.until(async () => (await states(page))['1'] === 'done');
  await go(t, 3);
  await t.until(async () => (await page.$eval('#state .st', e => e.dataset.s)) === 'done');
  t.equal(await states(page), await cold(t, page, page.url()));
}

export async function nine_tabs_load_and_the_focused_one_is_live(t) {
  t.recipe('steps.json', { template: [gate(1)] });
  await t.roux('run', 'steps', '--as', 'r', '--detach');
  const s = await t.serve(), pages = [];
  for (let i = 0; i < 9; i++) {
    const page = await t.open(i ? null : s.url);
    await page.goto(s.origin + '/runs/r');
    t.ok(await page.$('#nodes [data-p]'), `tab ${i} has nothing`);
    pages.push(page);
  }
  await pages[4].bringToFront();
  await isLive(t, pages[4]);
  await go(t, 1);
  await t.until(async () => (await states(pages[4]))['0'] === 'done');
}
nine_tabs_load_and_the_focused_one_is_live.browsers = BOTH;

export async function a_list_changes_in_place(t) {
  t.recipe('steps.json', { template: [gate(1)] });
  await t.roux('run', 'steps', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs');
  await isLive(t, page);
  await go(t, 1);
  await t.until(() => page.$eval('tr[data-run=r]', e => e.dataset.s === 'done'));
  await t.roux('run', '"true"', '--as', 'another');
  await t.holds(page, () => document.querySelector('#news')?.textContent.includes('1 new run'));
  t.equal(await page.$$eval('tr[data-run]', l => l.length), 1, 'nothing moved under the reader:');
}

export async function a_log_is_followed(t) {
  t.recipe('talks.json', { template: `sh -c 'i=0; until [ -e go-1 ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo the end'` });
  await t.roux('run', 'talks', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url, { height: 500 });
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  await isLive(t, page);
  const last = () => page.$$eval('#log .txt', l => +(l.pop()?.textContent.trim().split('\n').pop().match(/line (\d+)/) ?? [0, 0])[1]);
  const now = await last();
  await t.until(async () => (await last()) > now + 25);
  // Scrolling up stays put while lines arrive.
  await page.$eval('#log', e => { e.scrollTop = 0; });
  await t.holds(page, () => document.querySelector('#follow').textContent.includes('new lines'));
  t.equal(await page.$eval('#log', e => e.scrollTop), 0);
  await page.focus('#log');
  await page.keyboard.press('End');
  await go(t, 1);
  await t.holds(page, () => document.querySelector('#log').textContent.includes('the end'));
  // Every line once, in order.
  const lines = (await page.$eval('#log', e => [...e.querySelectorAll('.txt')].map(p => p.textContent).join(''))).trim().split('\n');
  const numbers = lines.filter(l => l.startsWith('line')).map(l => +l.slice(5));
  t.ok(numbers.every((n, i) => i === 0 || n === numbers[i - 1] + 1), 'a line is missing or double');
}

export async function twenty_thousand_lines_are_in_the_page(t) {
  t.recipe('long.json', { template: `sh -c 'seq -f "line %.0f" 1 20000'` });
  await t.roux('run', 'long', '--as', 'r');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  for (let i = 0; i < 15 && await page.$eval('#later', e => !e.hidden).catch(() => false); i++) {
    const before = await page.$eval('#logpos', e => e.textContent);
    await page.$eval('#later', e => e.click());
    await t.holds(page, b => document.querySelector('#logpos').textContent !== b, before);
  }
  const bytes = readFileSync(join(t.env.ROUX_STATE_DIR, 'runs/r/out/0.out'), 'utf8');
  t.ok(await page.evaluate(() => window.find('line 20000')), 'the last line is found');
  t.ok(await page.evaluate(() => window.find('line 1\n', false, true) || window.find('line 17', false, true)), 'the first ones are found');
  const copied = await page.evaluate(() => { getSelection().selectAllChildren(document.querySelector('#log')); return getSelection().toString(); });
  t.equal(copied.trim().split(/\n+/).filter(l => !/^\d+$/.test(l)).length, 20000);
  t.equal(await page.$$eval('#log .txt', l => l.map(e => e.textContent).join('')), bytes);
}
twenty_thousand_lines_are_in_the_page.browsers = BOTH;

export async function ten_thousand_commands_are_a_small_page(t) {
  t.recipe('many.json', { template: { parallel: true, repeat: 3000, template: 'true' } });
  const s = await t.serve();
  await t.roux('run', 'many', '--as', 'r');
  const page = await t.open(s.url);
  const answer = await page.goto(s.origin + '/runs/r');
  t.ok((await answer.buffer()).length < 200_000);
  t.ok(await page.$$eval('[data-p]', l => l.length) <= 500);
  t.ok((await page.$eval('#counts', e => e.textContent)).includes('3,000 done'));
  await t.follow(page, '.more');
  t.ok(await page.$$eval('[data-p]', l => l.length) >= 200);
  const url = page.url();
  t.ok(url.includes('open='), url);
  await page.reload();
  t.ok(await page.$$eval('[data-p]', l => l.length) >= 200, 'what is open survives a reload');
}
