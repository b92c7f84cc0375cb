/* roux in a pi session: every recipe is a tool, and a background run comes back as a turn of its own. This file only starts `roux`
 * (from PATH, or what ROUX_BIN names) and hands on what it answers. What the session was told is written in the session, as `seen` of
 * our messages and entries, so a restart neither loses nor repeats it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { type FSWatcher, watch } from "node:fs";

type Doc = Record<string, any>;
type Options = { input?: string; person?: boolean; signal?: AbortSignal; line?: (doc: Doc) => void; progress?: (text: string) => void };
type Ended = { code: number | null; out: string; err: string };

const HEAD = 8 * 1024, TAIL = 24 * 1024; // what a model sees of a long output: its beginning and its end
const GATHER_MS = 1000; // messages of a fan-out are one turn; so is what happened before the start
const STARTED = "Started in the background. Its end comes to this session by itself: do not wait for it.";

function cut(text: string, head: number, tail: number): string {
	if (text.length <= head + tail) return text;
	return `${text.slice(0, head)}\n[… ${text.length - head - tail} characters left out …]\n${tail ? text.slice(-tail) : ""}`;
}

/* What a run has printed. Beyond 1 MiB roux names a file in place of the text. */
function printed(d: Doc): string {
	const part = (program: string, bytes: number) => execFileSync(program, ["-c", `${bytes}`, d.stdout_path], { encoding: "utf8" });
	if (d.stdout_path) return `${part("head", HEAD)}\n[… left out: all of it is in ${d.stdout_path} …]\n${part("tail", TAIL)}`;
	return cut(d.stdout ?? Buffer.from(d.stdout_base64 ?? "", "base64").toString(), HEAD, TAIL);
}

/* Why it failed, what the failing commands printed, and how to see the rest. */
function account(d: Doc): string {
	const parts: string[] = [d.error ?? `the run is ${d.status}`];
	for (const e of d.errors ?? []) parts.push(...(e.message === d.error ? [] : [e.message]), ...(e.hint ? [`hint: ${e.hint}`] : []));
	for (const f of (d.failures ?? []).slice(0, 8)) {
		parts.push(`--- ${f.path} ${f.label ?? ""}: ${f.timeout ? "time limit" : f.signal ? `signal ${f.signal}` : `code ${f.code}`}`);
		for (const stream of ["stdout", "stderr"]) if (f[stream]) parts.push(`${stream}:\n${cut(f[stream], 0, 4096)}`);
	}
	if (d.stdout || d.stdout_path) parts.push(`output of the run:\n${printed(d)}`);
	if (d.run) parts.push(`Everything it printed: roux logs ${d.run}`);
	return parts.join("\n");
}

const parse = (text: string): Doc => { try { return JSON.parse(text); } catch { return {}; } };
const failed = (d: Doc) => d.ok === false || ["failed", "timeout", "denied", "exited"].includes(d.status);

/* What the model is to know of a run that is not running. */
function outcome(d: Doc): string {
	const asked = d.pending_approval?.prompt || d.pending_approval?.stage;
	if (d.status === "paused") return `Run ${d.run} waits for a person: ${asked}\nThey answer with /roux approve ${d.run}. You cannot.`;
	return failed(d) || d.status === "partial" ? account(d) : printed(d) || "(it printed nothing)";
}

export default function (pi: any) {
	let session: any; // its context; undefined before it starts and after it has ended
	let owner = "", began = 0; // its id, when it started
	let told: { text: string; key: string }[] = []; // for the next turn
	const tools = new Map<string, Doc>(), ours = new Set<string>(); // by the name that the model calls; every name there was
	const seen = new Set<string>(), following = new Set<string>(); // messages and ends that the session was told; runs
	const running = new Map<ChildProcess, Promise<Ended>>();
	const watchers = new Map<string, FSWatcher>(), timers = new Map<string, ReturnType<typeof setTimeout>>();

	/* One roux, for the session or for the person at the keyboard. Never rejects. */
	function roux(args: string[], o: Options = {}): Promise<Ended> {
		const env = { ...process.env, ROUX_OWNER: o.person ? undefined : owner };
		const child = spawn(process.env.ROUX_BIN || "roux", args, { cwd: session?.cwd, env, stdio: "pipe" });
		const stop = () => child.kill("SIGTERM"); // roux ends the whole tree, then itself
		const end = new Promise<Ended>((resolve) => {
			let out = "", err = "", shown = 0;
			child.stdout.setEncoding("utf8").on("data", (text: string) => {
				const lines = (out + text).split("\n");
				out = o.line ? lines.pop()! : out + text;
				if (o.line) for (const line of lines) o.line(parse(line));
			});
			child.stderr.setEncoding("utf8").on("data", (text: string) => {
				err = (err + text).slice(-TAIL);
				if (Date.now() - shown < 200) return;
				shown = Date.now();
				o.progress?.(err.trimEnd().split("\n").slice(-10).join("\n"));
			});
			child.stdin.on("error", () => {}).end(o.input ?? "");
			child.on("error", (e: any) => resolve({ code: null, out, err: e.code === "ENOENT" ? "there is no roux on PATH" : String(e) }));
			child.on("close", (code) => resolve({ code, out, err }));
		});
		running.set(child, end);
		o.signal?.addEventListener("abort", stop);
		if (o.signal?.aborted) stop();
		return end.finally(() => (running.delete(child), o.signal?.removeEventListener("abort", stop)));
	}

	/* The document that roux answers with, or one that has what it said instead. */
	async function ask(args: string[], o: Options = {}): Promise<Doc> {
		const r = await roux([...args, "--json"], o);
		return { ok: r.out ? undefined : false, error: r.out ? undefined : r.err.trim() || `roux ended with ${r.code}`, ...parse(r.out) };
	}

	function later(name: string, ms: number, what: () => unknown) {
		clearTimeout(timers.get(name));
		timers.set(name, setTimeout(() => session && what(), ms));
	}

	/* Always anew: a directory that was made again is another one. Where there is none, the next prompt looks again. */
	function look(path: string, ms: number, what: () => unknown) {
		unlook(path);
		try {
			watchers.set(path, watch(path, () => later(path, ms, what)).on("error", () => unlook(path)));
		} catch {}
	}
	const unlook = (path: string) => (watchers.get(path)?.close(), watchers.delete(path));

	/* Recipes are tools: the new and changed ones are registered, those that are gone are not active any more. */
	async function refresh() {
		const list = await ask(["tool", "list"]);
		if (!session || !list.tools) return session?.ui.notify(`roux: ${account(list)}`, "error");
		const others = pi.getAllTools().map((t: Doc) => t.name).filter((name: string) => !ours.has(name));
		const now = new Set<string>();
		for (const { usage, ...tool } of list.tools) {
			const plain = tool.id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 59); // what providers take
			const name = others.includes(plain) ? `roux_${plain}` : plain; // a recipe never replaces a tool of pi
			if (!now.has(name) && JSON.stringify(tools.get(name)) !== JSON.stringify(tool)) register(name, tool);
			now.add(name);
		}
		const gone = [...tools.keys()].filter((name) => !now.has(name) && tools.delete(name));
		if (gone.length) pi.setActiveTools(pi.getActiveTools().filter((name: string) => !gone.includes(name)));
		for (const dir of list.directories ?? []) look(dir, 200, refresh);
	}

	function register(name: string, tool: Doc) {
		const back = ours.has(name) && !tools.has(name); // it was removed: pi does not activate it again by itself
		const parameters = structuredClone(tool.schema);
		if (tool.async) delete parameters.properties.run_id; // every call has a run of its own
		tools.set(name, tool);
		ours.add(name);
		const execute = (_id: string, params: Doc, signal?: AbortSignal, onUpdate?: (r: Doc) => void) => call(name, params, signal, onUpdate);
		pi.registerTool({ name, label: tool.id, description: tool.description || `The recipe ${tool.id}`, parameters, execute });
		if (back) pi.setActiveTools([...new Set([...pi.getActiveTools(), name])]);
	}

	async function call(name: string, params: Doc, signal?: AbortSignal, onUpdate?: (r: Doc) => void) {
		if (tools.get(name)?.layer !== "user") await refresh(); // a recipe of the project is a tool while it is trusted
		const tool = tools.get(name);
		if (!tool) throw new Error(`there is no recipe ${name} any more, or it is not trusted: a person types roux trust`);
		const progress = (text: string) => onUpdate?.({ content: [{ type: "text", text }], details: {} });
		const d = await ask(["run", tool.id, "--values", "-", "--unique"], { input: JSON.stringify(params), signal, progress });
		if (signal?.aborted) throw new Error(`cancelled; nothing of ${d.run ?? tool.id} is left`);
		if (failed(d)) throw new Error(account(d));
		const details = { run: d.run, status: d.status, dir: d.dir, artifacts: d.artifacts };
		const text = d.status === "running" ? `${STARTED}\n${JSON.stringify(details)}` : outcome(d);
		if (d.status === "running") void follow(d.run);
		if (d.status === "paused") await gated(d.run);
		return { content: [{ type: "text", text }], details };
	}

	/* Text for which the model takes a turn. What comes within `ms` is one turn. */
	function tell(text: string, key: string, ms: number) {
		seen.add(key);
		told.push({ text, key });
		later("tell", Math.max(ms, began + GATHER_MS - Date.now()), flush);
	}

	function flush() {
		const content = told.map((t) => t.text).join("\n\n"), details = { seen: told.map((t) => t.key) };
		const turn = session.hasUI || !session.isIdle(); // pi -p ends when it is idle: then with its next prompt
		told = [];
		const message = { customType: "roux", content, display: true, details };
		if (content) pi.sendMessage(message, turn ? { triggerTurn: true, deliverAs: "followUp" } : { deliverAs: "nextTurn" });
	}

	function mail(m: Doc) {
		if (!session || m.box !== "outbox" || !m.id || seen.has(m.id)) return;
		const body = typeof m.body === "string" ? m.body : JSON.stringify({ ...m.body, run_files: undefined });
		if (m.delivery === "followup") tell(`Run ${m.run} (${m.type}): ${m.summary}\n${cut(body, 4096, 0)}`, m.id, GATHER_MS);
		if (m.delivery === "notify") noted(m.id), session.ui.notify(`${m.run}: ${m.summary}`, m.level);
	}

	const noted = (key: string) => (seen.add(key), pi.appendEntry("roux", { seen: [key] }));
	const keyOf = (d: Doc) => `${d.run}:${d.status}:${d.ended}`;

	/* A person may answer the gate of a run anywhere; then its files change. */
	async function gated(run: string) {
		const s = await ask(["status", run]);
		if (session && !seen.has(keyOf(s))) noted(keyOf(s));
		if (session && s.dir) look(s.dir, 500, () => (unlook(s.dir), void follow(run)));
	}

	/* Its messages, then how it ended. What was asked for, a cancel or a stop, is not news. */
	async function follow(run: string) {
		if (following.has(run)) return;
		following.add(run);
		await roux(["messages", run, "-f", "--json"], { line: mail });
		const d = session ? await ask(["wait", run]) : {};
		const s = session ? await ask(["status", run]) : {};
		following.delete(run);
		if (!session || !s.run) return;
		const asked = s.terminal_handled || ["cancelled", "killed"].includes(s.status);
		const files = Object.entries(d.artifacts ?? {}).map(([name, path]) => `artifact ${name}: ${path}`);
		const line = `Run ${run} of ${s.recipe ?? "a template"} is ${s.status} after ${(s.ms / 1000).toFixed(1)} s.`;
		if (!asked && !seen.has(keyOf(s))) tell([line, ...files, outcome(d)].join("\n"), keyOf(s), 50);
		if (s.status === "paused") await gated(run);
	}

	pi.on("session_start", async (_event: Doc, ctx: any) => {
		session = ctx;
		[owner, began, told] = [ctx.sessionManager.getSessionId(), Date.now(), []];
		const entries = ctx.sessionManager.getEntries().filter((e: Doc) => e.customType === "roux");
		for (const e of entries) for (const key of (e.details ?? e.data)?.seen ?? []) seen.add(key);
		await refresh();
		const { runs = [] } = await ask(["runs", "--owner", owner]);
		const known = (run: string) => [...seen].some((key) => key.startsWith(`${run}:`)); // it waited at a gate in a call
		const news = runs.filter((r: Doc) => (r.detached || known(r.run)) && (r.status === "paused" || !seen.has(keyOf(r))));
		const ended = news.map((r: Doc) => (r.status === "running" ? void follow(r.run) : follow(r.run)));
		if (!ctx.hasUI) await Promise.all(ended).then(() => session && flush()); // the prompt of pi -p follows at once
	});
	pi.on("before_agent_start", refresh);
	pi.on("session_shutdown", async () => {
		session = undefined;
		for (const path of [...watchers.keys()]) unlook(path);
		for (const timer of timers.values()) clearTimeout(timer);
		for (const child of running.keys()) child.kill("SIGTERM"); // calls that wait, and what follows runs; not the runs in the background
		await Promise.all(running.values());
	});

	const verbs: Doc = { runs: "", status: "", cancel: "running", approve: "paused" }; // with the status of runs that it is for

	async function approve(run: string, ctx: any): Promise<string> {
		const gate = (await ask(["status", run], { person: true })).pending_approval;
		if (!gate) return `${run} does not wait for an answer`;
		if (!ctx.hasUI) return `a person has to answer: roux approve ${run} --resume`;
		if (!(await ctx.ui.confirm(`Approve ${run}?`, gate.prompt || gate.stage))) return `${run} still waits`;
		let d = await ask(["approve", run, gate.stage], { person: true });
		if (d.ok) d = await ask(["resume", run, "--detach"], { person: true });
		if (d.ok) void follow(run);
		return d.ok ? `${run} continues` : account(d);
	}

	async function command(verb: string, word: string | undefined, ctx: any): Promise<string> {
		const said = async (args: string[]) => (({ out, err }) => out || err)(await roux(args, { person: true }));
		if (verbs[verb] === undefined) return `/roux ${Object.keys(verbs).join(" | ")}`;
		if (verb === "runs") return said(["runs", ...(word === "all" ? [] : ["--owner", owner])]);
		const { runs = [] } = await ask(["runs", "--owner", owner]);
		const ids = runs.filter((r: Doc) => !verbs[verb] || verbs[verb] === r.status).map((r: Doc) => r.run);
		const run = word ?? (ids.length > 1 && ctx.hasUI ? await ctx.ui.select(`${verb} which run?`, ids) : ids[0]);
		return !run ? `there is no run to ${verb}` : verb === "approve" ? approve(run, ctx) : said([verb, run]);
	}

	pi.registerCommand("roux", {
		description: "runs [all] | status [RUN] | cancel [RUN] | approve [RUN]",
		handler: async (args: string, ctx: any) => {
			const [verb = "runs", word] = args.match(/\S+/g) ?? [];
			const text = (await command(verb, word, ctx)).trimEnd();
			ctx.hasUI ? ctx.ui.notify(text, "info") : console.error(text);
		},
	});
}
