// usage: node clients.mjs ROUX PACKAGES     the SDK clients of both eras against `roux mcp`. Prints TAP.
import { mkdtempSync, mkdirSync, readFileSync, writeFileSync, rmSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execFileSync, spawn } from 'node:child_process';

const [roux, packages] = process.argv.slice(2);
const require = createRequire(join(packages, 'package.json'));
const load = name => import(pathToFileURL(require.resolve(name)).href);

const top = mkdtempSync(join(tmpdir(), 'roux-mcp-'));
const home = join(top, 'home'), project = join(top, 'project'), recipes = join(home, '.pi/agent/recipes');
mkdirSync(recipes, { recursive: true });
mkdirSync(project, { recursive: true });
const recipe = (name, body) => writeFileSync(join(recipes, name), typeof body === 'string' ? body : JSON.stringify(body));
recipe('echo.json', { description: 'says it again', args: ['message'], template: 'echo {message}', effects: 'read' });
recipe('fails.json', { template: 'sh -c "echo out; echo err >&2; exit 3"' });
recipe('big.json', { template: 'sh -c "seq 30000; echo conclusion"' });
recipe('slow.json', { template: [{ label: 'one', template: 'true' }, { label: 'two', template: 'sleep 25' }] });
recipe('structured.json', { template: 'cat data.json', output_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } });
recipe('tree.json', { template: 'sh -c "sleep 600 & echo $! > pid; wait"' });
recipe('gated.yaml', `name: gated
description: asks
version: 1.0.0
stages:
  - name: plan
    steps: [{ id: plan, type: bash, command: echo planned }]
    approval: { required: true, prompt: "Go?" }
  - name: act
    steps: [{ id: act, type: bash, command: echo acted, output: said }]
`);
writeFileSync(join(project, 'data.json'), '{"n": 5}\n');
const env = { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8' };
for (const key of Object.keys(process.env)) if (key.endsWith('SAN_OPTIONS')) env[key] = process.env[key];
const server = { command: roux, args: ['mcp'], cwd: project, env, stderr: 'pipe' };

// The same server over HTTP, with a token that may do everything.
const token = execFileSync(roux, ['serve', 'token', 'add', 'clients', '--scope', 'read,run,answer'], { cwd: project, env }).toString().trim();
const process_ = spawn(roux, ['mcp', '--http', '127.0.0.1:0'], { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] });
let said = '';
const url = await new Promise((resolve, reject) => {
  process_.stderr.on('data', d => { said += d; const m = /listening on (\S+)/.exec(said); if (m) resolve(m[1]); });
  process_.on('exit', () => reject(new Error(`it ended: ${said}`)));
});
const http = { requestInit: { headers: { Authorization: `Bearer ${token}` } } };

const legacy = over => async answer => {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { ElicitRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');
  const c = new Client({ name: 'sdk-v1', version: '1' }, { capabilities: answer ? { elicitation: {} } : {} });
  if (answer) c.setRequestHandler(ElicitRequestSchema, async () => answer);
  await c.connect(over ? new StreamableHTTPClientTransport(new URL(url), http) : new StdioClientTransport(server));
  return { c, call: (name, args, o) => c.callTool({ name, arguments: args ?? {} }, undefined, o) };
};

function modern(mode, over) {
  return async answer => {
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    const c = new Client({ name: 'client-v2', version: '1' },
      { capabilities: answer ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode } });
    if (answer) c.setRequestHandler('elicitation/create', async () => answer);
    await c.connect(over ? new StreamableHTTPClientTransport(new URL(url), http) : new StdioClientTransport(server));
    const version = c.getNegotiatedProtocolVersion();
    if (version !== '2026-07-28') throw new Error(`negotiated ${version}`);
    return { c, call: (name, args, o) => c.callTool({ name, arguments: args ?? {} }, o) };
  };
}

const eras = {
  'SDK v1': legacy(false), 'client v2 pinned': modern({ pin: '2026-07-28' }), 'client v2 auto': modern('auto'),
  'SDK v1 over HTTP': legacy(true), 'client v2 pinned over HTTP': modern({ pin: '2026-07-28' }, true), 'client v2 auto over HTTP': modern('auto', true),
};
let number = 0, bad = 0;
async function test(name, body) {
  try {
    await body();
    console.log(`ok ${++number} - ${name}`);
  } catch (e) {
    bad++;
    console.log(`not ok ${++number} - ${name}`);
    for (const line of String(e.stack ?? e).split('\n')) console.log(`# ${line}`);
  }
}
function expect(condition, what) {
  if (!condition) throw new Error(JSON.stringify(what)?.slice(0, 2000));
}
const text = r => r.content[0].text;
const gone = pid => {
  try {
    return readFileSync(`/proc/${pid}/stat`).includes(') Z');
  } catch {
    return true;
  }
};
const until = async (what, condition) => {
  for (let i = 0; i < 3000; i++) {
    if (condition()) return;
    await new Promise(r => setTimeout(r, 50));
  }
  throw new Error(what);
};

for (const [era, connect] of Object.entries(eras)) {
  await test(`${era}: lists tools, the same twice`, async () => {
    const { c } = await connect();
    const one = await c.listTools(), two = await c.listTools();
    expect(JSON.stringify(one.tools) === JSON.stringify(two.tools) && one.tools.some(t => t.name === 'echo'), one);
    await c.close();
  });
  await test(`${era}: calls with quotes, fails, structures, cuts`, async () => {
    const { c, call } = await connect();
    await c.listTools();
    const said = `it's "$(id)" \`x\``;
    expect(text(await call('echo', { message: said })) === said + '\n', said);
    let r = await call('fails');
    expect(r.isError && text(r).includes('exit code 3') && text(r).includes('out') && text(r).includes('err'), r);
    r = await call('structured');
    expect(r.structuredContent.n === 5, r);
    r = await call('big');
    expect(text(r).includes('conclusion') && text(r).includes('all at roux://runs/'), text(r).slice(-200));
    r = await call('echo', {});
    expect(r.isError && text(r).includes('message'), r);
    const runs = await call('roux_runs', {});
    expect(runs.structuredContent.runs.length > 0, runs);
    await c.close();
  });
  if (!era.includes('HTTP')) // it takes half a minute
  await test(`${era}: progress holds a timeout off`, async () => {
    const { c, call } = await connect();
    const seen = [];
    await call('slow', {}, { onprogress: p => seen.push(p.progress), resetTimeoutOnProgress: true, timeout: 15000 });
    expect(seen.length >= 2 && seen.every((v, i) => !i || v > seen[i - 1]), seen);
    await c.close();
  });
  await test(`${era}: an abort ends the process`, async () => {
    const { c, call } = await connect();
    const pid = join(project, 'pid');
    rmSync(pid, { force: true });
    const stop = new AbortController();
    const promise = call('tree', {}, { signal: stop.signal }).catch(() => 'aborted');
    await until('it did not start', () => existsSync(pid) && execFileSync('cat', [pid]).length > 1);
    const n = execFileSync('cat', [pid]).toString().trim();
    stop.abort('enough');
    expect(await promise === 'aborted', 'not aborted');
    await until('it lives on', () => gone(n));
    await c.close();
  });
  for (const [decision, status] of [['approve', 'done'], ['reject', 'denied']])
    await test(`${era}: ${decision} inside the call`, async () => {
      const { c, call } = await connect({ action: 'accept', content: { decision } });
      const r = await call('gated');
      expect(r._meta['dev.roux/run'].status === status && !!r.isError === (status === 'denied'), r);
      await c.close();
    });
  await test(`${era}: without elicitation the run waits`, async () => {
    const { c, call } = await connect();
    const r = await call('gated');
    expect(r._meta['dev.roux/run'].status === 'paused' && text(r).includes('roux approve'), r);
    await c.close();
  });
  await test(`${era}: reads resources`, async () => {
    const { c, call } = await connect();
    const run = (await call('echo', { message: 'logged' }))._meta['dev.roux/run'].run;
    const r = await c.readResource({ uri: `roux://runs/${run}/log` });
    expect(r.contents[0].text === 'logged\n', r);
    expect((await c.listResources()).resources.length > 2, 'resources');
    expect((await c.listResourceTemplates()).resourceTemplates.length === 5, 'templates');
    await c.close();
  });
}
// The inspector declares tasks in the modern era and polls to the end by itself.
const inspect = (era, over, ...more) => {
  const where = over ? [url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`] : [roux, 'mcp'];
  try {
    return execFileSync('mcp-inspector', ['--cli', ...where, '--protocol-era', era, ...more],
      { cwd: project, env: { ...env, MCP_CATALOG_PATH: join(top, 'catalog.json') }, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  } catch (e) {
    throw new Error(`exit ${e.status}: ${e.stdout} ${e.stderr}`);
  }
};
recipe('late.json', { template: 'sh -c "sleep 1; echo late"', async: true });
for (const era of ['legacy', 'modern']) {
  await test(`inspector, ${era}: schemas are portable`, async () => {
    inspect(era, false, '--method', 'tools/list', '--strict');
  });
  for (const over of [false, true])
    await test(`inspector, ${era}${over ? ' over HTTP' : ''}: calls`, async () => {
      const r = JSON.parse(inspect(era, over, '--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'));
      expect(text(r) === 'hi\n', r);
      const late = JSON.parse(inspect(era, over, '--method', 'tools/call', '--tool-name', 'late'));
      expect(late._meta['dev.roux/run'].status === (era === 'modern' ? 'done' : 'running'), late);
    });
}
process_.removeAllListeners('exit');
const ended = new Promise(done => process_.on('close', done)); // all that it wrote has been read then
process_.kill();
await ended;
await test('the server has no report of a sanitizer', async () => expect(!/Sanitizer|runtime error:/.test(said), said));
console.log(`1..${number}`);
rmSync(top, { recursive: true, force: true });
process.exit(bad ? 1 : 0);
