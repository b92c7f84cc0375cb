// How things look and how they are reached: addresses of views, large groups, the timeline, colours, keys, print, other origins.
import { createServer } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The second browser, and what takes long, is for the long form.
const LONG = !!process.env.ROUX_TEST_LONG;
const BOTH = LONG ? ['chromium', 'firefox'] : ['chromium'];
const GATED = `name: gated
version: 1.0.0
description: asks before it ships
stages:
  - name: build
    steps: [{id: make, type: bash, command: echo made}]
    approval: {required: true, prompt: "Ship it?"}
  - name: ship
    steps: [{id: ship, type: bash, command: echo shipped}]
`;

const runDoc = async (t, id) => JSON.parse((await t.roux('status', id, '--json')).out);
const ended = (t, id) => t.until(async () => (await runDoc(t, id)).status !== 'running', `${id} ends`);
const paths = page => page.$$eval('#nodes li[data-p]', l => l.map(e => e.dataset.p));

// What a view shows, in words that do not depend on the time.
const shown = page => page.evaluate(() => ({
  url: location.pathname + location.search,
  rows: [...document.querySelectorAll('tr[data-run]')].map(e => e.dataset.run),
  checked: [...document.querySelectorAll('.filter input:checked')].map(e => e.value),
  fields: [...document.querySelectorAll('.filter input:not([type=checkbox]),#find')].map(e => e.value),
  nodes: [...document.querySelectorAll('#nodes li[data-p]')].map(e => e.dataset.p),
  first: document.querySelector('#log .txt')?.textContent.split('\n')[0] ?? null,
  hits: [...document.querySelectorAll('.hit')].map(e => e.textContent),
}));

export async function views_survive_back_reload_and_a_copied_link(t) {
  t.recipe('wide.json', { description: 'wide', template: [{ parallel: true, repeat: 30, template: 'true' }, `sh -c 'for i in $(seq 1 5000); do echo "line $i"; done; echo a needle here; seq 9000 9999'`] });
  await t.roux('run', 'wide', '--as', 'wide-run');
  await t.roux('run', '"false"', '--as', 'bad-run');
  const s = await t.serve(), page = await t.open(s.url), other = await t.open(await t.link(), { apart: true });
  const steps = [
    ['the filter of a list', '/runs', async () => {
      await page.$eval('.filter input[value=failed]', e => e.click());
      await page.$eval('.filter input[name=q]', e => { e.value = 'bad'; });
      await t.follow(page, '.filter button');
      return v => v.rows.join() === 'bad-run' && v.checked.includes('failed') && v.fields.includes('bad');
    }],
    ['a group that was opened', '/runs/wide-run', async () => { await t.follow(page, 'a.more'); return v => v.nodes.filter(p => p.startsWith('0.')).length === 30; }],
    ['a search of a log', '/runs/wide-run/log?path=1&stream=out', async () => {
      await page.$eval('#find', e => { e.value = 'needle'; });
      await t.follow(page, '.tools button');
      return v => v.fields.includes('needle') && v.hits.length === 1 && v.first === 'a needle here';
    }],
    ['a place in a log', '/runs/wide-run/log?path=1&stream=out&at=0', async () => {
      await page.goto(s.origin + '/runs/wide-run/log?path=1&stream=out&at=5003');
      return v => v.url.includes('at=5003') && /^line \d+$/.test(v.first) && v.first !== 'line 1';
    }]];
  for (const [name, from, act] of steps) {
    await page.goto(s.origin + from);
    const right = await act(), there = await shown(page);
    t.ok(right(there), `${name}: ${JSON.stringify(there).slice(0, 500)}`);
    await page.goto(s.origin + '/help');
    await page.goBack();
    t.equal(await shown(page), there, `${name}, Back:`);
    await page.reload();
    t.equal(await shown(page), there, `${name}, reload:`);
    await other.goto(page.url());
    t.equal(await shown(other), there, `${name}, another session:`);
  }
}

// 10,000 in the long form. The page is open while they run.
export async function a_large_group_is_live_and_opens_page_by_page(t) {
  const all = LONG ? 10000 : 1500;
  t.recipe('many.json', { description: 'many', template: ["sh -c 'until [ -e go ]; do sleep 0.05; done'", { parallel: true, repeat: all, template: 'true' }] });
  await t.roux('run', 'many', '--as', 'r', '--detach');
  const s = await t.serve(), page = await t.open(s.url);
  const answer = await page.goto(s.origin + '/runs/r');
  t.ok((await answer.buffer()).length < 200_000, 'the page is small');
  await t.holds(page, () => document.querySelector('#live').textContent === 'live');
  await page.evaluate(() => {
    window.most = 0;
    new MutationObserver(() => { window.most = Math.max(window.most, document.querySelectorAll('[data-p]').length); }).observe(document.body, { childList: true, subtree: true });
  });
  writeFileSync(join(t.dir, 'go'), '');
  await t.holds(page, () => !['running', 'waiting'].includes(document.querySelector('#state .st').dataset.s));
  const counts = `${(all + 1).toLocaleString('en')} done`;
  await t.holds(page, c => document.querySelector('#counts').textContent === c, counts);
  await t.holds(page, () => !document.querySelector('#nodes [data-s=running]'));
  t.ok(await page.evaluate(() => window.most) <= 500, 'at most 500 items at any time');
  t.ok((await (await page.goto(s.origin + '/runs/r')).buffer()).length < 200_000);
  // Every child once, with and without a script.
  for (const script of [true, false]) {
    const reader = await t.open(null, { script });
    await reader.goto(s.origin + '/runs/r');
    await t.follow(reader, 'a.more');
    const seen = [];
    for (;;) {
      const here = (await paths(reader)).filter(p => p.startsWith('1.'));
      t.ok(here.length <= 200, `${here.length} on one page`);
      seen.push(...here);
      if (!await reader.$$eval('a.more', l => l.some(a => a.textContent.includes('more')))) break;
      await Promise.all([reader.waitForNavigation(), reader.$$eval('a.more', l => l.find(a => a.textContent.includes('more')).click())]);
    }
    t.equal([seen.length, new Set(seen).size], [all, all], `script ${script}:`);
  }
}

// The record of a run whose second half came an hour later.
export async function an_hour_of_waiting_is_folded(t) {
  const burst = n => ({ parallel: true, label: `burst ${n}`, template: Array.from({ length: 8 }, (_, i) => ({ label: `work ${n}.${i}`, template: 'sleep 0.05' })) });
  t.recipe('bursts.json', { description: 'bursts', template: [burst(1), burst(2)] });
  await t.roux('run', 'bursts', '--as', 'r');
  const file = join(t.env.ROUX_STATE_DIR, 'runs/r/events.jsonl');
  let later = false;
  writeFileSync(file, readFileSync(file, 'utf8').trim().split('\n').map(line => {
    const e = JSON.parse(line);
    later ||= e.path?.startsWith('1.') ?? false;
    if (later) e.ts = new Date(Date.parse(e.ts) + 3601_000).toISOString();
    return JSON.stringify(e) + '\n';
  }).join(''));
  const s = await t.serve(), page = await t.open(s.url, { height: 320 });
  await page.goto(s.origin + '/runs/r?view=timeline');
  t.ok((await page.$eval('.legend', e => e.textContent)).includes('1 h 00 min, nothing ran'), await page.$eval('.legend', e => e.textContent));
  const rows = () => page.$$eval('.rows li', l => l.map(e => {
    const box = b => { const r = b.getBoundingClientRect(); return { x: r.x, y: r.y, width: r.width, height: r.height }; };
    return { path: e.dataset.p, label: box(e.querySelector('a')), svg: box(e.querySelector('svg')), bars: [...e.querySelectorAll('rect:not(.fold):not(.br)')].map(box), fold: box(e.querySelector('.fold')), words: e.querySelector('.t').textContent };
  }));
  for (const top of [0, 150, 1e6]) {
    await page.evaluate(y => scrollTo(0, y), top);
    for (const r of await rows()) {
      const mid = b => b.y + b.height / 2;
      t.ok(Math.abs(mid(r.label) - mid(r.svg)) < 6, `label and bar of ${r.path} stand apart: ${mid(r.label)} ${mid(r.svg)}`);
      for (const b of r.bars) {
        t.ok(b.width >= 2.9, `the bar of ${r.path} is ${b.width} px wide`);
        t.ok(b.y >= r.svg.y - 1 && b.y + b.height <= r.svg.y + r.svg.height + 1, `the bar of ${r.path} left its row`);
        const before = r.path.startsWith('0.');
        t.ok(before ? b.x < r.fold.x : b.x >= r.fold.x + r.fold.width - 1, `${r.path} is on the wrong side of the pause`);
      }
      if (/\./.test(r.path.slice(1))) t.ok(r.bars.length && /^[\d,]+ ms$/.test(r.words), `${r.path} has no bar or time`);
    }
  }
  // Real time shows what folding is for: all of it in a sliver.
  await page.goto(s.origin + '/runs/r?view=timeline&fold=0');
  t.equal(await page.$$eval('.fold', l => l.length), 0);
  const x = Object.fromEntries((await page.$$eval('.rows li', l => l.map(e => [e.dataset.p, e.querySelector('rect:not(.br)')?.getBoundingClientRect().x]))));
  t.ok(x['1.0'] - x['0.0'] > 300, 'an hour lies between them');
}

const CARD = Array.from({ length: 16 }, (_, f) => [f < 8 ? 30 + f : 82 + f, f < 8 ? 40 + f : 92 + f]);

export async function a_card_of_colours_can_be_read(t) {
  const lines = [];
  for (const [fg, bg] of CARD) {
    lines.push(`\x1b[${fg}mfore ${fg}\x1b[0m \x1b[1;${fg}mbold\x1b[0m \x1b[2;${fg}mdim\x1b[0m \x1b[7;${fg}minverse\x1b[0m \x1b[${bg}mback ${bg}\x1b[0m \x1b[2;${bg}mdim back\x1b[0m`);
    for (const [other] of CARD) lines.push(`\x1b[${other};${bg}m${other} on ${bg}\x1b[0m`);
  }
  for (const n of [17, 52, 88, 123, 196, 226, 240]) lines.push(`\x1b[38;5;${n}m256 ${n}\x1b[0m \x1b[48;5;${n}mon it\x1b[0m \x1b[38;2;${n};${255 - n};128mrgb\x1b[0m`);
  lines.push('\x1b[2mdim alone\x1b[0m \x1b[7minverse alone\x1b[0m \x1b[2;7mboth\x1b[0m', 'copy 10%\rcopy 55%\rcopy 100%', 'a \u202e b', '\x1b]8;;http://x.example\x07linked\x1b]8;;\x07 \x1b[2Jend');
  writeFileSync(join(t.dir, 'card'), lines.join('\n') + '\n');
  await t.roux('run', '"cat card"', '--as', 'r');
  const s = await t.serve();
  for (const dark of [false, true]) {
    const page = await t.open(dark ? null : s.url, { dark });
    await page.goto(s.origin + '/runs/r/log?path=0&stream=out');
    const text = await page.$$eval('#log .txt', l => l.map(e => e.textContent).join(''));
    t.ok(text.includes('\ncopy 100%\n') && !text.includes('10%\r') && !text.includes('copy 55%'), 'the last writing of a line counts');
    t.ok(text.includes('a ⟦U+202E⟧ b'), 'a direction mark is shown');
    t.ok(text.includes('\nlinked end'), 'a link shows its text');
    const found = await page.evaluate(() => {
      const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
      const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
      const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const below = e => { const c = rgb(getComputedStyle(e).backgroundColor); return c[3] ? over(c, e.parentElement ? below(e.parentElement) : [255, 255, 255]) : e.parentElement ? below(e.parentElement) : [255, 255, 255]; };
      return [...document.querySelectorAll('#log .txt span')].map(e => {
        const st = getComputedStyle(e), o = +st.opacity, page = below(e.parentElement);
        const back = over([...below(e), o], page), fore = over([...over(rgb(st.color), below(e)), o], page);
        const [a, b] = [light(fore), light(back)].sort((x, y) => y - x);
        return { text: e.textContent, ratio: (a + 0.05) / (b + 0.05) };
      });
    });
    t.ok(found.length > 300, `${found.length} pieces`);
    const bad = found.filter(f => f.ratio < 4.5);
    t.equal(bad.slice(0, 10), [], `${bad.length} of ${found.length} under 4.5:1, dark ${dark}:`);
  }
}

// Tab until what is wanted has the focus. Nothing else moves it.
async function tabTo(t, page, selector) {
  for (let i = 0; i < 200; i++) {
    if (await page.evaluate(s => document.activeElement.matches(s), selector)) return;
    await page.keyboard.press('Tab');
  }
  t.ok(false, `Tab does not reach ${selector}`);
}
async function press(page, key) { await Promise.all([page.waitForNavigation(), page.keyboard.press(key)]); }

export async function keys_alone_answer_start_and_search(t) {
  t.recipe('gated.yaml', GATED);
  t.recipe('greet.json', { description: 'greets', args: ['who:string'], template: 'echo hello {who}' });
  t.recipe('talks.json', { description: 'talks', template: `sh -c 'seq 100; echo a needle; seq 100; echo another needle'` });
  await t.roux('run', 'talks', '--as', 'talks-run');
  await t.roux('run', 'gated', '--as', 'asks', '--detach');
  await ended(t, 'asks');
  const s = await t.serve(), page = await t.open(s.url);
  // The answer, from the overview.
  await tabTo(t, page, 'a[href="/runs/asks/gate"]');
  await press(page, 'Enter');
  await tabTo(t, page, '#comment');
  await page.keyboard.type('by hand');
  await tabTo(t, page, 'button[value=approve]');
  t.ok(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== 'none'), 'the focus can be seen');
  await press(page, 'Space');
  await t.until(async () => (await runDoc(t, 'asks')).status === 'done', 'the answer counts');
  // A start, by way of the list of recipes.
  await page.goto(s.origin + '/');
  await tabTo(t, page, 'header a[href="/recipes"]');
  await press(page, 'Enter');
  await tabTo(t, page, 'main a[href="/recipes/greet"]');
  await press(page, 'Enter');
  await tabTo(t, page, 'input[name="v.who"]');
  await page.keyboard.type('you');
  await tabTo(t, page, 'form.act button');
  await press(page, 'Enter');
  await tabTo(t, page, 'form.act button.go, form.act button');
  await press(page, 'Enter');
  t.ok(/\/runs\/greet-/.test(page.url()), page.url());
  // A search: / is its key, j goes to the next hit.
  await page.goto(s.origin + '/runs/talks-run/log?path=0&stream=out');
  await page.keyboard.press('/');
  await page.keyboard.type('needle');
  await press(page, 'Enter');
  t.equal(await page.$$eval('.hit', l => l.length), 2);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  t.ok(await page.evaluate(() => document.activeElement === document.querySelectorAll('.hit')[1]), 'j j is the second hit');
  await press(page, 'Enter');
  t.ok((await page.$eval('#log .txt', e => e.textContent)).startsWith('another needle'), 'the log is at the hit');
}

export async function states_are_told_apart_without_colours(t) {
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/help');
  const boxes = await page.$$eval('.legendlist .st', l => l.map(e => {
    const r = e.getBoundingClientRect(), sign = parseFloat(getComputedStyle(e, '::before').minInlineSize);
    return { word: e.textContent, clip: { x: Math.floor(r.x), y: Math.floor(r.y + scrollY), width: Math.ceil(sign), height: Math.floor(r.height) } };
  }));
  t.ok(boxes.length >= 13, `${boxes.length} states`);
  for (const dark of [false, true]) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    for (const kind of ['achromatopsia', 'protanopia', 'deuteranopia', 'tritanopia']) {
      await page.emulateVisionDeficiency(kind);
      const seen = [];
      // The sign alone, as ink on paper: shades apart by less than a third of the range are not counted on.
      for (const b of boxes) {
        const g = await t.grey(page, b.clip), paper = g[0];
        seen.push(g.map(v => (Math.abs(v - paper) > 85 ? 1 : 0)));
      }
      for (let i = 0; i < seen.length; i++)
        for (let k = 0; k < i; k++) {
          const size = Math.min(seen[i].length, seen[k].length);
          let apart = 0;
          for (let n = 0; n < size; n++) apart += seen[i][n] !== seen[k][n];
          t.ok(apart >= 4, `${boxes[i].word} and ${boxes[k].word} differ in ${apart} pixels under ${kind}`);
        }
      t.ok(seen.every(g => g.some(v => v)), 'every sign can be seen');
    }
  }
  await page.emulateVisionDeficiency('none');
  t.equal(new Set(boxes.map(b => b.word)).size, boxes.length, 'words:');
}

export async function nothing_moves_when_motion_is_not_wanted(t) {
  await t.roux('run', JSON.stringify(['sleep 300', 'true']), '--as', 'sleeps', '--detach');
  const s = await t.serve(), page = await t.open(s.url);
  const moves = async value => {
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value }]);
    await page.goto(s.origin + '/runs/sleeps');
    await t.holds(page, () => document.querySelector('#nodes [data-s=running]'));
    return page.evaluate(() => document.getAnimations().length);
  };
  t.ok(await moves('no-preference') > 0, 'a running node shows that it runs');
  t.equal(await moves('reduce'), 0);
}

export async function a_printed_run_is_complete(t) {
  t.recipe('prints.json', { description: 'prints', template: [{ label: 'noisy', failure: 'continue', template: `sh -c 'seq 1 300 >&2; exit 3'` }, { parallel: true, template: Array.from({ length: 10 }, (_, i) => ({ label: `part ${i}`, template: 'true' })) }, { label: 'broken', template: `sh -c 'seq 1 60 >&2; exit 4'` }] });
  await t.roux('run', 'prints', '--as', 'r');
  const s = await t.serve(), page = await t.open(s.url, { height: 500 });
  await page.goto(s.origin + '/runs/r');
  await page.emulateMediaType('print');
  const seen = await page.evaluate(() => ({
    controls: [...document.querySelectorAll('header,footer,.buttons,.tabs,.tools,form,button')].filter(e => e.checkVisibility()).map(e => e.className || e.tagName),
    cut: [...document.querySelectorAll('.log')].filter(e => e.scrollHeight > e.clientHeight + 1).length,
    hidden: [...document.querySelectorAll('#nodes li[data-p]>a,.failure h3,.failure .log')].filter(e => !e.checkVisibility({ contentVisibilityAuto: true })).map(e => e.textContent.slice(0, 40)),
    nodes: document.querySelectorAll('#nodes li[data-p]').length,
    failures: document.querySelectorAll('.failure .log').length,
    wide: document.documentElement.scrollWidth > innerWidth,
  }));
  t.equal(seen, { controls: [], cut: 0, hidden: [], nodes: 14, failures: 2, wide: false });
}

// A server of another program on another port of this machine.
export async function another_port_gets_no_cookie_and_cannot_act(t) {
  await t.roux('run', '"sleep 300"', '--as', 'sleeps', '--detach');
  const s = await t.serve(), page = await t.open(s.url);
  const heard = [];
  const foreign = createServer((q, r) => {
    heard.push({ url: q.url, host: q.headers.host, cookie: q.headers.cookie ?? '' });
    r.setHeader('Content-Type', 'text/html');
    r.end(`<!doctype html><title>foreign</title><form id=f method=post action="${s.origin}/runs/sleeps/stop"><input name=how value=kill><button>x</button></form>`);
  });
  await new Promise(done => foreign.listen(0, '127.0.0.1', done));
  try {
    const port = foreign.address().port, origin = new URL(s.origin), other = await t.open(null, { expect: /./ });
    for (const host of ['127.0.0.1', 'localhost', 'roux.localhost']) {
      const from = await other.goto(`http://${host}:${port}/`);
      t.equal(from.status(), 200, host);
      // By a request of a script, with what the browser would send along, and by a form.
      const got = await other.evaluate(async to => {
        const tries = [];
        for (const [method, path] of [['POST', '/api/v1/runs/sleeps/cancel'], ['POST', '/runs/sleeps/stop'], ['GET', '/api/v1/runs/sleeps']])
          tries.push(await fetch(to + path, { method, credentials: 'include', mode: 'no-cors', body: method === 'POST' ? new URLSearchParams({ how: 'kill' }) : undefined }).then(r => r.type, () => 'failed'));
        return tries;
      }, s.origin);
      t.ok(got.every(v => v === 'opaque' || v === 'failed'), `${host} could read: ${got}`);
      await t.follow(other, '#f button');
      t.ok(new URL(other.url()).port === origin.port, other.url());
    }
    t.ok(heard.length >= 3 && heard.every(h => !/roux/i.test(h.cookie)), JSON.stringify(heard));
    t.equal((await runDoc(t, 'sleeps')).status, 'running');
    // Refusals are counted for a second before their line is written.
    const audit = () => readFileSync(join(t.env.ROUX_STATE_DIR, 'serve/audit.jsonl'), 'utf8').trim().split('\n').map(l => JSON.parse(l));
    await t.until(() => audit().some(a => a.outcome === 'refused' && a.action !== 'login'), 'the refusals are in the audit');
    // The session itself is well.
    t.equal((await page.goto(s.origin + '/runs/sleeps')).status(), 200);
    t.ok((await page.cookies()).length === 0 || (await page.cookies()).every(c => c.domain === origin.hostname), 'the cookie is of one name');
  } finally { foreign.close(); foreign.closeAllConnections(); }
}
another_port_gets_no_cookie_and_cannot_act.browsers = BOTH;
