#!/usr/bin/env python3
"""usage: outside.py ROUX     the bridge against telegram-test-api, a Bot API that was not written here

The package comes from npm, as the lock file in npm/ pins it (tests/npm); where it cannot be had the suite is skipped, and
says so. It neither waits in getUpdates nor knows offsets, commands and chat actions: a thin proxy
waits and answers for it."""

import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import botapi
import harness

HERE = pathlib.Path(__file__).resolve().parent
SERVE = """
const TelegramServer = require('telegram-test-api');
const server = new TelegramServer({port: Number(process.argv[1]), host: '127.0.0.1'});
server.start().then(() => console.log('ready'));
"""
ANSWERED_HERE = {"deleteWebhook", "setMyCommands", "sendChatAction"}


def install():
    """The directory with the package, and None; or None and why it cannot be had."""
    done = subprocess.run([HERE.parent / "npm", HERE / "npm"], capture_output=True, text=True)
    said = done.stdout.strip()
    return (said, None) if done.returncode == 0 else (None, said)


def post(url, data):
    request = urllib.request.Request(url, json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


class Outside:
    """The package as a process, with the proxy in front of it."""

    def __init__(self, package):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.process = subprocess.Popen(["node", "-e", SERVE, str(port)], cwd=package, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.upstream = f"http://127.0.0.1:{port}"
        self.lock = threading.Lock()
        self.updates, self.stopping = [], False
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # the bridge may hang up
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.stopping = True
        self.http.shutdown()
        self.process.terminate()
        self.process.wait()

    def get_updates(self, params):
        until = time.monotonic() + params.get("timeout", 0)
        offset = params.get("offset") or 0
        while not self.stopping:
            with self.lock:
                self.updates += post(f"{self.upstream}/bot{botapi.TOKEN}/getUpdates", {})["result"]
                found = [u for u in self.updates if u["update_id"] >= offset]
            if found or time.monotonic() >= until:
                return found[:params.get("limit", 100)]
            time.sleep(0.05)
        return []

    def handler(outside):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_POST(self):
                params = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                method = self.path.rpartition("/")[2]
                if method == "getUpdates":
                    answer = {"ok": True, "result": outside.get_updates(params)}
                elif method in ANSWERED_HERE:
                    answer = {"ok": True, "result": True}
                else:
                    answer = post(outside.upstream + self.path, params)
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        return Handler

    # -- the person --

    def about(self):
        return {"botToken": botapi.TOKEN, "date": int(time.time()),
                "from": {"id": 7, "first_name": "P", "is_bot": False}, "chat": {"id": 7, "type": "private"}}

    def message(self, text):
        post(f"{self.upstream}/sendMessage", {**self.about(), "text": text})

    def press(self, data, message):
        post(f"{self.upstream}/sendCallback", {**self.about(), "data": data, "message": {
            "message_id": message, "from": botapi.BOT, "chat": {"id": 7, "type": "private"}}})

    def bot_messages(self):
        history = post(f"{self.upstream}/getUpdatesHistory", {"token": botapi.TOKEN})["result"]
        return [m for m in history if "chat_id" in m.get("message", {})]


def prompts_buttons_and_previews(home, outside):
    h = home(apiUrl=outside.url, lastUpdateId=0, preview={"mode": "edit", "interval": 200})
    (h.dir / "text").write_text("Pick.\n\n<!-- telegram_button label=Go prompt=\"Do it\" -->\n")
    log = open(h.dir / "bridge.log", "a")
    h.bridges.append(subprocess.Popen([h.roux, "telegram", "connect"], env=h.env, stdout=log, stderr=log, cwd=h.dir))
    log.close()

    def shown(part):
        return h.until(lambda: [m for m in outside.bot_messages() if part in m["message"]["text"]])

    outside.message("hello")
    shown("answer to: [telegram] hello")
    outside.message("STREAM 20")
    shown("the end")
    outside.message("SAY text")
    # A preview may come first: it has no buttons yet.
    found = h.until(lambda: [m for m in shown("Pick.") if m["message"].get("reply_markup")])[0]
    markup = found["message"]["reply_markup"]
    markup = json.loads(markup) if isinstance(markup, str) else markup
    outside.press(markup["inline_keyboard"][0][0]["callback_data"], found["messageId"])
    shown("answer to: [telegram] Do it")
    outside.message("/start")
    shown("state:")
    assert h.prompts() == [f"[telegram] {p}" for p in ("hello", "STREAM 20", "SAY text", "Do it")], h.prompts()


def main(roux):
    package, why = install()
    if not package:
        print(f"1..0 # SKIP {why}: telegram-test-api is not tried")
        return 0
    outside = Outside(package)

    def test(home):
        prompts_buttons_and_previews(home, outside)
    test.__name__ = "prompts_buttons_and_previews"
    try:
        return harness.main([test], roux)
    finally:
        outside.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
