// What a person sees and does: pages with and without script, answers, starts, stops.
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

// The second browser is for the long form.
const BOTH = process.env.ROUX_TEST_LONG ? ['chromium', 'firefox'] : ['chromium'];

const FAILING = ['echo start', { parallel: true, template: [
  { label: 'broken', template: "sh -c 'echo out; printf \"\\033[31merror: no such thing\\033[0m\\n\" >&2; exit 3'" },
  { label: 'fine', template: 'echo fine' }] }, { label: 'after', template: 'echo after' }];
// A step recipe with a gate: what stands before it runs, what follows waits for an answer.
const STEPS = `name: gated
version: 1.0.0
description: asks before it ships
stages:
  - name: build
    steps:
      - id: make
        type: bash
        command: echo made
    approval:
      required: true
      prompt: "Ship it? <script>alert(1)</script>"
  - name: ship
    steps:
      - id: ship
        type: bash
        command: echo shipped
      - id: tell
        type: bash
        command: echo told {{_approval_message}}
`;

const text = page => page.evaluate(() => document.body.innerText);
const state = page => page.$eval('#state .st', e => e.dataset.s);

const runDoc = async (t, id) => JSON.parse((await t.roux('status', id, '--json')).out);
const ended = (t, id) => t.until(async () => (await runDoc(t, id)).status !== 'running', `${id} ends`);

export async function all_pages_work_without_script(t) {
  t.recipe('fails.json', { description: 'fails', template: FAILING });
  t.recipe('gated.yaml', STEPS);
  t.recipe('greet.json', { description: 'greets', args: ['who:string'], template: 'echo hello {who}' });
  for (let i = 0; i < 55; i++) await t.roux('run', 'greet', `who=${i}`, '--as', `greet-${i}`);
  await t.roux('run', 'fails', '--as', 'broken-run');
  await t.roux('run', 'gated', '--as', 'asks', '--detach');
  await ended(t, 'asks');
  await t.roux('run', '"sleep 300"', '--as', 'sleeps', '--detach');
  const s = await t.serve();
  const page = await t.open(s.url, { script: t.browser === 'firefox' }); // Firefox cannot be told
  await page.goto(s.origin + '/');
  const overview = await text(page);
  for (const word of ['asks', 'Ship it?', 'sleeps', 'broken-run', 'Waits for you']) t.ok(overview.includes(word), `overview lacks ${word}`);
  await page.goto(s.origin + '/runs?status=done');
  t.ok(!(await text(page)).includes('sleeps'), 'the filter lets a running one through');
  t.equal(await page.$$eval('tr[data-run]', r => r.length), 50);
  await t.follow(page, 'a[rel=next]');
  t.ok(await page.$$eval('tr[data-run]', r => r.length) >= 5);
  await page.goto(s.origin + '/runs/broken-run');
  t.ok((await text(page)).includes('error: no such thing'));
  await t.follow(page, '.failure h3 a');
  t.ok((await text(page)).includes('exit 3'));
  await page.goto(s.origin + '/runs/broken-run/log?stream=run-err&find=such');
  t.equal(await page.$eval('mark', m => m.textContent), 'such');
  await page.goto(s.origin + '/recipes/greet');
  await page.type('input[name="v.who"]', 'wörld & <b>');
  await t.follow(page, 'form.act button');
  t.equal(await page.$$eval('.leaves .argv code', c => c.map(e => e.textContent)), ['echo', 'hello', 'wörld & <b>']);
  await t.follow(page, 'form.act button');
  t.ok(/\/runs\/greet-/.test(page.url()), page.url());
  await page.goto(s.origin + '/runs/asks/gate');
  await page.type('#comment', 'go');
  await t.follow(page, 'button[value=approve]');
  await ended(t, 'asks');
  t.equal((await runDoc(t, 'asks')).status, 'done');
  await page.goto(s.origin + '/runs/sleeps/stop');
  await t.follow(page, 'form.act button.stop');
  await ended(t, 'sleeps');
  t.equal((await runDoc(t, 'sleeps')).status, 'cancelled');
  for (const p of ['/doctor', '/settings', '/audit', '/help', '/recipes', '/runs/asks/messages', '/runs/asks/artifacts', '/runs/asks/values'])
    t.equal((await page.goto(s.origin + p)).status(), 200, p);
}
all_pages_work_without_script.browsers = BOTH;

export async function a_gate_shows_exactly_what_then_runs(t) {
  t.recipe('gated.yaml', STEPS);
  await t.roux('run', 'gated', '--as', 'asks', '--detach');
  await ended(t, 'asks');
  const s = await t.serve(), page = await t.open(s.url, { expect: /409/ });
  await page.goto(s.origin + '/runs/asks/gate');
  t.ok((await text(page)).includes('<script>alert(1)</script>'), 'the prompt is text');
  t.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY', 'no button has the focus:');
  const shown = await page.$$eval('.leaves li', l => l.map(e => [...e.querySelectorAll('.argv code')].map(c => c.textContent)));
  const digest = await page.$eval('input[name=digest]', e => e.value);
  const plan = await page.evaluate(async () => (await fetch('/api/v1/runs/asks/plan?do=resume')).json());
  t.equal(digest, plan.digest);
  t.equal(shown, plan.will_run.map(l => l.argv ?? []));
  // Enter in the comment does not answer.
  await page.focus('#comment');
  await page.keyboard.press('Enter');
  t.equal((await runDoc(t, 'asks')).status, 'paused');
  await t.follow(page, 'button[value=approve]');
  await t.until(async () => (await runDoc(t, 'asks')).status === 'done', 'it goes on');
  const events = readFileSync(join(t.env.ROUX_STATE_DIR, 'runs/asks/events.jsonl'), 'utf8').trim().split('\n').map(l => JSON.parse(l));
  const answered = events.find(e => e.type === 'run.answered');
  t.equal([answered.answer, answered.digest], ['approved', digest]);
  const ran = events.filter(e => e.type === 'command.start' && e.seq > answered.seq).map(e => e.argv);
  const decided = shown.filter(a => a.length);
  t.equal(ran.length, shown.length);
  for (const [i, argv] of decided.entries()) if (!argv.some(w => w.includes('{{'))) t.equal(ran[i], argv);
  t.ok(decided.some(a => !a.some(w => w.includes('{{'))), 'nothing was decided');
  // The second one is told.
  const again = await page.goto(s.origin + '/runs/asks/gate');
  t.equal(again.status(), 409);
}

export async function a_changed_plan_is_shown_again(t) {
  t.recipe('greet.json', { description: 'greets', args: ['who:string'], template: 'echo hello {who}' });
  const s = await t.serve(), page = await t.open(s.url, { expect: /409|422/ });
  await page.goto(s.origin + '/recipes/greet');
  await page.type('input[name="v.who"]', 'you');
  await t.follow(page, 'form.act button');
  t.recipe('greet.json', { description: 'greets', args: ['who:string'], template: 'echo goodbye {who}' });
  await t.follow(page, 'form.act button');
  t.ok((await text(page)).includes('What would run has changed'));
  t.equal(await page.$$eval('.leaves .argv code', c => c.map(e => e.textContent)), ['echo', 'goodbye', 'you']);
  t.equal(JSON.parse((await t.roux('runs', '--json')).out).runs.length, 0);
  await t.follow(page, 'form.act button');
  t.ok(/\/runs\/greet-/.test(page.url()));
}

export async function a_form_marks_what_does_not_fit(t) {
  t.recipe('typed.json', { description: 'types', args: ['count:int', 'mode:enum(fast,slow)=fast', 'on:bool=false', 'token:string'], secrets: ['token'],
    template: 'echo {count} {mode} {on} {token}' });
  const s = await t.serve(), page = await t.open(s.url, { expect: /422/ });
  await page.goto(s.origin + '/recipes/typed');
  t.ok(await page.$('input[type=checkbox][name="v.on"]'), 'bool is a check box');
  t.ok(await page.$('select[name="v.mode"]'), 'enum is a select');
  await page.type('[name="v.count"]', 'many');
  await page.type('#v-token', 'hunter22222');
  await t.follow(page, 'form.act button');
  t.ok(await page.$('.wrong'), 'the mistake stands at its field');
  t.ok(!(await page.content()).includes('hunter22222'), 'a secret came back');
  await page.$eval('[name="v.count"]', e => { e.value = '3'; });
  await page.type('#v-token', 'hunter22222');
  await t.follow(page, 'form.act button');
  t.ok(!(await page.content()).includes('hunter22222'), 'a secret is in the plan');
  await t.follow(page, 'form.act button');
  const id = decodeURIComponent(page.url().split('/').pop());
  await ended(t, id);
  for (const p of ['', '/log', '/values', '/nodes/0', '/report.html'])
    if (p !== '/report.html') { await page.goto(s.origin + '/runs/' + id + p); t.ok(!(await page.content()).includes('hunter22222'), `a secret is at ${p}`); }
  const audit = readFileSync(join(t.env.ROUX_STATE_DIR, 'serve/audit.jsonl'), 'utf8');
  t.ok(audit.includes('"start"') && !audit.includes('hunter22222'));
}

export async function two_clicks_start_one_run(t) {
  t.recipe('slow.json', { description: 'slow', template: 'sleep 1' });
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/recipes/slow');
  await t.follow(page, 'form.act button');
  await page.evaluate(async () => {
    const form = document.querySelector('form.act'), body = () => new URLSearchParams(new FormData(form));
    await Promise.all([fetch(form.action, { method: 'POST', body: body() }), fetch(form.action, { method: 'POST', body: body() })]);
  });
  t.equal(JSON.parse((await t.roux('runs', '--json')).out).runs.length, 1);
}

export async function failures_stand_first_and_can_be_repeated(t) {
  t.recipe('fails.json', { description: 'fails', template: FAILING });
  await t.roux('run', 'fails', '--as', 'broken-run');
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/runs/broken-run');
  const order = await page.$$eval('h2', h => h.map(e => e.id));
  t.equal(order[0], 'failures');
  t.equal(await page.$eval('.failure .log .f1', e => e.textContent), 'error: no such thing');
  t.ok((await page.$eval('.failure .how', e => e.textContent)).includes('exit 3'));
  await t.follow(page, '.failure .links a:last-child');
  t.ok((await text(page)).includes('broken'));
  await t.follow(page, 'form.act button.go');
  const id = decodeURIComponent(page.url().split('/').pop());
  t.equal((await runDoc(t, id)).rerun_of, 'broken-run');
}

export async function states_are_words_shapes_and_colours(t) {
  const s = await t.serve(), page = await t.open(s.url);
  await page.goto(s.origin + '/help');
  const seen = await page.$$eval('.legendlist .st', l => l.map(e => getComputedStyle(e, '::before').content + e.textContent));
  t.equal(new Set(seen).size, seen.length, 'two states look the same:');
  t.ok(seen.length >= 13);
}

export async function axe_finds_nothing(t) {
  t.recipe('fails.json', { description: 'fails', template: FAILING });
  t.recipe('gated.yaml', STEPS);
  t.recipe('typed.json', { description: 'types', args: ['count:int', 'mode:enum(fast,slow)=fast', 'on:bool=false'], template: 'echo {count} {mode} {on}' });
  await t.roux('run', 'fails', '--as', 'broken-run');
  await t.roux('run', 'gated', '--as', 'asks', '--detach');
  await t.roux('run', '"sleep 300"', '--as', 'sleeps', '--detach');
  await ended(t, 'asks');
  const s = await t.serve();
  const places = ['/', '/runs', '/runs/broken-run', '/runs/broken-run?view=timeline', '/runs/broken-run?view=table', '/runs/broken-run/nodes/1.0',
    '/runs/broken-run/log', '/runs/asks', '/runs/asks/gate', '/runs/sleeps', '/runs/sleeps/stop', '/runs/broken-run/again', '/recipes', '/recipes/typed',
    '/doctor', '/settings', '/audit', '/help'];
  let first = true;
  const looks = process.env.ROUX_TEST_LONG ? [[false, 320], [false, 1280], [true, 320], [true, 1280]] : [[false, 1280], [true, 320]];
  for (const [dark, width] of looks) {
      const page = await t.open(null, { width, dark });
      if (first) await page.goto(s.url);
      first = false;
      for (const p of places) {
        await page.goto(s.origin + p);
        t.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${p} scrolls sideways at ${width}`);
        await t.axe(page);
      }
      await page.close();
    }
}

export async function hostile_texts_stay_texts(t) {
  const evil = '</script><img src=x onerror=alert(1)>"\'&<b>';
  t.recipe('evil.json', { description: evil, template: [{ label: evil, template: `sh -c 'echo "$0"; echo "$0" >&2; printf "\\342\\200\\256rev \\377 \\033]0;t\\007"; exit 1' '${evil.replaceAll("'", '')}'` }] });
  await t.roux('run', 'evil', '--as', 'evil-run');
  const s = await t.serve(), page = await t.open(s.url);
  let alerts = 0;
  page.on('dialog', d => { alerts++; d.dismiss(); });
  for (const p of ['/', '/runs', '/recipes', '/recipes/evil', '/runs/evil-run', '/runs/evil-run?view=timeline', '/runs/evil-run?view=table', '/runs/evil-run/nodes/0',
    '/runs/evil-run/log?stream=run-err', '/runs/evil-run/log?path=0&stream=out', '/runs/evil-run/again']) {
    await page.goto(s.origin + p);
    t.equal(await page.$$eval('img:not(.preview)', l => l.length), 0, p);
  }
  await page.goto(s.origin + '/runs/evil-run/log?path=0&stream=out');
  t.ok((await text(page)).includes('⟦U+202E⟧'), 'the direction mark is shown');
  t.equal(alerts, 0);
}
