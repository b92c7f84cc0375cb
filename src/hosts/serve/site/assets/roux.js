"use strict";
// Adds life to pages that are complete without it: changes texts and attributes in place, follows
// logs, shows times in the viewer's zone. HTML comes from the server; only `put` takes some in.
(() => {
const $ = (s, e = document) => e.querySelector(s), $$ = (s, e = document) => [...e.querySelectorAll(s)];
const body = document.body, path = location.pathname, pad = n => String(n).padStart(2, "0");
const policy = window.trustedTypes ? trustedTypes.createPolicy("roux", { createHTML: s => s }) : { createHTML: s => s };
const el = (name, cls, text) => { const e = document.createElement(name); if (cls) e.className = cls; if (text != null) e.textContent = text; return e; };
const signs = { waiting: "○", running: "◐", done: "✓", partial: "✓✗", tolerated: "✓!", failed: "✗", skipped: "–", retrying: "↻", paused: "‖", denied: "⊘", cancelled: "◻", killed: "◼", timeout: "⧖", exited: "?", unreached: "·", starting: "◐" };

// -- words ---------------------------------------------------------------------------------------
function took(ms) {
	if (ms < 1000) return ms + " ms";
	let s = Math.floor(ms / 1000);
	if (s < 60) return s + "." + Math.floor(ms % 1000 / 100) + " s";
	if (s < 3600) return Math.floor(s / 60) + " min " + pad(s % 60) + " s";
	return Math.floor(s / 3600) + " h " + pad(Math.floor(s / 60) % 60) + " min";
}
function ago(ms) {
	const s = Math.max(0, (Date.now() - ms) / 1000);
	return s < 60 ? "just now" : s < 3600 ? Math.floor(s / 60) + " min ago" : s < 86400 ? Math.floor(s / 3600) + " h ago" : Math.floor(s / 86400) + " d ago";
}
function times(root) {
	for (const t of $$("time", root)) {
		const d = new Date(t.dateTime);
		if (isNaN(d)) continue;
		t.textContent = d.getFullYear() + "-" + pad(d.getMonth() + 1) + "-" + pad(d.getDate()) + " " + pad(d.getHours()) + ":" + pad(d.getMinutes()) + ":" + pad(d.getSeconds());
		t.title = ago(+d) + " · " + t.dateTime;
	}
	for (const th of $$("th", root)) if (th.textContent === "Started (UTC)") th.textContent = "Started";
}
times(document);

let said = 0, pending = "", sayTimer = 0;
function say(text) { // at most every 5 s
	pending = text;
	if (sayTimer) return;
	sayTimer = setTimeout(() => { sayTimer = 0; said = Date.now(); $("#say").textContent = pending; }, Math.max(0, said + 5000 - Date.now()));
}

// -- fragments -----------------------------------------------------------------------------------
// Makes `a` what `b` is, and touches only what differs: to put all of it anew takes a long task.
function morph(a, b) {
	if (a.isEqualNode(b)) return;
	if (a.nodeType !== 1 || a.nodeName !== b.nodeName || a.dataset.p !== b.dataset.p || a.childNodes.length !== b.childNodes.length) return a.replaceWith(b);
	for (const n of a.getAttributeNames()) if (!b.hasAttribute(n)) a.removeAttribute(n);
	for (const n of b.getAttributeNames()) if (a.getAttribute(n) !== b.getAttribute(n)) a.setAttribute(n, b.getAttribute(n));
	const parts = [...b.childNodes];
	[...a.childNodes].forEach((c, i) => morph(c, parts[i]));
}
function put(into, html) {
	const t = document.createElement("template");
	t.innerHTML = policy.createHTML(html);
	const fresh = t.content.querySelector("#" + into.id);
	if (!fresh) return;
	const focus = into.contains(document.activeElement) && document.activeElement.getAttribute("href"), y = scrollY;
	const boxes = $$(".scroll,.rows", into).map(e => [e.scrollLeft, e.scrollTop]);
	times(fresh);
	morph(into, fresh);
	into = $("#" + into.id);
	$$(".scroll,.rows", into).forEach((e, i) => { if (boxes[i]) [e.scrollLeft, e.scrollTop] = boxes[i]; });
	if (focus && !into.contains(document.activeElement)) $$("a", into).find(a => a.getAttribute("href") === focus)?.focus({ preventScroll: true });
	scrollTo(scrollX, y);
	index = null;
}
let partTimer = 0, partLast = 0, stale = false, meanwhile = null;
const selecting = e => { const s = getSelection(); return !s.isCollapsed && e.contains(s.anchorNode); };
function refetch() {
	if (partTimer || !$("#nodes")) return;
	partTimer = setTimeout(async () => {
		const u = new URL(location); u.searchParams.set("part", "tree");
		meanwhile = new Map(); // what the stream says now may be newer than the fragment
		stale = true;
		try {
			const r = await fetch(u, { cache: "no-store" }), t = await r.text(), n = $("#nodes");
			if (r.ok && n && !selecting(n)) { stale = false; put(n, t); onNodes([...meanwhile.values()]); }
		} catch (e) { /* the stream says that the server is gone, and comes back to this */ }
		meanwhile = null; partTimer = 0; partLast = Date.now();
		if (stale && selecting($("#nodes"))) refetch();
	}, Math.max(0, partLast + 2000 - Date.now()));
}

// -- nodes ---------------------------------------------------------------------------------------
let index = null, queue = new Map(), frame = 0;
function items() {
	if (!index) { index = new Map(); for (const e of $$("[data-p]")) index.set(e.dataset.p, e); }
	return index;
}
function setText(e, t) { if (e && e.textContent !== t) e.textContent = t; }
function child(e, cls) { for (const c of e.children) if (c.className === cls) return c; return null; }
function drawNodes() {
	frame = 0;
	const all = items(), redraw = $("#nodes")?.dataset.view === "timeline";
	let unknown = false;
	for (const [p, n] of queue) {
		const e = all.get(p);
		if (!e) { unknown = true; continue; }
		const [, state, ms, code, tries, counts] = n;
		if (e.dataset.s !== state) e.dataset.s = state;
		if (e.tagName === "TR") { setText($(".w", e), state); setText($(".t", e), ms == null ? "" : took(ms)); continue; }
		setText(child(e, "w"), state);
		setText(child(e, "t"), ms == null ? "" : redraw ? ms.toLocaleString("en") + " ms" : took(ms));
		setText(child(e, "a"), (tries > 1 ? "×" + tries : "") + (code && counts == null ? (tries > 1 ? " " : "") + "exit " + code : ""));
		if (counts != null) setText(child(e, "c"), counts);
	}
	queue.clear();
	if (unknown || redraw || stale) refetch();
}
function onNodes(list) {
	for (const n of list) { queue.set(n[0], n); meanwhile?.set(n[0], n); }
	if (!frame) frame = requestAnimationFrame(drawNodes);
}

// -- one run -------------------------------------------------------------------------------------
let live = false, base = 0, baseAt = 0, failures = 0, ended = false, wants = false, lastStatus = "";
function onRun(r) {
	const state = $("#state .st");
	live = r.live; base = r.ms; baseAt = Date.now();
	let s = r.status === "starting" ? "running" : r.status;
	const top = items().get("."), word = top && (child(top, "w") || $(".w", top));
	if (top && $(".c", top)) { top.dataset.s = s; setText(word, s); } // its end is that of the run, which no event may tell
	if (s === "done" && r.failed) s = "partial";
	if (state) { state.dataset.s = s; setText(state, r.status + (r.failed && r.status !== "failed" ? ", " + r.failed + " failed" : !r.failed && r.tolerated ? ", " + r.tolerated + " tolerated" : "")); }
	setText($("#took"), took(r.ms));
	if (r.counts != null) setText($("#counts"), r.counts);
	const bar = $("#bar"), part = (n, name, of) => bar.children[n].setAttribute(name, Math.round(1000 * of / r.commands));
	if (bar && r.commands) { part(0, "width", r.bad); part(1, "x", r.bad); part(1, "width", r.over - r.bad); }
	if (state) document.title = (signs[s] || "") + " " + r.run + " · roux";
	if (r.commands) say(r.over + " of " + r.commands + " done" + (r.failed ? ", " + r.failed + " failed" : ""));
	if (lastStatus && lastStatus !== r.status) {
		if ($("#nodes")?.dataset.view === "timeline") refetch();
		if (wants && !r.live && window.Notification?.permission === "granted") new Notification(r.run + ": " + r.status);
		const news = $("#failure-news");
		if (news && !news.textContent) { // the buttons and boxes above may be others now
			news.hidden = false; news.textContent = "The run is " + r.status + ". ";
			const a = el("a", "", "Show it all"); a.href = ""; news.append(a);
		}
	}
	lastStatus = r.status;
	const n = $("#notify");
	if (n && r.live && window.Notification && !wants) n.hidden = false;
}
setInterval(() => { if (live && document.visibilityState === "visible") setText($("#took"), took(base + Date.now() - baseAt)); }, 1000);
$("#notify")?.addEventListener("click", async e => {
	wants = await Notification.requestPermission() === "granted";
	e.target.textContent = wants ? "You will be told" : "Not allowed by the browser"; e.target.disabled = true;
});
function onFailure() {
	const n = $("#failure-news");
	failures++;
	if (!n) return;
	n.hidden = false; n.textContent = failures + (failures === 1 ? " new failure. " : " new failures. ");
	const a = el("a", "", "Show"); a.href = ""; n.append(a);
}
function onGate(g) {
	const n = $("#failure-news");
	if (!n) return;
	n.hidden = false; n.textContent = g.asked ? "It waits for an answer. " : "The question was answered. ";
	const a = el("a", "", g.asked ? "See the question" : "Reload"); a.href = g.asked ? path + "/gate" : ""; n.append(a);
}
function news(text) {
	let n = $("#news");
	if (!n) { n = el("p", "banner"); n.id = "news"; n.append(el("a")); $("h1").after(n); }
	n.hidden = false; $("a", n).href = ""; $("a", n).textContent = text + ", show";
}
const many = (n, what) => n + what + (n === 1 ? "" : "s");
const recipes = location.pathname === "/recipes";
let messages = 0;
function onMessage(m) {
	say("The run says: " + (m.summary || m.type));
	if (location.pathname.endsWith("/messages")) news(many(++messages, " new message"));
}

// -- the list ------------------------------------------------------------------------------------
const fresh = new Set();
let seen = false;
function onRuns(d) {
	for (const r of d.runs) {
		let s = r.status === "starting" ? "running" : r.status;
		if (s === "done" && r.failed) s = "partial";
		const rows = $$("[data-run]").filter(e => e.dataset.run === r.run);
		if (!rows.length && seen) fresh.add(r.run);
		for (const e of rows) {
			e.dataset.s = s;
			if (e.tagName !== "TR") { const st = $(".st", e); if (st) { st.dataset.s = s; st.textContent = s; } continue; }
			setText($(".w", e), r.status);
			setText($(".t", e), took(r.ms));
			setText($(".f", e), r.failed ? r.failed + " failed" : r.tolerated ? r.tolerated + " tolerated" : "");
		}
	}
	seen = true;
	for (const [k, v] of Object.entries(d.counts || {})) setText($(`[data-count=${k}] b`), v.toLocaleString("en"));
	if (!fresh.size || recipes) return;
	news(many(fresh.size, " new run"));
}

// -- logs ----------------------------------------------------------------------------------------
const log = $("#log"), LINES = 20000, BYTES = 4 << 20, BLOCK = 500;
// first to last: the bytes that the page shows; tip: how far the stream has come.
let follow = false, missed = 0, lines = 0, first = 0, last = 0, tip = 0, number = 0, stuck = 0, whole = false;
const atEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < 30;
const stick = () => { log.scrollTop = log.scrollHeight; stuck = log.scrollTop; };
function fill(pre, list) { // few text nodes: one for all that has no style
	let plain = "";
	const all = [];
	for (const [, parts] of list) {
		for (const [text, style] of parts) if (style) { all.push(plain, el("span", style, text)); plain = ""; } else plain += text;
		plain += "\n";
	}
	pre.append(...all, plain);
}
function blockOf(list) {
	const b = el("div", "blk"), pre = el("pre", "txt");
	b.dataset.at = list[0][0];
	fill(pre, list);
	b.append(pre); b.lines = list.length; lines += list.length;
	return b;
}
function countBlocks() { for (const b of $$(".blk", log)) { b.lines = (b.querySelector(".txt").textContent.match(/\n/g) || []).length; lines += b.lines; } }
function trim(end) { // the far end goes
	const all = $$(".blk", log);
	while ((lines > LINES || last - first > BYTES) && all.length > 1) {
		const b = end ? all.shift() : all.pop(), h = b.offsetHeight;
		lines -= b.lines; b.remove();
		while (end && log.firstElementChild !== all[0]) log.firstElementChild.remove(); // a gap
		if (end) { first = +all[0].dataset.at; if (!follow) log.scrollTop -= h; } else { last = +b.dataset.at; number = 0; }
	}
	edge("earlier", "↑ Load earlier", first > 0);
}
function edge(id, text, shown) { // a link to what is not in the page
	let a = $("#" + id);
	if (!a && shown) { const p = el("p", "pages"); a = el("a", "", text); a.id = id; a.href = ""; p.append(a); log.before(p); }
	if (a) a.hidden = !shown;
}
function append(list) {
	if ($("p.quiet", log)) $("p.quiet", log).remove();
	let b = log.lastElementChild;
	while (list.length) {
		if (b?.className === "blk" && b.lines < BLOCK) {
			const pre = $(".txt", b), part = list.splice(0, BLOCK - b.lines);
			fill(pre, part);
			b.lines += part.length; lines += part.length; gutter(b, part.length);
		} else { const n = Math.min(BLOCK, list.length); log.append(b = blockOf(list.splice(0, BLOCK))); gutter(b, n); }
	}
	trim(true);
}
function gutter(b, n, from = number) { // numbers go on where they are known
	if (!from || log.classList.contains("wrap")) return;
	let g = $(".gut", b), t = "";
	if (!g) { g = el("pre", "gut"); g.setAttribute("aria-hidden", "true"); b.append(g); }
	for (let i = 0; i < n; i++) t += from + i + "\n";
	if (from === number) number += n;
	g.append(t);
}
function button() {
	const f = $("#follow");
	if (!f) return;
	f.hidden = !log.dataset.live; f.textContent = follow ? "Following" : missed ? "Follow: " + missed + " new lines" : "Follow";
	f.setAttribute("aria-pressed", follow);
}
const behind = () => tip > last; // the page is full where the reader looks
async function toEnd() {
	follow = true; missed = 0; button();
	if (behind()) {
		const d = await slice({ back: 1 });
		if (!d) return;
		for (const e of [...log.children]) e.remove();
		lines = 0; number = d.first_line || 0; first = d.from; last = tip = d.to; append(d.lines);
	}
	stick();
}
function onLog(d) {
	if (!log) return;
	log.dataset.live = 1;
	// The event of a scroll comes with the next frame; what the reader did counts before that.
	if (follow && log.scrollTop < stuck - 1 && !atEnd()) follow = false;
	const list = d.lines?.filter(l => l[0] >= tip), full = !follow && (behind() || lines + (list?.length || 0) > LINES);
	tip = Math.max(tip, d.to || d.skip[1]);
	if (!follow) missed += list?.length || 0;
	if (!full) {
		last = tip;
		if (d.skip) {
			number = 0;
			const g = el("p", "gap", (d.skip[1] - d.skip[0]).toLocaleString("en") + " bytes came too quickly. "), a = el("a", "", "Show them");
			const u = new URL(location); u.searchParams.set("at", d.skip[0]); u.searchParams.delete("tail"); a.href = u; g.append(a); log.append(g);
		} else append(list);
		log.dataset.to = last;
	}
	if (follow) stick();
	button();
}
async function slice(what) {
	const u = new URL("/api/v1" + path.replace(/\/log$/, "/lines"), location), q = new URL(location).searchParams;
	for (const k of ["path", "attempt"]) if (q.get(k)) u.searchParams.set(k, q.get(k));
	u.searchParams.set("stream", log.dataset.stream);
	for (const k in what) u.searchParams.set(k, what[k]);
	const r = await fetch(u); if (!r.ok) return location.reload();
	return r.json();
}
async function more(back) {
	const d = await slice(back ? { at: first, back: 1 } : { at: last });
	if (!d) return;
	if (back && d.lines.length) {
		const h = log.scrollHeight, list = d.lines; first = d.from;
		if (!d.first_line) { number = 0; for (const b of $$(".gut", log)) b.remove(); }
		for (let end = list.length; end > 0; end -= BLOCK) {
			const begin = Math.max(0, end - BLOCK), b = blockOf(list.slice(begin, end));
			log.prepend(b);
			if (d.first_line) gutter(b, end - begin, d.first_line + begin);
		}
		trim(false); log.scrollTop += log.scrollHeight - h;
	} else if (d.lines.length) { last = d.to; tip = Math.max(tip, last); append(d.lines); }
	edge("earlier", "", first > 0);
	if ($("#later")) $("#later").hidden = last >= d.size;
	if (!back && last >= d.size && !whole) { whole = true; close(); open(); }
	setText($("#logpos"), "bytes " + first.toLocaleString("en") + " to " + last.toLocaleString("en") + " of " + d.size.toLocaleString("en"));
}
if (log) {
	first = +log.dataset.from; last = tip = +log.dataset.to; countBlocks();
	const nums = $$(".gut", log).pop()?.textContent.trim().split("\n");
	if (nums) number = +nums.pop() + 1; else if (!last && !log.classList.contains("wrap")) number = 1;
	const q = new URL(location).searchParams;
	whole = last >= +log.dataset.size; // otherwise there is nothing to follow from here
	follow = !q.has("at") && !q.has("find") && whole;
	if (follow || q.has("tail")) stick();
	log.addEventListener("scroll", () => { const e = atEnd(); if (e !== follow) { follow = e && !q.has("at") && !behind(); if (follow) missed = 0; button(); } }, { passive: true });
	$("#follow").addEventListener("click", toEnd);
	document.addEventListener("click", e => {
		const a = e.target.closest("#earlier,#later");
		if (a && !e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); more(a.id === "earlier"); }
	});
	log.addEventListener("keydown", e => { if (e.key === "End") toEnd(); });
	log.addEventListener("copy", e => { // exactly the bytes: browsers put a line of their own between blocks
		const r = getSelection().getRangeAt(0), f = r.cloneContents();
		if (!log.contains(r.commonAncestorContainer)) return;
		for (const g of f.querySelectorAll(".gut,.gap,.cutmark")) g.remove();
		e.clipboardData.setData("text/plain", f.textContent);
		e.preventDefault();
	});
}

// -- the stream ----------------------------------------------------------------------------------
let es = null, lastId = body.dataset.id || "", since = 0, tries = 0, timer = 0, moved = false, etag = "";
const topics = (body.dataset.topics || "").split(" ").filter(Boolean);
function state(text, off) { const l = $("#live"); if (!l) return; l.textContent = text; l.classList.toggle("off", !!off); }
function lost() {
	es?.close(); es = null;
	if (!since) since = Date.now();
	const d = new Date(since);
	state("not live since " + pad(d.getHours()) + ":" + pad(d.getMinutes()) + ":" + pad(d.getSeconds()) + ", trying again", true);
	clearTimeout(timer);
	timer = setTimeout(open, 500 + Math.random() * 1500 + Math.min(tries++, 10) * 500);
}
async function poll() { // another tab has the stream: look every 5 s until this one is focused
	if (!moved || document.visibilityState !== "visible") return;
	try {
		const r = await fetch(location, { headers: etag ? { "If-None-Match": etag } : {} });
		if (r.ok) {
			etag = r.headers.get("ETag") || "";
			if ($("#nodes")) refetch();
			else if (!log && !$("form.act")) { fresh.clear(); put($("#main"), await r.text()); }
		}
	} catch (e) { /* tried again */ }
	setTimeout(poll, 5000);
}
function open() {
	clearTimeout(timer);
	if (!topics.length || es || document.visibilityState !== "visible") return;
	moved = false;
	const q = topics.filter(t => whole || !t.startsWith("log:")).map(t => "topic=" + (log ? t.replace(/END$/, tip) : t));
	if (lastId) q.push("last=" + encodeURIComponent(lastId));
	es = new EventSource("/api/v1/events?" + q.join("&"));
	const on = (name, fn) => es.addEventListener(name, e => { if (e.lastEventId) lastId = e.lastEventId; fn(JSON.parse(e.data)); });
	on("hello", d => {
		since = tries = 0; state("live");
		if (stale) refetch();
		if (body.dataset.server !== d.server && !sessionStorage.roux) { sessionStorage.roux = 1; location.reload(); } else if (body.dataset.server === d.server) sessionStorage.removeItem("roux");
	});
	on("nodes", onNodes); on("run", onRun); on("runs", onRuns); on("log", onLog);
	on("failure", onFailure); on("gate", onGate); on("message", onMessage); on("recipes", () => { if (recipes) news("The recipes have changed"); }); on("resync", refetch);
	on("bye", d => {
		es.close(); es = null;
		if (d.reason === "moved") { moved = true; state("live in another tab"); setTimeout(poll, 5000); }
		else if (d.reason === "gone") state("this run is not in the list any more: it was deleted or archived", true);
		else lost();
	});
	es.onerror = lost;
}
function close() { es?.close(); es = null; clearTimeout(timer); }
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" ? open() : close());
addEventListener("pagehide", close);
addEventListener("pageshow", e => { if (e.persisted) open(); });
addEventListener("focus", () => { if (moved) open(); });
open();

// -- keys ----------------------------------------------------------------------------------------
const box = $("#keys");
if (box) { box.checked = localStorage.rouxKeys !== "off"; box.addEventListener("change", () => { localStorage.rouxKeys = box.checked ? "on" : "off"; }); }
let g = 0, mark = -1;
function jump(by) {
	const all = $$(".failure h3 a,.hit,.tree li[data-s=failed]>a");
	if (!all.length) return;
	mark = (mark + by + all.length) % all.length; all[mark].focus(); all[mark].scrollIntoView({ block: "center" });
}
document.addEventListener("keydown", e => {
	if (e.ctrlKey || e.altKey || e.metaKey || localStorage.rouxKeys === "off" || e.target.closest("input,textarea,select,[contenteditable]")) return;
	if (g && Date.now() - g < 1500 && (e.key === "r" || e.key === "o")) { location.href = e.key === "r" ? "/runs" : "/"; return; }
	g = e.key === "g" ? Date.now() : 0;
	if (e.key === "/") { e.preventDefault(); ($("#find") || $("#q")).focus(); }
	else if (e.key === "j" || e.key === "k") jump(e.key === "j" ? 1 : -1);
	else if (e.key === "f" && log) toEnd();
	else if (e.key === "w") $("#wrap")?.click();
	else if (e.key === "?") location.href = "/help";
});

// -- forms and the timeline ----------------------------------------------------------------------
for (const f of $$("form.act")) f.addEventListener("submit", () => setTimeout(() => { for (const b of $$("button", f)) b.disabled = true; }));
addEventListener("pageshow", () => { for (const b of $$("form.act button")) b.disabled = false; });
$("#wrong")?.focus();
let drag = null;
const place = (t, x) => { // from pixels to milliseconds
	const svg = $(".axis svg", t), r = svg.getBoundingClientRect(), at = Math.min(1, Math.max(0, (x - r.left) / r.width)) * 1000;
	for (const p of t.dataset.pieces.split(";")) { const [a, b, from, w] = p.split(",").map(Number); if (at <= from + w) return Math.round(a + (b - a) * (at - from) / w); }
	return 0;
};
document.addEventListener("pointerdown", e => { const t = e.target.closest(".rows svg,.axis svg")?.closest(".timeline"); drag = t && { t, x: e.clientX }; });
document.addEventListener("pointerup", e => {
	if (!drag || Math.abs(e.clientX - drag.x) < 8) return;
	const ends = [place(drag.t, drag.x), place(drag.t, e.clientX)].sort((a, b) => a - b), u = new URL(location);
	u.searchParams.set("from", ends[0]); u.searchParams.set("to", ends[1]); location.href = u;
});
})();
