"""A Bot API for tests, on loopback.

It records every request, waits in getUpdates as the service does, gives an update again until its offset is
confirmed, checks each request against the list of methods, and each HTML text strictly. Faults are scripted:
`fault(method, ...)` decides what the next requests get."""

import html.parser
import collections
import itertools
import json
import os
import pathlib
import re
import socket
import socketserver
import struct
import threading
import time
import urllib.parse

TOKEN = "4711:AAabcdefghijklmnopqrstuvwxyz-_012345"
BOT = {"id": 4711, "is_bot": True, "first_name": "Bot", "username": "roux_test_bot"}
METHODS = pathlib.Path(os.environ.get("ROUX_TELEGRAM_METHODS") or pathlib.Path(__file__).resolve().parent /
                       "../../../shared/corpus/telegram-bot-api-methods.json")
ALLOWED = {"b": [], "i": [], "s": [], "code": ["class"], "pre": [], "a": ["href"], "blockquote": []}
KINDS = {"Integer": int, "String": str, "Boolean": bool, "Float": float}


class Html(html.parser.HTMLParser):
    """Says what the service would refuse."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.open, self.wrong, self.visible = [], [], ""
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"unclosed {self.open}")
        for m in re.finditer(r"&(?!(amp|lt|gt|quot|#\d+);)", text):
            self.wrong.append(f"bare & at {m.start()}")

    def handle_starttag(self, tag, attrs):
        if tag not in ALLOWED or any(name not in ALLOWED[tag] for name, _ in attrs):
            self.wrong.append(f"tag {self.get_starttag_text()}")
        if any(t in ("code", "pre") for t in self.open) and not (tag == "code" and self.open[-1] == "pre"):
            self.wrong.append(f"{tag} inside {self.open}")
        self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"end of {tag}")

    def handle_data(self, data):
        if "<" in data:
            self.wrong.append("bare <")
        self.visible += data

    def handle_entityref(self, name):
        self.visible += {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}.get(name, "?")

    def handle_charref(self, name):
        self.visible += chr(int(name))

    def handle_comment(self, data):
        self.wrong.append("comment")


def units(text):
    return len(text.encode("utf-16-le")) // 2


class Update(dict):
    """An update with its bytes: the service has them before it is asked."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.text = json.dumps(self)


class Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


class Server:
    def __init__(self, token=TOKEN):
        self.token = token
        self.lock = threading.Condition()
        self.requests = []  # [{"method", "params", "files", "time", "answer"}]
        self.updates = collections.deque()  # not confirmed
        self.history = []  # all
        self.again = []  # given once more with the next answer, though confirmed
        self.offsets = []  # of getUpdates
        self.faults = []
        self.wrong = []  # what the requests had wrong
        self.messages = {}  # what the chat shows: id → {"text", "html", "keyboard", "deleted"}
        self.files = {}  # file_id → (path, bytes)
        self.stopping = False
        self.next_update = itertools.count(1000)
        self.next_message = itertools.count(1)
        self.next_query = itertools.count(1)
        self.methods = json.loads(METHODS.read_text())["methods"] if METHODS.exists() else None
        self.http = Listener(("127.0.0.1", 0), self.handler())
        self.http.handle_error = lambda *_: None  # a killed bridge hangs up
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        with self.lock:
            self.stopping = True
            self.lock.notify_all()
        self.http.shutdown()
        self.http.server_close()

    # -- what a person does --

    def add(self, update, **more):
        with self.lock:
            update = Update({"update_id": next(self.next_update), **update, **more})
            self.updates.append(update)
            self.history.append(update)
            self.lock.notify_all()
            return update["update_id"]

    def message(self, text=None, user=7, chat=None, **more):
        """Returns the id of the message."""
        with self.lock:
            number = next(self.next_message)
        message = {"message_id": number, "date": int(time.time()), "chat": {"id": chat or user, "type": "private"},
                   "from": {"id": user, "is_bot": False, "first_name": "P"}, **more}
        if text is not None:
            message["text"] = text
        self.add({"message": message})
        return number

    def edit(self, number, text, user=7):
        self.add({"edited_message": {"message_id": number, "date": 1, "edit_date": 2, "text": text,
                                     "chat": {"id": user, "type": "private"},
                                     "from": {"id": user, "is_bot": False, "first_name": "P"}}})

    def react(self, number, new=(), old=(), user=7):
        emoji = lambda list_: [{"type": "emoji", "emoji": e} for e in list_]
        self.add({"message_reaction": {"chat": {"id": user, "type": "private"}, "message_id": number, "date": 1,
                                       "user": {"id": user, "is_bot": False, "first_name": "P"},
                                       "old_reaction": emoji(old), "new_reaction": emoji(new)}})

    def press(self, data, message, user=7):
        """Presses a button below a message; returns the id of the query."""
        with self.lock:
            query = f"q{next(self.next_query)}"
        self.add({"callback_query": {"id": query, "chat_instance": "1", "data": data,
                                     "from": {"id": user, "is_bot": False, "first_name": "P"},
                                     "message": {"message_id": message, "date": 1, "from": BOT,
                                                 "chat": {"id": user, "type": "private"}}}})
        return query

    # -- what a test asks --

    def fault(self, method, status=None, body=None, times=1, headers=None, how=None, wait=0, when=None):
        """how: 'reset' (before reading the answer is sent, after the request was carried out), 'refuse' (reset before
        the request is carried out), 'half' (half of the answer)."""
        with self.lock:
            self.faults.append({"method": method, "status": status, "body": body, "times": times,
                                "headers": headers or {}, "how": how, "wait": wait, "when": when})

    def calls(self, method=None):
        with self.lock:
            return [r for r in self.requests if method in (None, r["method"])]

    def wait(self, what, seconds=float(os.environ.get("ROUX_TELEGRAM_WAIT", 300))):
        """Until `what()` is true; returns it."""
        until = time.monotonic() + seconds
        with self.lock:
            while True:
                value = what()
                if value:
                    return value
                left = until - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"waited {seconds} s in vain; the last requests: " + "\n".join(
                        f"{r['method']} {json.dumps(r['params'], ensure_ascii=False)[:300]}" for r in self.requests
                        if r["method"] not in ("getUpdates", "sendChatAction"))[-6000:])
                self.lock.wait(min(left, 0.2))

    def texts(self):
        """What the chat shows, in order, without markup."""
        with self.lock:
            return [m["visible"] for m in self.messages.values() if not m["deleted"]]

    def wait_text(self, part, count=1):
        """Until the chat shows a message with that text; returns the ids of such messages."""
        def found():
            ids = [n for n, m in self.messages.items() if part in m["visible"] and not m["deleted"]]
            return ids if len(ids) >= count else None
        return self.wait(found)

    def keyboard(self, number):
        """[(label, data)] of a message."""
        with self.lock:
            return [(b["text"], b["callback_data"]) for row in self.messages[number]["keyboard"] for b in row]

    # -- the service --

    def check(self, method, params, files):
        spec = (self.methods or {}).get(method)
        if self.methods is not None and spec is None:
            self.wrong.append(f"unknown method {method}")
        for name, value in params.items():
            if spec and name not in spec["params"]:
                self.wrong.append(f"{method}: unknown parameter {name}")
            elif spec and not isinstance(value, str) and not files:
                kinds = [KINDS[t] for t in spec["params"][name]["types"] if t in KINDS]
                simple = len(kinds) == len(spec["params"][name]["types"])
                if simple and not isinstance(value, tuple(kinds)):
                    self.wrong.append(f"{method}: {name} is {value!r}")
        for name, facts in (spec or {"params": {}})["params"].items():
            if facts["required"] and name not in params and name not in files:
                self.wrong.append(f"{method}: {name} is missing")
        text = params.get("text")
        if method in ("sendMessage", "editMessageText"):
            if not text or not text.strip():
                self.wrong.append(f"{method}: empty text")
            elif units(text) > 4096:
                self.wrong.append(f"{method}: {units(text)} units")
            if params.get("parse_mode") == "HTML":
                wrong = Html(text).wrong
                if wrong:
                    self.wrong.append(f"{method}: {wrong} in {text[:300]!r}")
        for row in (params.get("reply_markup") or {}).get("inline_keyboard", []):
            for button in row:
                size = len(button.get("callback_data", "").encode())
                if not 1 <= size <= 64 or not button.get("text"):
                    self.wrong.append(f"{method}: button {button}")

    def show(self, method, params):
        number = params.get("message_id") or next(self.next_message)
        text = params.get("text", "")
        old = self.messages.get(number, {})
        self.messages[number] = {
            "text": text, "html": params.get("parse_mode") == "HTML", "deleted": False, "method": method,
            "visible": Html(text).visible if params.get("parse_mode") == "HTML" else text,
            "keyboard": (params.get("reply_markup") or {}).get("inline_keyboard", []),
            "reply": (params.get("reply_parameters") or {}).get("message_id", old.get("reply"))}
        return {"message_id": number, "date": int(time.time()), "chat": {"id": params["chat_id"], "type": "private"},
                "text": text}

    def answer(self, method, params, files):
        if method == "getMe":
            return BOT
        if method == "getUpdates":
            return self.get_updates(params)
        if method in ("sendMessage", "sendPhoto", "sendDocument", "sendVoice"):
            return self.show(method, params)
        if method == "editMessageText":
            if params["message_id"] not in self.messages:
                return 400, "Bad Request: message to edit not found"
            return self.show(method, params)
        if method == "editMessageReplyMarkup":
            self.messages[params["message_id"]]["keyboard"] = params.get("reply_markup", {}).get("inline_keyboard", [])
            return True
        if method == "deleteMessage":
            if params["message_id"] in self.messages:
                self.messages[params["message_id"]]["deleted"] = True
            return True
        if method == "getFile":
            if params["file_id"] not in self.files:
                return 400, "Bad Request: wrong file_id"
            path, data = self.files[params["file_id"]]
            return {"file_id": params["file_id"], "file_unique_id": "u", "file_size": len(data), "file_path": path}
        return True

    def get_updates(self, params):
        offset = params.get("offset")
        self.offsets.append(offset)
        while offset is not None and self.updates and 0 <= offset and self.updates[0]["update_id"] < offset:
            self.updates.popleft()
        while offset == -1 and len(self.updates) > 1:
            self.updates.popleft()
        until = time.monotonic() + params.get("timeout", 0)
        while not self.updates and not self.again and not self.stopping and time.monotonic() < until:
            self.lock.wait(until - time.monotonic())
        again, self.again = self.again, []
        return again + list(itertools.islice(self.updates, params.get("limit", 100)))

    def take_fault(self, method, params):
        for fault in self.faults:
            if fault["method"] in (method, "*") and (not fault["when"] or fault["when"](params)):
                fault["times"] -= 1
                if not fault["times"]:
                    self.faults.remove(fault)
                return fault
        return None

    def respond(self, method, params, files):
        """(status, body, headers, how)"""
        fault = self.take_fault(method, params)
        if fault and fault["wait"]:
            self.lock.wait_for(lambda: self.stopping, fault["wait"])
        if fault and (fault["status"] or fault["how"] == "refuse"):
            body = fault["body"]
            if isinstance(body, dict):
                body = json.dumps(body)
            return fault["status"], body or "", fault["headers"], fault["how"]
        result = self.answer(method, params, files)
        if isinstance(result, tuple):
            body = {"ok": False, "error_code": result[0], "description": result[1]}
            return result[0], json.dumps(body), {}, None
        if method == "getUpdates":
            text = '{"ok": true, "result": [' + ", ".join(u.text if isinstance(u, Update) else json.dumps(u) for u in result) + "]}"
        else:
            text = json.dumps({"ok": True, "result": result})
        return 200, text, {}, fault and fault["how"]

    def handler(server):
        class Handler(socketserver.StreamRequestHandler):
            """As much of HTTP/1.1 as the client speaks; http.server takes longer for a request than the bridge."""
            disable_nagle_algorithm = True
            wbufsize = -1

            def handle(self):
                self.close_connection = False
                while not self.close_connection:
                    line = self.rfile.readline().decode("latin-1").split()
                    if len(line) != 3:
                        return
                    self.path, self.headers = line[1], {}
                    while (header := self.rfile.readline().decode("latin-1").strip()):
                        name, _, value = header.partition(":")
                        self.headers[name.lower()] = value.strip()
                    getattr(self, "do_" + line[0])()

            def reset(self):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True

            def send(self, status, body, headers=None, how=None):
                data = body.encode() if isinstance(body, str) else body
                head = [f"HTTP/1.1 {status} -", f"Content-Length: {len(data)}"]
                head += [f"{name}: {value}" for name, value in (headers or {}).items()]
                self.wfile.write("\r\n".join(head + ["", ""]).encode())
                self.wfile.write(data[:len(data) // 2] if how == "half" else data)
                self.wfile.flush()
                if how == "half":
                    self.reset()

            def do_GET(self):
                path = urllib.parse.unquote(self.path)
                prefix = f"/file/bot{server.token}/"
                with server.lock:
                    found = [d for p, d in server.files.values() if path == prefix + p]
                if found:
                    self.send(200, found[0])
                else:
                    self.send(404, "{}")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                head, _, method = self.path.rpartition("/")
                files, params = {}, {}
                kind = self.headers.get("content-type", "")
                if "multipart" in kind:
                    params, files = multipart(kind, body)
                elif body:
                    params = json.loads(body)
                with server.lock:
                    if head != f"/bot{server.token}":
                        self.send(401, json.dumps({"ok": False, "error_code": 401, "description": "Unauthorized"}))
                        return
                    request = {"method": method, "params": params, "files": files, "time": time.monotonic()}
                    server.requests.append(request)
                    server.check(method, params, files)
                    server.lock.notify_all()
                    status, text, headers, how = server.respond(method, params, files)
                    request["status"] = status
                    server.lock.notify_all()
                try:
                    if how in ("reset", "refuse"):
                        self.reset()
                    else:
                        self.send(status, text, headers, how)
                except OSError:
                    self.close_connection = True

        return Handler


def multipart(kind, body):
    boundary = b"--" + re.search(r"boundary=(\S+)", kind)[1].encode()
    params, files = {}, {}
    for part in body.split(boundary)[1:-1]:
        head, _, data = part[2:-2].partition(b"\r\n\r\n")
        head = head.decode()
        name = re.search(r' name="([^"]*)"', head)[1]
        file = re.search(r'filename="([^"]*)"', head)
        if file:
            files[name] = (file[1], data)
        else:
            text = data.decode()
            params[name] = int(text) if re.fullmatch(r"-?\d+", text) else json.loads(text) if text[:1] in "{[" else text
    return params, files
