// usage: node session.mjs ROUX EXTENSION     the extension in real sessions of pi; prints TAP
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startModel, texts, toolNames } from "./model.mjs";

const WATCHDOG = 180_000; // only what hangs takes so long
const [roux, extension] = process.argv.slice(2).map((path) => resolve(path));
const base = mkdtempSync(join(tmpdir(), "roux-pi-"));
const home = join(base, "home"), work = join(base, "work"), bin = join(base, "bin");
const agent = join(home, ".pi", "agent"), recipes = join(agent, "recipes");
for (const dir of [recipes, join(agent, "extensions"), work, bin]) mkdirSync(dir, { recursive: true });
symlinkSync(roux, join(bin, "roux"));
const model = await startModel();
const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, LANG: "C.UTF-8", TERM: "dumb", PI_OFFLINE: "1", PI_TELEMETRY: "0", BASE: base };
for (const name of ["ASAN_OPTIONS", "UBSAN_OPTIONS"]) if (process.env[name]) env[name] = process.env[name];

writeFileSync(join(agent, "models.json"), JSON.stringify({
	providers: { standin: { baseUrl: `http://127.0.0.1:${model.port}/v1`, api: "openai-completions", apiKey: "none", models: [{ id: "m" }] } },
}));

const recipe = (id, doc) => writeFileSync(join(recipes, `${id}.${typeof doc === "string" ? "yaml" : "json"}`), typeof doc === "string" ? doc : JSON.stringify(doc));
const command = (...args) => execFileSync(roux, args, { cwd: work, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const ask = (...args) => JSON.parse(command(...args, "--json"));
const runs = (id) => ask("runs").runs.filter((r) => !id || r.recipe === id);
const alive = (pid) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

async function until(what, check) {
	const deadline = Date.now() + WATCHDOG;
	for (;;) {
		const value = await check();
		if (value) return value;
		if (Date.now() > deadline) throw new Error(`waited too long for ${what}`);
		await new Promise((go) => setTimeout(go, 20));
	}
}

/* One pi in RPC mode. */
class Pi {
	constructor(session, ...args) {
		this.events = [];
		this.stderr = "";
		this.replies = 0;
		this.child = spawn("pi", ["--mode", "rpc", "--provider", "standin", "--model", "m", "--session-id", session, ...args], { cwd: work, env });
		this.ended = new Promise((end) => this.child.on("close", end));
		let rest = "";
		this.child.stdout.setEncoding("utf8").on("data", (text) => {
			const lines = (rest + text).split("\n");
			rest = lines.pop();
			for (const line of lines) if (line.trim()) this.events.push(JSON.parse(line));
		});
		this.child.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
		this.child.stdin.on("error", () => {});
	}
	write(doc) {
		this.child.stdin.write(`${JSON.stringify(doc)}\n`);
	}
	async send(type, more = {}) {
		const id = `r${++this.replies}`;
		this.write({ id, type, ...more });
		const reply = await this.event(`the reply to ${type}`, (e) => e.type === "response" && e.id === id);
		assert.ok(reply.success, reply.error);
		return reply.data;
	}
	/* The first event that fits, of those behind number `from`. */
	event(what, fits, from = 0) {
		return until(`${what}; stderr: ${this.stderr}`, () => this.events.slice(from).find(fits));
	}
	/* A prompt and all that follows from it. Gives what the model was asked meanwhile, and the events. The extension takes turns
	 * by itself, so it waits for a quiet moment first. */
	async prompt(message, ...script) {
		await this.quiet();
		const requests = model.requests.length, events = this.events.length;
		model.script = script;
		await this.send("prompt", { message });
		await this.event("the end of the turn", (e) => e.type === "agent_settled", events);
		return { requests: model.requests.slice(requests), events: this.events.slice(events) };
	}
	quiet() {
		return until("a quiet moment", async () => {
			const { isStreaming, pendingMessageCount } = await this.send("get_state");
			return !isStreaming && !pendingMessageCount;
		});
	}
	/* One call of a tool: {text, isError}, as the model is told. */
	async call(name, args = {}) {
		const { events } = await this.prompt(`call ${name}`, { [name]: args }, "thanks");
		const end = events.find((e) => e.type === "tool_execution_end" && e.toolName === name);
		assert.ok(end, `${name} was not called: ${JSON.stringify(events.map((e) => e.type))}`);
		return { text: end.result.content.map((c) => c.text).join(""), isError: end.isError, details: end.result.details, events };
	}
	notices() {
		return this.events.filter((e) => e.type === "extension_ui_request" && e.method === "notify").map((e) => e.message);
	}
	async close() {
		this.child.stdin.end();
		await this.ended;
	}
}

const cases = [];
const test = (name, body) => cases.push([name, body]);
const told = (from, text) => until(`a turn about ${text}`, () => model.requests.slice(from).find((r) => texts(r, "user").at(-1)?.includes(text)));

let pi; // most cases share a session

test("a call with quotes, a newline and $(id) arrives as it was written", async () => {
	const text = `it's "quoted" $(id) \`id\` \\ {x}\nsecond line ü`;
	const { text: answer, isError } = await pi.call("echo", { text });
	assert.equal(isError, false);
	assert.equal(answer, text);
	assert.equal(texts(model.requests.at(-1), "tool").at(-1), text);
	assert.equal(runs("echo")[0].owner, "main");
});

test("the schema is the recipe's, with its default and its words", async () => {
	const tool = model.requests.at(-1).tools.find((t) => t.function.name === "echo").function;
	assert.equal(tool.description, "Says it");
	assert.deepEqual(tool.parameters.properties.how, { type: "string", enum: ["loud", "soft"], default: "soft" });
	assert.deepEqual(tool.parameters.required, ["text"]);
});

test("a failing recipe is a tool error with what the program printed", async () => {
	const { text, isError } = await pi.call("bad");
	assert.equal(isError, true);
	for (const part of ["code 3", "2 tests failed", "no such symbol", `roux logs ${runs("bad")[0].run}`]) assert.ok(text.includes(part), `${part}: ${text}`);
});

test("a wrong argument is refused before roux starts", async () => {
	const before = runs().length;
	for (const args of [{ text: "x", how: "shrill" }, {}, { text: "x", nobody: 1 }]) {
		const { text, isError } = await pi.call("echo", args);
		assert.equal(isError, true, text);
		assert.match(text, /Validation failed/);
	}
	assert.equal(runs().length, before);
});

test("progress is shown while a recipe works", async () => {
	const { text, events } = await pi.call("steps");
	assert.equal(text, "two\n");
	const updates = events.filter((e) => e.type === "tool_execution_update").map((e) => e.partialResult.content[0].text);
	assert.ok(updates.some((u) => u.includes("first words")), JSON.stringify(updates));
});

test("long output is cut in its middle, and its end is there", async () => {
	for (const id of ["long", "longer"]) {
		const { text } = await pi.call(id);
		assert.ok(text.length < 40_000, `${text.length}`);
		assert.ok(text.startsWith("beginning"), text.slice(0, 40));
		assert.ok(text.endsWith("the conclusion\n"), text.slice(-40));
		assert.match(text, /left out/);
	}
});

test("an async recipe answers at once and comes back as a turn of its own", async () => {
	const before = model.requests.length;
	const { text, isError, details } = await pi.call("later", { text: "it's $(id)" });
	assert.equal(isError, false);
	assert.match(details.run, /^later-/);
	assert.equal(details.status, "running");
	assert.ok(text.includes(details.run) && text.includes(details.dir), text);
	writeFileSync(join(base, "go"), "");
	const request = await told(before, `Run ${details.run}`);
	const last = texts(request, "user").at(-1);
	assert.ok(last.includes("is done") && last.includes("late: it's $(id)"), last);
	assert.equal(model.requests.filter((r) => texts(r, "user").at(-1).includes(`Run ${details.run}`)).length, 1);
	assert.ok(!("run_id" in model.requests.at(-1).tools.find((t) => t.function.name === "later").function.parameters.properties));
});

test("two calls of one async recipe are two runs, and a failing one tells why", async () => {
	const before = model.requests.length;
	const { events } = await pi.prompt("twice", { laterbad: {}, later: { text: "b" } }, "thanks");
	const ids = events.filter((e) => e.type === "tool_execution_end").map((e) => e.result.details.run);
	assert.equal(new Set(ids).size, 2);
	// Behind the message that a command has failed, which on a busy machine is a turn of its own.
	const bad = await told(before, `Run ${ids.find((id) => id.startsWith("laterbad"))} of`);
	const text = texts(bad, "user").at(-1);
	assert.ok(text.includes("2 tests failed") && text.includes("is failed"), text);
	await until("the other one", () => model.requests.slice(before).some((r) => texts(r, "user").some((t) => t.includes("late: b"))));
});

test("messages of a run: followup is a turn, notify a notice, log nothing", async () => {
	const before = model.requests.length;
	const { details } = await pi.call("talks");
	const request = await told(before, "please decide");
	await until("the end", () => model.requests.slice(before).some((r) => texts(r, "user").some((t) => t.includes(`Run ${details.run} of`))));
	await until("the notice", () => pi.notices().some((n) => n.includes("half way")));
	assert.ok(texts(request, "user").at(-1).includes("which colour"), texts(request, "user").at(-1));
	const everything = JSON.stringify(model.requests.slice(before)) + JSON.stringify(pi.notices());
	assert.ok(!everything.includes("only for the log"));
	assert.ok(!JSON.stringify(model.requests.slice(before)).includes("half way"));
});

test("abort ends the whole process tree", async () => {
	rmSync(join(base, "pid"), { force: true });
	const events = pi.events.length;
	model.script = [{ tree: {} }, "stopped"];
	await pi.send("prompt", { message: "call tree" });
	const pid = await until("the grandchild", () => existsSync(join(base, "pid")) && readFileSync(join(base, "pid"), "utf8").trim());
	assert.ok(alive(pid));
	await pi.send("abort");
	const end = await pi.event("the end of the call", (e) => e.type === "tool_execution_end", events);
	assert.equal(end.isError, true);
	assert.ok(!alive(pid), `${pid} is left`);
	assert.equal(runs("tree")[0].status, "cancelled");
});

test("a new recipe becomes a tool without a restart, a changed one changes, a removed one goes, and comes back", async () => {
	const names = async () => toolNames((await pi.prompt("hello")).requests.at(-1));
	assert.ok(!(await names()).includes("fresh"));
	recipe("fresh", { description: "one", template: "echo fresh" });
	await until("the new tool", async () => (await names()).includes("fresh"));
	assert.equal((await pi.call("fresh")).text, "fresh\n");
	recipe("fresh", { description: "another", args: ["n:int"], template: "echo fresh {n}" });
	await until("the change", async () => (await pi.prompt("hello")).requests.at(-1).tools.find((t) => t.function.name === "fresh")?.function.description === "another");
	assert.equal((await pi.call("fresh", { n: 4 })).text, "fresh 4\n");
	rmSync(join(recipes, "fresh.json"));
	await until("its end", async () => !(await names()).includes("fresh"));
	recipe("fresh", { description: "again", template: "echo again" });
	await until("its return", async () => (await names()).includes("fresh"));
	assert.equal((await pi.call("fresh")).text, "again\n");
});

test("a recipe that is written while the model works is a tool in the same turn", async () => {
	const { requests, events } = await pi.prompt("write it and call it", { writes: {} }, { written: {} }, "done");
	assert.ok(!toolNames(requests[0]).includes("written"));
	assert.ok(toolNames(requests[1]).includes("written"));
	assert.equal(events.find((e) => e.type === "tool_execution_end" && e.toolName === "written").result.content[0].text, "written\n");
});

test("a recipe never replaces a tool of pi", async () => {
	const names = toolNames(model.requests.at(-1));
	assert.ok(names.includes("read") && names.includes("roux_read"), names.join());
	assert.equal((await pi.call("roux_read")).text, "the recipe\n");
});

test("recipes of a project are tools while they are trusted", async () => {
	const dir = join(work, ".roux", "recipes");
	mkdirSync(dir, { recursive: true });
	const file = join(dir, "ours.json");
	writeFileSync(file, JSON.stringify({ template: "echo ours" }));
	const names = async () => toolNames((await pi.prompt("hello")).requests.at(-1));
	assert.ok(!(await names()).includes("ours"));
	command("trust", "ours");
	assert.ok((await names()).includes("ours"));
	assert.equal((await pi.call("ours")).text, "ours\n");
	/* The change and the call at once: the watcher may not have seen it yet. */
	const events = pi.events.length;
	model.script = [{ changes: {} }, { ours: {} }, "done"];
	await pi.send("prompt", { message: "change it and call it" });
	await pi.event("the end", (e) => e.type === "agent_settled", events);
	const end = pi.events.slice(events).find((e) => e.type === "tool_execution_end" && e.toolName === "ours");
	assert.ok(!end || end.isError, JSON.stringify(end));
	assert.ok(!(await names()).includes("ours"));
	rmSync(join(work, ".roux"), { recursive: true });
});

test("/roux lists the runs of the session and shows one", async () => {
	const notices = pi.notices().length;
	await pi.send("prompt", { message: "/roux" });
	await pi.send("prompt", { message: `/roux status ${runs("bad")[0].run}` });
	await until("two notices", () => pi.notices().length >= notices + 2);
	const [list, one] = pi.notices().slice(notices);
	assert.ok(list.includes(runs("echo")[0].run), list);
	assert.match(one, /failed/);
});

test("/roux cancel ends a background run, and that is not news", async () => {
	const before = model.requests.length;
	rmSync(join(base, "pid"), { force: true });
	const { details } = await pi.call("latertree");
	const pid = await until("the grandchild", () => existsSync(join(base, "pid")) && readFileSync(join(base, "pid"), "utf8").trim());
	await pi.send("prompt", { message: "/roux cancel" });
	await until("the notice", () => pi.notices().some((n) => n.includes(details.run) && n.includes("cancelled")));
	assert.ok(!alive(pid));
	await pi.prompt("hello");
	assert.ok(!model.requests.slice(before).some((r) => texts(r, "user").some((t) => t.includes(`Run ${details.run}`))));
});

test("a gate is answered by the person alone: /roux approve asks them", async () => {
	const before = model.requests.length;
	const { text, isError, details } = await pi.call("gated");
	assert.equal(isError, false);
	assert.ok(text.includes("Deploy to production?") && text.includes("/roux approve"), text);
	assert.ok(!toolNames(model.requests.at(-1)).some((n) => /approve/.test(n)));
	const answer = async (confirmed) => {
		const events = pi.events.length;
		const done = pi.send("prompt", { message: `/roux approve ${details.run}` });
		const question = await pi.event("the question", (e) => e.type === "extension_ui_request" && e.method === "confirm", events);
		assert.ok(question.message.includes("Deploy to production?"));
		pi.write({ type: "extension_ui_response", id: question.id, confirmed });
		await done;
	};
	await answer(false);
	assert.equal(ask("status", details.run).status, "paused");
	await answer(true);
	const last = texts(await told(before, `Run ${details.run}`), "user").at(-1);
	assert.ok(last.includes("is done") && last.includes("deployed"), last);
});

test("a gate that is answered in a terminal comes back too", async () => {
	const before = model.requests.length;
	const { details } = await pi.call("gated");
	command("approve", details.run, "--resume");
	const last = texts(await told(before, `Run ${details.run}`), "user").at(-1);
	assert.ok(last.includes("deployed"), last);
});

test("what ended while pi was away is told at the next start, once", async () => {
	rmSync(join(base, "go"), { force: true });
	let other = new Pi("away");
	const { details } = await other.call("later", { text: "away" });
	await other.close();
	assert.equal(ask("status", details.run).status, "running");
	writeFileSync(join(base, "go"), "");
	command("wait", details.run);
	let before = model.requests.length;
	other = new Pi("away");
	const last = texts(await told(before, `Run ${details.run}`), "user").at(-1);
	assert.ok(last.includes("late: away"), last);
	await other.event("the end of the turn", (e) => e.type === "agent_settled");
	await other.close();
	other = new Pi("away");
	before = model.requests.length;
	await other.prompt("hello");
	await new Promise((go) => setTimeout(go, 1500)); // longer than what is gathered at a start
	await other.prompt("hello");
	const again = model.requests.slice(before).filter((r) => texts(r, "user").filter((t) => t.includes(`Run ${details.run}`)).length > 1);
	assert.equal(again.length, 0);
	assert.equal(model.requests.length, before + 2);
	await other.close();
});

test("a pi that is killed loses nothing: the run that continued is followed by the next", async () => {
	rmSync(join(base, "go"), { force: true });
	let other = new Pi("killed");
	const { details } = await other.call("later", { text: "killed" });
	other.child.kill("SIGKILL");
	await other.ended;
	const before = model.requests.length;
	other = new Pi("killed");
	await other.send("get_state");
	writeFileSync(join(base, "go"), "");
	const last = texts(await told(before, `Run ${details.run}`), "user").at(-1);
	assert.ok(last.includes("late: killed"), last);
	await other.close();
});

test("pi that is closed during a call ends what the call started", async () => {
	rmSync(join(base, "pid"), { force: true });
	const other = new Pi("closed");
	model.script = [{ tree: {} }];
	await other.send("prompt", { message: "call tree" });
	const pid = await until("the grandchild", () => existsSync(join(base, "pid")) && readFileSync(join(base, "pid"), "utf8").trim());
	await other.close();
	assert.ok(!alive(pid));
});

test("pi -p gets what ended before with its prompt", async () => {
	rmSync(join(base, "go"), { force: true });
	const run = (script, ...words) => new Promise((done, fail) => {
		model.script = script;
		const child = spawn("pi", ["-p", "--provider", "standin", "--model", "m", "--session-id", "printed", ...words], { cwd: work, env, stdio: ["ignore", "pipe", "pipe"] });
		let out = "", err = "";
		child.stdout.on("data", (d) => (out += d));
		child.stderr.on("data", (d) => (err += d));
		child.on("close", (code) => (code ? fail(new Error(err)) : done(out)));
	});
	assert.equal(await run([{ later: { text: "print" } }, "started"], "call it"), "started\n");
	const id = runs("later")[0].run;
	writeFileSync(join(base, "go"), "");
	command("wait", id);
	assert.equal(await run(["heard"], "and now?"), "heard\n");
	assert.ok(texts(model.requests.at(-1), "user").some((t) => t.includes(`Run ${id}`) && t.includes("late: print")), JSON.stringify(model.requests.at(-1).messages));
});

test("without roux there is a notice, and pi works", async () => {
	const path = env.PATH;
	env.PATH = process.env.PATH;
	const other = new Pi("without");
	env.PATH = path;
	await other.prompt("hello");
	assert.ok(other.notices().some((n) => n.includes("there is no roux on PATH")), other.notices().join());
	await other.close();
});

test("as a package it is the same", async () => {
	rmSync(join(agent, "extensions", "roux.ts"));
	execFileSync("pi", ["install", extension], { cwd: work, env, stdio: "pipe" });
	const other = new Pi("package");
	assert.equal((await other.call("echo", { text: "packed" })).text, "packed");
	await other.close();
});

const script = (name, text) => {
	writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
	chmodSync(join(bin, name), 0o755);
	return join(bin, name);
};
const wait = `until [ -e ${base}/go ]; do sleep 0.05; done`;
const fails = script("fails", "echo '2 tests failed'; echo 'no such symbol' >&2; exit 3");
const tree = script("tree", `setsid sh -c 'echo $$ >${base}/pid.new; mv ${base}/pid.new ${base}/pid; exec sleep 600' & wait`);
recipe("echo", { description: "Says it", args: ["text", "how:enum(loud,soft)=soft"], template: "printf %s {text}" });
recipe("bad", { template: fails });
recipe("steps", { template: [script("first", "echo first words >&2; sleep 0.5"), "echo two"] });
recipe("long", { template: script("long", "echo beginning; head -c 200000 /dev/zero | tr '\\0' x; echo; echo the conclusion") });
recipe("longer", { template: script("longer", "echo beginning; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the conclusion") });
recipe("later", { async: true, args: ["text"], template: `${script("late", `${wait}; printf 'late: %s' "$1"`)} {text}` });
recipe("laterbad", { async: true, template: fails });
recipe("tree", { template: tree });
recipe("latertree", { async: true, template: tree });
recipe("read", { template: "echo the recipe" });
recipe("writes", { template: script("writes", `echo '{"template":"echo written"}' >${recipes}/written.json; sleep 1`) });
recipe("changes", { template: script("changes", `echo '{"template":"echo theirs"}' >${work}/.roux/recipes/ours.json`) });
recipe("talks", {
	async: true,
	mailbox: { emits: ["ask", "half", "note"] },
	template: script("talks", `roux message --from-run ask 'which colour' --envelope '{"summary":"please decide","delivery":"followup"}'
roux message --from-run half x --envelope '{"summary":"half way","delivery":"notify"}'
roux message --from-run note x --envelope '{"summary":"only for the log","delivery":"log"}'`),
});
recipe("gated", `name: gated
description: Deploys after a yes
version: 1.0.0
stages:
  - name: plan
    steps:
      - {id: a, type: bash, command: echo planned}
    approval: {required: true, prompt: "Deploy to production?"}
  - name: go
    steps:
      - {id: b, type: bash, command: echo deployed, output: final_output}
`);
copyFileSync(join(extension, "roux.ts"), join(agent, "extensions", "roux.ts"));

const only = process.env.ONLY;
pi = new Pi("main");
await pi.prompt("hello");
console.log(`1..${cases.length}`);
let bad = 0;
for (const [i, [name, body]] of cases.entries()) {
	try {
		if (only && !name.includes(only)) continue;
		await body();
		console.log(`ok ${i + 1} ${name}`);
	} catch (e) {
		bad++;
		console.log(`not ok ${i + 1} ${name}`);
		console.log(String(e.stack ?? e).replace(/^/gm, "# "));
	}
}
await pi.close();
model.close();
if (bad) console.log(`# the sessions are in ${base}`);
else rmSync(base, { recursive: true, force: true });
process.exit(bad ? 1 : 0);
