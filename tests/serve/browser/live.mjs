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

// The page comes to what a page that is made anew shows; of large groups it may show more, which ran while it looked.
async function sameAsCold(t, page) {
  const other = await t.open(page.url()), expected = await states(other);
  await other.close();
  await page.bringToFront();
  let found;
  const apart = () => Object.entries(expected).filter(([p, v]) => found[p] !== v).map(([p, v]) => `${p} ${found[p]} ${v}`);
  await t.until(async () => { found = await states(page); return !apart().length; }, 'it comes to the same').catch(e => { throw new Error(`${e.message}: ${apart()}`); });
  t.ok(Object.keys(expected).length > 1, 'there are nodes');
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
  await sameAsCold(t, page);
  t.ok((await page.title()).startsWith('✓'), await page.title());
}
every_change_appears_without_reload.browsers = BOTH;

// Every line once, in order.
const oneEach = lines => lines.every((n, i) => i === 0 || n === lines[i - 1] + 1);
const numbers = page => page.$eval('#log', e => [...e.querySelectorAll('.txt')].map(p => p.textContent).join('').split('\n').filter(l => l.startsWith('line')).map(l => +l.slice(5)));

const GONE = { expect: /ERR_|Failed to load|NetworkError|establish a connection|interrupted/ };

export async function a_killed_server_loses_nothing(t) {
  t.recipe('steps.json', { template: [gate(1), gate(2), gate(3)] });
  await t.roux('run', 'steps', '--as', 'r', '--detach');
  const first = await t.serve(), port = new URL(first.url).port, page = await t.open(first.url, GONE);
  await page.goto(first.origin + '/runs/r');
  await isLive(t, page);
  await go(t, 1);
  await t.until(async () => (await states(page))['0'] === 'done');
  await first.kill();
  await go(t, 2);
  await t.holds(page, () => document.querySelector('#live').textContent.startsWith('not live since'));
  await t.until(async () => (await runDoc(t, 'r')).progress.completed >= 2);
  await t.serve('--port', port);
  await isLive(t, page);
  await t.until(async () => (await states(page))['1'] === 'done');
  await go(t, 3);
  await t.until(async () => (await page.$eval('#state .st', e => e.dataset.s)) === 'done');
  await sameAsCold(t, page);
}
a_killed_server_loses_nothing.browsers = BOTH;

export async function a_killed_server_loses_no_line(t) {
  t.recipe('talks.json', { template: `sh -c 'i=0; until [ -e go-1 ]; do i=$((i+1)); echo line $i; sleep 0.02; done; echo the end'` });
  await t.roux('run', 'talks', '--as', 'r', '--detach');
  const first = await t.serve(), port = new URL(first.url).port, page = await t.open(first.url, GONE);
  await page.goto(first.origin + '/runs/r/log?path=0&stream=out');
  await isLive(t, page);
  const more = async () => { const now = (await numbers(page)).length; await t.until(async () => (await numbers(page)).length > now + 20, 'lines come'); };
  await more();
  await first.kill();
  await t.holds(page, () => document.querySelector('#live').textContent.startsWith('not live since'));
  await t.serve('--port', port);
  await isLive(t, page);
  await more();
  await go(t, 1);
  await t.holds(page, () => document.querySelector('#log').textContent.includes('the end'));
  t.ok(oneEach(await numbers(page)), 'a line is missing or double');
}
a_killed_server_loses_no_line.browsers = BOTH;

export async function a_killed_supervisor_is_seen(t) {
  t.recipe('steps.json', { template: ['true', { parallel: true, template: [gate(1), gate(2)] }] });
  await t.roux('run', 'steps', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url), url = s.origin + '/runs/r';
  await page.goto(url);
  await isLive(t, page);
  await t.until(async () => (await states(page))['1.1'] === 'running');
  process.kill((await runDoc(t, 'r')).pid, 'SIGKILL');
  await t.until(async () => (await page.$eval('#state .st', e => e.dataset.s)) === 'exited');
  t.ok(!Object.values(await sameAsCold(t, page)).includes('running'), 'nothing runs any more');
  await go(t, 1);
  await go(t, 2);
}

// Two writers: what the stream makes of a page, and the page as it is made anew.
export async function random_runs_are_streamed_as_they_are_rendered(t) {
  let seed = 20261;
  const rnd = n => (seed = (seed * 48271) % 2147483647) % n;
  const tree = depth => {
    const kind = rnd(depth ? 8 : 4);
    if (kind === 4) return { parallel: true, template: Array.from({ length: 2 + rnd(4) }, () => tree(depth - 1)) };
    if (kind === 5) return { parallel: rnd(2) === 1, repeat: 2 + rnd(40), template: `sh -c 'sleep 0.0${rnd(9)}'` };
    if (kind >= 6) return { template: Array.from({ length: 2 + rnd(4) }, () => tree(depth - 1)), failure: 'continue' };
    const fails = rnd(5) === 0;
    return { label: `n${rnd(1000)}`, retry: rnd(3) + 1, failure: 'continue', template: `sh -c 'sleep 0.${rnd(3)}${rnd(10)}; exit ${fails ? 1 + rnd(9) : 0}'` };
  };
  const s = await t.serve();
  const page = await t.open(s.url);
  for (let n = 0; n < (process.env.ROUX_TEST_LONG ? 12 : 3); n++) {
    t.recipe(`rnd${n}.json`, { description: 'random', template: Array.from({ length: 5 }, () => tree(3)) });
    await t.roux('run', `rnd${n}`, '--as', `r${n}`, '--detach');
    const url = `${s.origin}/runs/r${n}${['', '?view=table', '?view=timeline'][n % 3]}`;
    await page.goto(url);
    await t.until(async () => (await page.$eval('#state .st', e => e.dataset.s)) !== 'running');
    t.ok(!Object.values(await sameAsCold(t, page)).includes('running'), 'nothing runs any more');
  }
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

export async function a_page_that_lost_its_stream_looks_by_itself(t) {
  await t.roux('run', '"true"', '--as', 'one');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs');
  await isLive(t, page);
  const answers = [];
  page.on('response', r => { if (new URL(r.url()).pathname === '/runs') answers.push(r.status()); });
  // A session has four streams: that of the page is the oldest of five.
  await page.evaluate(() => { window.streams = [1, 2, 3, 4].map(() => new EventSource('/api/v1/events?topic=runs')); });
  await t.holds(page, () => document.querySelector('#live').textContent === 'live in another tab');
  await t.until(() => answers.includes(304), 'nothing has changed');
  await t.roux('run', '"true"', '--as', 'two');
  await t.holds(page, () => [...document.querySelectorAll('tr[data-run]')].map(e => e.dataset.run).join() === 'two,one');
  t.ok(!await page.$('#news:not([hidden])'), 'it is shown already');
}

// Twenty lines fifty times a second; on a busy machine fewer.
const TALKS = `sh -c 'i=0; until [ -e go-1 ]; do for k in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do i=$((i+1)); echo line $i; done; sleep 0.02; done; echo the end'`;

export async function a_log_is_followed(t) {
  t.recipe('talks.json', { template: TALKS });
  await t.roux('run', 'talks', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url, { height: 500 });
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  await isLive(t, page);
  const atEnd = () => page.$eval('#log', e => e.scrollHeight - e.scrollTop - e.clientHeight < 30);
  const now = (await numbers(page)).length;
  await t.until(async () => (await numbers(page)).length > now + 500);
  t.ok(await atEnd(), 'the end is in sight');
  // Scrolling up stays put while lines arrive.
  await page.$eval('#log', e => { e.scrollTop = 40; });
  await t.holds(page, () => document.querySelector('#follow').textContent.includes('new lines'));
  const line = () => page.$eval('#log', e => { const r = e.getBoundingClientRect(), at = document.caretRangeFromPoint(r.x + 100, r.y + 30); return at.startContainer.textContent.slice(0, at.startOffset).split('\n').length; });
  const seen = await line(), count = (await numbers(page)).length;
  await t.until(async () => (await numbers(page)).length > count + 300);
  t.equal([await page.$eval('#log', e => e.scrollTop), await line()], [40, seen]);
  await page.focus('#log');
  await page.keyboard.press('End');
  await t.until(atEnd, 'End is the end');
  t.equal(await page.$eval('#follow', e => e.textContent), 'Following');
  const later = (await numbers(page)).length;
  await t.until(async () => (await numbers(page)).length > later + 100);
  await t.until(atEnd, 'and follows');
  await go(t, 1);
  await t.holds(page, () => document.querySelector('#log').textContent.includes('the end'));
  t.ok(oneEach(await numbers(page)), 'a line is missing or double');
}

export async function a_full_page_keeps_what_is_read(t) {
  t.recipe('talks.json', { template: `sh -c 'seq -f "line %.0f" 1 19900; until [ -e go-1 ]; do sleep 0.05; done; seq -f "line %.0f" 19901 23000; until [ -e go-2 ]; do sleep 0.05; done; echo the end'` });
  await t.roux('run', 'talks', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url, { height: 500 });
  const out = join(t.env.ROUX_STATE_DIR, 'runs/r/out/0.out');
  await t.until(() => { try { return readFileSync(out, 'utf8').includes('line 19900'); } catch { return false; } });
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  for (let i = 0; i < 15 && await page.$eval('#earlier', e => !e.hidden); i++) {
    const before = await page.$eval('#logpos', e => e.textContent);
    await page.$eval('#earlier', e => e.click());
    await t.holds(page, b => document.querySelector('#logpos').textContent !== b, before);
  }
  t.equal((await numbers(page)).length, 19900);
  t.equal(await page.$$eval('#log .gut', l => l.map(e => e.textContent).join('').trim().split('\n').map(Number)), Array.from({ length: 19900 }, (_, i) => i + 1), 'numbers of lines:');
  await page.$eval('#log', e => { e.scrollTop = 0; });
  await go(t, 1);
  await t.holds(page, () => /Follow: \d+ new lines/.test(document.querySelector('#follow').textContent) && +document.querySelector('#follow').textContent.match(/\d+/)[0] >= 3100);
  t.equal((await numbers(page))[0], 1, 'the first line stays:');
  t.ok((await numbers(page)).length <= 20000, 'the page is bounded');
  await page.$eval('#follow', e => e.click());
  await t.until(async () => (await numbers(page)).at(-1) === 23000, 'the button shows the end');
  await go(t, 2);
  await t.holds(page, () => document.querySelector('#log').textContent.includes('the end'));
  t.ok(oneEach(await numbers(page)) && (await numbers(page)).length <= 20000, 'a line is missing or double');
}

export async function twenty_thousand_lines_are_in_the_page(t) {
  t.recipe('long.json', { template: `sh -c 'echo the first; seq -f "line %.0f" 2 19999; echo the last'` });
  await t.roux('run', 'long', '--as', 'r');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
  for (let i = 0; i < 15 && await page.$eval('#later', e => !e.hidden).catch(() => false); i++) {
    const before = await page.$eval('#logpos', e => e.textContent);
    await page.$eval('#later', e => e.click());
    await t.holds(page, b => document.querySelector('#logpos').textContent !== b, before);
  }
  t.equal(await page.$$eval('#later,#follow', l => l.filter(e => e.checkVisibility()).map(e => e.id)), [], 'what cannot be used is not shown:');
  const bytes = readFileSync(join(t.env.ROUX_STATE_DIR, 'runs/r/out/0.out'), 'utf8');
  t.equal(await page.$$eval('#log .txt', l => l.map(e => e.textContent).join('')), bytes);
  // The browser's own find, forwards to the last line and backwards to the first.
  const find = (text, back) => page.evaluate((w, b) => window.find(w, true, b) && getSelection().toString(), text, back);
  t.equal(await find('the last', false), 'the last');
  t.equal(await find('the first', true), 'the first');
  // A copied selection is the bytes: no numbers, no lines of its own.
  await page.focus('#log');
  await page.evaluate(() => {
    document.addEventListener('copy', e => { window.copied = e.defaultPrevented ? e.clipboardData.getData('text/plain') : getSelection().toString(); });
    getSelection().selectAllChildren(document.querySelector('#log'));
  });
  await page.keyboard.down('Control');
  await page.keyboard.press('c');
  await page.keyboard.up('Control');
  await t.holds(page, () => window.copied !== undefined);
  const copied = await page.evaluate(() => window.copied), at = [...bytes].findIndex((c, k) => c !== copied[k]);
  t.equal([copied.length, at < 0 ? '' : copied.slice(at - 20, at + 40)], [bytes.length, '']);
}
twenty_thousand_lines_are_in_the_page.browsers = BOTH;
