"""A model on loopback that agent programs talk to: Anthropic messages, OpenAI chat completions and
responses, Gemini generateContent, all of them streaming when they are asked to. It thinks nothing:
what it says is decided by the test, and every request is kept for the test to compare."""

import http.server
import json
import re
import threading


class Request:
	"""What reached the model, in one shape for all protocols."""

	def __init__(self, path, body, system, turns, tools, results):
		self.path = path
		self.body = body
		self.system = system  # texts that instruct: system, developer
		self.turns = turns  # texts of the user, in order
		self.tools = tools  # names of the tools that are offered
		self.results = results  # texts that tools have answered


def texts(content):
	"""The texts of a message: a string, or parts with a text."""
	if isinstance(content, str):
		return [content]
	return [p['text'] for p in content or [] if isinstance(p, dict) and isinstance(p.get('text'), str)]


def read_anthropic(path, body):
	turns, results = [], []
	for m in body.get('messages', []):
		if m['role'] == 'user':
			turns += texts(m['content'])
			for p in m['content'] if isinstance(m['content'], list) else []:
				if p.get('type') == 'tool_result':
					results += texts(p.get('content'))
	return Request(path, body, texts(body.get('system')), turns, [t['name'] for t in body.get('tools', []) if 'name' in t], results)


def read_chat(path, body):
	system, turns, results = [], [], []
	for m in body.get('messages', []):
		where = {'system': system, 'developer': system, 'user': turns, 'tool': results}.get(m['role'])
		if where is not None:
			where += texts(m.get('content'))
	return Request(path, body, system, turns, [t['function']['name'] for t in body.get('tools') or [] if 'function' in t], results)


def tool_names(tools):
	"""Of the responses protocol, where tools may stand in name spaces."""
	names = []
	for t in tools or []:
		if t.get('type') == 'namespace':
			names += [t['name'] + '.' + u['name'] for u in t.get('tools', [])]
		elif 'name' in t:
			names.append(t['name'])
	return names


def read_responses(path, body):
	system, turns, results = texts(body.get('instructions')), [], []
	given = body.get('input', [])
	for m in [{'role': 'user', 'content': given}] if isinstance(given, str) else given:
		if m.get('type') == 'function_call_output':
			out = m.get('output')
			results += texts(out) or [json.dumps(out)]
			continue
		where = {'system': system, 'developer': system, 'user': turns}.get(m.get('role'))
		if where is not None:
			where += texts(m.get('content'))
	return Request(path, body, system, turns, tool_names(body.get('tools')), results)


def read_gemini(path, body):
	turns, results, names = [], [], []
	for m in body.get('contents', []):
		if m.get('role', 'user') != 'user':
			continue
		turns += texts(m.get('parts'))
		results += [json.dumps(p['functionResponse'].get('response'), ensure_ascii=False) for p in m.get('parts', []) if 'functionResponse' in p]
	for t in body.get('tools') or []:
		names += [f['name'] for f in t.get('functionDeclarations', [])]
	system = body.get('systemInstruction') or {}
	return Request(path, body, texts(system if isinstance(system, str) else system.get('parts')), turns, names, results)


# -- answers: (event name or None, object) pairs, and the whole when nothing is streamed --------------


def anthropic_parts(model, text, call):
	block = {'type': 'tool_use', 'id': 'toolu_1', 'name': call[0], 'input': {}} if call else {'type': 'text', 'text': ''}
	delta = {'type': 'input_json_delta', 'partial_json': json.dumps(call[1])} if call else {'type': 'text_delta', 'text': text}
	usage = {'input_tokens': 1, 'output_tokens': 1}
	message = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': model, 'content': [], 'stop_reason': None, 'stop_sequence': None, 'usage': usage}
	why = 'tool_use' if call else 'end_turn'
	whole = dict(message, content=[dict(block, input=call[1]) if call else dict(block, text=text)], stop_reason=why)
	events = [
		{'type': 'message_start', 'message': message},
		{'type': 'content_block_start', 'index': 0, 'content_block': block},
		{'type': 'content_block_delta', 'index': 0, 'delta': delta},
		{'type': 'content_block_stop', 'index': 0},
		{'type': 'message_delta', 'delta': {'stop_reason': why, 'stop_sequence': None}, 'usage': {'output_tokens': 1}},
		{'type': 'message_stop'},
	]
	return [(e['type'], e) for e in events], whole


def chat_parts(model, text, call):
	calls = [{'index': 0, 'id': 'call_1', 'type': 'function', 'function': {'name': call[0], 'arguments': json.dumps(call[1])}}] if call else None
	said = {'role': 'assistant', 'content': None, 'tool_calls': calls} if call else {'role': 'assistant', 'content': text}
	why = 'tool_calls' if call else 'stop'
	usage = {'prompt_tokens': 1, 'completion_tokens': 1, 'total_tokens': 2}
	head = {'id': 'chat_1', 'created': 1, 'model': model}
	chunk = dict(head, object='chat.completion.chunk')
	events = [
		dict(chunk, choices=[{'index': 0, 'delta': said, 'finish_reason': None}]),
		dict(chunk, choices=[{'index': 0, 'delta': {}, 'finish_reason': why}], usage=usage),
	]
	whole = dict(head, object='chat.completion', choices=[{'index': 0, 'message': said, 'finish_reason': why}], usage=usage)
	return [(None, e) for e in events] + [(None, '[DONE]')], whole


def responses_parts(model, text, call):
	if call:
		space, _, name = call[0].rpartition('.')
		item = {'type': 'function_call', 'id': 'fc_1', 'call_id': 'call_1', 'name': name, 'arguments': json.dumps(call[1]), 'status': 'completed'}
		if space:
			item['namespace'] = space
	else:
		item = {'type': 'message', 'id': 'msg_1', 'role': 'assistant', 'status': 'completed', 'content': [{'type': 'output_text', 'text': text, 'annotations': []}]}
	usage = {'input_tokens': 1, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 1, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 2}
	head = {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'model': model}
	whole = dict(head, status='completed', output=[item], usage=usage)
	events = [{'type': 'response.created', 'response': dict(head, status='in_progress', output=[])}]
	events.append({'type': 'response.output_item.added', 'output_index': 0, 'item': dict(item, status='in_progress', content=[]) if not call else dict(item, status='in_progress')})
	if not call:
		where = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
		events.append(dict(where, type='response.content_part.added', part={'type': 'output_text', 'text': '', 'annotations': []}))
		events.append(dict(where, type='response.output_text.delta', delta=text))
		events.append(dict(where, type='response.output_text.done', text=text))
	events.append({'type': 'response.output_item.done', 'output_index': 0, 'item': item})
	events.append({'type': 'response.completed', 'response': whole})
	return [(e['type'], dict(e, sequence_number=i)) for i, e in enumerate(events)], whole


def gemini_parts(model, text, call):
	part = {'functionCall': {'name': call[0], 'args': call[1]}} if call else {'text': text}
	usage = {'promptTokenCount': 1, 'candidatesTokenCount': 1, 'totalTokenCount': 2}
	whole = {'candidates': [{'content': {'role': 'model', 'parts': [part]}, 'finishReason': 'STOP', 'index': 0}], 'usageMetadata': usage, 'modelVersion': model}
	return [(None, whole)], whole


PROTOCOLS = [
	(re.compile(r'/messages$'), read_anthropic, anthropic_parts),
	(re.compile(r'/chat/completions$'), read_chat, chat_parts),
	(re.compile(r'/responses$'), read_responses, responses_parts),
	(re.compile(r':(stream)?[gG]enerateContent$'), read_gemini, gemini_parts),
]


# gemini asks a small model first which one shall answer, and believes nothing but this.
ROUTED = {'reasoning': 'none', 'model_choice': 'flash', 'complexity_reasoning': 'none', 'complexity_score': 1}


def wants_json(body):
	return (body.get('generationConfig') or {}).get('responseMimeType') == 'application/json'


class Handler(http.server.BaseHTTPRequestHandler):
	protocol_version = 'HTTP/1.1'

	def log_message(self, *_):
		pass

	def answer(self, status, body, kind='application/json'):
		self.send_response(status)
		self.send_header('Content-Type', kind)
		self.send_header('Content-Length', str(len(body)))
		self.end_headers()
		if self.command != 'HEAD':
			self.wfile.write(body)

	def do_HEAD(self):
		self.answer(200, b'')

	def do_GET(self):
		path = self.path.partition('?')[0]
		self.server.model.others.append('GET ' + self.path)
		if path.endswith('/models'):
			self.answer(200, json.dumps({'object': 'list', 'data': [], 'models': []}).encode())
		else:
			self.answer(404, b'{"error":{"message":"not here","code":404}}')

	def do_POST(self):
		model = self.server.model
		raw = self.rfile.read(int(self.headers.get('Content-Length') or 0))
		path = self.path.partition('?')[0]
		if path.endswith('/count_tokens') or path.endswith(':countTokens'):
			self.answer(200, b'{"input_tokens":1,"totalTokens":1}')
			return
		for pattern, read, parts in PROTOCOLS:
			if pattern.search(path):
				break
		else:
			model.others.append('POST ' + self.path)
			self.answer(404, b'{"error":{"message":"not here","code":404}}')
			return
		body = json.loads(raw)
		request = read(self.path, body)
		text, call = model.decide(request)
		if wants_json(body):
			text = json.dumps(ROUTED)
		name = body.get('model') or path.rpartition('/')[2].partition(':')[0]
		events, whole = parts(name, text, call)
		if not (body.get('stream') or 'stream' in path):
			self.answer(200, json.dumps(whole).encode())
			return
		out = b''
		for kind, event in events:
			out += b'event: %s\n' % kind.encode() if kind else b''
			out += b'data: %s\n\n' % (event if isinstance(event, str) else json.dumps(event)).encode()
		self.answer(200, out, 'text/event-stream')


class Server(http.server.ThreadingHTTPServer):
	daemon_threads = True

	def handle_error(self, *_):
		"""Programs that are ended leave connections open."""


class Model:
	"""decide(request) -> (text, None) or ('', (tool, arguments)). Without one it says `reply`."""

	def __init__(self, reply='ready', decide=None):
		self.reply = reply
		self.chooser = decide
		self.lock = threading.Lock()
		self.requests = []
		self.others = []
		self.server = Server(('127.0.0.1', 0), Handler)
		self.server.model = self
		self.port = self.server.server_address[1]
		self.url = f'http://127.0.0.1:{self.port}'
		threading.Thread(target=self.server.serve_forever, daemon=True).start()

	def decide(self, request):
		with self.lock:
			self.requests.append(request)
		return self.chooser(request) if self.chooser else (self.reply, None)

	def take(self):
		"""The requests since the last time."""
		with self.lock:
			got, self.requests = self.requests, []
		return got

	def close(self):
		self.server.shutdown()
		self.server.server_close()
