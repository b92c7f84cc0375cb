// Pictures for docs/serve.md, of real runs: ROUX_SHOTS says where they go.
const RELEASE = `name: release
version: 1.0.0
description: Build, test and publish, asking in between
stages:
  - name: build
    steps:
      - id: fetch
        type: bash
        command: echo fetched 12 packages
      - id: compile
        type: bash
        command: sleep 0.3; echo compiled
      - id: test
        type: bash
        command: sleep 0.5; echo 214 tests passed
    approval:
      required: true
      prompt: "214 tests passed on 4f2c1aa. Publish 2.4.0 to the package registry?"
  - name: publish
    steps:
      - id: upload
        type: bash
        command: echo upload dist/app-2.4.0.tar.gz
      - id: announce
        type: bash
        command: echo announce 2.4.0
`;
const NIGHTLY = [{ label: 'checkout', template: "sh -c 'echo HEAD is now at 4f2c1aa; sleep 0.12'" },
  { label: 'checks', parallel: true, template: [
    { label: 'lint', template: "sh -c 'sleep 0.2; echo no findings'" },
    { label: 'unit tests', template: "sh -c 'for i in 1 2 3 4 5; do echo \"ok $i - case $i\"; sleep 0.05; done; printf \"\\033[1;31mnot ok 6 - totals add up\\033[0m\\n# expected \\033[32m1250\\033[0m, found \\033[31m1249\\033[0m\\n# at totals.c:118\\n\" >&2; exit 1'" },
    { label: 'integration', retry: 2, template: "sh -c 'sleep 0.3; echo 18 scenarios'" },
    { label: 'docs', template: "sh -c 'sleep 0.1; echo 41 pages'" }] },
  { label: 'package', template: 'echo never' }];
const LONG = [{ label: 'prepare', template: "sh -c 'echo ready'" },
  { label: 'convert', parallel: true, repeat: 8, template: "sh -c 'for i in $(seq 1 400); do echo \"frame $i of 400\"; sleep 0.5; done'" },
  { label: 'join', template: 'echo joined' }];

export async function pictures_for_the_documentation(t) {
  t.recipe('release.yaml', RELEASE);
  t.recipe('nightly.json', { description: 'Lint, test and package what is on main', template: { failure: 'root', template: NIGHTLY } });
  t.recipe('convert.json', { description: 'Convert a film, eight parts at once', template: LONG });
  t.recipe('deploy.json', { description: 'Put a version on a host', args: ['host:string', 'version:string=2.4.0', 'mode:enum(rolling,at-once)=rolling', 'dry:bool=true', 'replicas:int=3'],
    template: ['echo deploy {version} to {host}', 'echo {mode} {dry} {replicas}'] });
  await t.roux('run', 'nightly', '--as', 'nightly-monday');
  for (const n of ['a', 'b', 'c']) await t.roux('run', 'deploy', `host=web-${n}`, '--as', `deploy-${n}`);
  await t.roux('run', 'nightly', '--as', 'nightly-tuesday');
  await t.roux('run', 'release', '--as', 'release-2.4.0', '--detach');
  await t.roux('run', 'convert', '--as', 'convert-film', '--detach');
  await t.until(async () => JSON.parse((await t.roux('status', 'release-2.4.0', '--json')).out).status === 'paused');
  const s = await t.serve();
  const places = { overview: '/', failed: '/runs/nightly-tuesday', live: '/runs/convert-film', gate: '/runs/release-2.4.0/gate',
    timeline: '/runs/nightly-tuesday?view=timeline', log: '/runs/convert-film/log?path=1.r0&stream=out', form: '/recipes/deploy', runs: '/runs' };
  let first = true;
  for (const dark of [false, true]) {
    const page = await t.open(first ? s.url : null, { dark, width: 1200, height: 800 });
    first = false;
    for (const [name, place] of Object.entries(places)) {
      const answer = await page.goto(s.origin + place);
      t.ok([200, 304].includes(answer.status()), place);
      if (name === 'live' || name === 'log') await t.holds(page, () => document.querySelector('#live').textContent === 'live');
      await t.shot(page, `${name}-${dark ? 'dark' : 'light'}`);
    }
    await page.setViewport({ width: 320, height: 700 });
    await page.goto(s.origin + '/runs/nightly-tuesday');
    await t.shot(page, `narrow-${dark ? 'dark' : 'light'}`);
    await page.close();
  }
}
