"""usage: launch.py ROUX PACKAGES AGENT     launches one real program in every way that roux does, and reports a line of JSON for each

Every line of the table that `roux init` writes, with 15 prompts and roles, as `prompt`, `task` and as a step with parse_json, with
pipes and on a pseudo-terminal. What reached the model is compared byte for byte: the prompt is one text of the user, whole; the
role stands whole in what instructs the model."""

import json
import os
import sys

import harness

LONG = 'x"\'$(id) \u00e9\n' * 20000  # 240 000 bytes
FITS = LONG[:60000]  # a terminal gets the prompt as an argument

# Name, prompt, role (None: none at all).
CASES = [
	('plain', 'What is this project about?', 'You are terse.'),
	('single quotes', "it's 'quoted' and ''twice'' '", "you're 'it', aren't you'"),
	('double quotes', 'say "hi" and \\"this\\"', 'a "role" with \\"quotes\\"'),
	('newlines', 'first\n\n\tsecond\n  third', 'line one\n\nline three\n\tindented'),
	('commands', '$(touch pwned) `touch pwned` ${HOME} $HOME $1', 'role $(touch pwned) `touch pwned` ${HOME}'),
	('operators', 'a; b && c || d | e & f > pwned < g * ? [h] ~ # i', 'r; s && t > pwned'),
	('leading dash', '-x is not an option', '-r is not an option'),
	('long option', '--help', '--model nothing'),
	('backslashes', 'a\\nb \\\\ \\0 \\t C:\\dir %s %d', 'c:\\role \\n %s'),
	('braces', '{prompt} {role} {bin} ${prompt} {{x}} {"a": [1]}', '{prompt} {model} {{y}} {"b": {}}'),
	('unicode', 'na\u00efve \u2603 \u65e5\u672c\u8a9e \U0001f600 e\u0301', 'r\u00f4le \u2603 \U0001f600'),
	('three quotes', "'''not''' the \"\"\"end\"\"\" '''", "it's '''not''' the end\n\"\"\"nor\"\"\" $(id)"),
	('200 KB', LONG, 'You are patient.'),
	('empty role', 'Is there a role?', ''),
	('no role', 'There is none.', None),
]

STEP = """name: ask
description: asks
version: 1.0.0
context:
  text: ""
steps:
  - id: ask
    agent: {agent}
    {config}
    prompt: "{{{{text}}}}"
    parse_json: true
    output: said
"""
# Those whose role is a text of its own; the others put it among their own instructions.
ALONE = ('codex', 'gemini')
ASKS_FOR_JSON = '\n\nEnd your answer with the result as JSON, with nothing after it.'


class Launches(harness.House):
	def __init__(self, agent, roux, packages):
		super().__init__(agent, roux, packages)
		status, _, err = self.pipes([roux, 'init', '--yes', '--bare'])
		assert status == 0, err
		self.config = self.home / '.config/start'
		(self.config / 'tasks.toml').write_text("[tasks.say]\nprompt = '{instructions}'\n")

	def role(self, number, text):
		"""Every other role is a plain file, the others are resolved into a temporary one."""
		if text is None:
			return ['--no-role'], 'agent_config: {}'
		path = self.top / f'role-{number}.md'
		path.write_text(text)
		made = "prompt = '{file_contents}'\n" if number % 2 else ''
		(self.config / 'roles.toml').write_text(f"[roles.r]\nfile = '{path}'\n{made}")
		return ['--role', 'r'], 'agent_config: { role: r }'

	def arrived(self, requests, prompt, role):
		"""Why not; '' when it has."""
		asked = [r for r in requests if prompt in r.turns]
		if not asked:
			seen = [t[:200] for r in requests for t in r.turns if len(t) < 400] or 'nothing'
			return f'no request has the prompt as one text; seen: {seen}'
		whole = self.agent in ALONE
		if role and not any(role == s if whole else role in s for r in asked for s in r.system):
			return f'the role is not among the instructions; their ends: {[s[-200:] for r in asked for s in r.system]}'
		return ''

	def left(self):
		pwned = (self.work / 'pwned').exists()
		files = [f for f in os.listdir(self.tmp) if f.startswith('start-')]
		return 'something was executed' if pwned else f'left behind: {files}' if files else ''

	def captured(self, argv, given, prompt, role):
		status, out, err = self.pipes([self.roux] + argv, given)
		why = self.arrived(self.model.take(), prompt, role) or self.left()
		if not why and (status != 0 or 'ready' not in out):
			why = f'status {status}, output {out[-300:]!r}'
		return why and f'{why}\n{err[-1500:]}'

	def on_terminal(self, argv, prompt, role):
		# opencode takes the quotes off a value of --prompt= that begins and ends with the same one.
		if self.agent == 'opencode' and prompt[0] in '\'"' and prompt[-1] == prompt[0]:
			prompt = prompt[1:-1]
		state = {'why': 'nothing came', 'requests': []}

		def arrived():
			state['requests'] += self.model.take()
			state['why'] = self.arrived(state['requests'], prompt, role)
			return not state['why']

		drawn = self.terminal([self.roux] + argv, arrived)
		self.model.take()
		why = state['why'] or self.left()
		return why and f'{why}\n{drawn[-1500:]!r}'

	def step(self, number, config, prompt, role):
		path = self.work / f'ask-{number}.yaml'
		path.write_text(STEP.format(agent=self.agent, config=config))
		status, out, err = self.pipes([self.roux, 'run', str(path), '--values', '-', '--json'], json.dumps({'text': prompt}))
		why = self.arrived(self.model.take(), prompt + ASKS_FOR_JSON, role) or self.left()
		if not why and (status != 0 or json.loads(out)['context'].get('said') != {'ok': True}):
			why = f'status {status}, result {out[-500:]}'
		return why and f'{why}\n{err[-1500:]}'


def main():
	roux, packages, agent = sys.argv[1:4]
	only = os.environ.get('ONLY', '')
	try:
		harness.loopback_up()
	except OSError:
		pass
	house = Launches(agent, roux, packages)

	def tell(name, way):
		if only in name:
			why = way()
			print(json.dumps({'name': name, 'why': why}), flush=True)

	try:
		for number, (what, prompt, role) in enumerate(CASES):
			flags, config = house.role(number, role)
			short = FITS if prompt is LONG else prompt
			ask, task = ['prompt', '-q', *flags], ['task', '-q', *flags]
			tell(f'{agent}: {what}, prompt with pipes', lambda: house.captured([*ask, '-'], prompt, prompt.rstrip('\n'), role))
			tell(f'{agent}: {what}, task with pipes', lambda: house.captured([*task, '--', 'say', short], '', short.rstrip('\n'), role))
			tell(f'{agent}: {what}, step', lambda: house.step(number, config, prompt, role))
			tell(f'{agent}: {what}, prompt on a terminal', lambda: house.on_terminal([*ask, '--', short], short.rstrip('\n'), role))
			tell(f'{agent}: {what}, task on a terminal', lambda: house.on_terminal([*task, '--', 'say', short], short.rstrip('\n'), role))
	finally:
		house.close()


main()
