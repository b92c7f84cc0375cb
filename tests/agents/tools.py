"""usage: tools.py ROUX PACKAGES AGENT     one real program as a client of `roux mcp`: a line of JSON for each case

roux launches the program, the stand-in model answers with a call of a recipe, the program asks roux, and what roux said goes back
to the model, where it is looked at."""

import json
import os
import re
import sys

import harness

HOSTILE = 'it\'s "you" $(touch pwned) `id` \\ \u2603\nand more'

RECIPES = {
	'greet.json': {'description': 'Greets one person', 'args': ['name'], 'effects': 'read', 'always': True, 'template': 'printf "hello %s" {name}'},
	'broken.json': {
		'description': 'Fails', 'effects': 'read', 'always': True,
		'template': "sh -c 'echo one test failed; echo and why >&2; exit 3'",
	},
	'large.json': {'description': 'Prints 200 KB', 'effects': 'read', 'always': True, 'template': 'sh -c "seq 1 40000; echo the end"'},
	'slow.json': {'description': 'Takes a while', 'effects': 'read', 'always': True, 'template': 'sh -c "sleep 3; echo slept"'},
}  # fmt: skip

GATE = """name: release
description: Asks before it releases
version: 1.0.0
effects: read
always: true
stages:
  - name: draft
    steps: [{id: a, type: bash, command: echo drafted}]
    approval: {required: true, prompt: Good?}
  - name: publish
    steps: [{id: b, type: bash, command: touch released}]
"""

# Recipe, its arguments, and what the result must look like.
CASES = [
	('greet', {'name': HOSTILE}, lambda t: f'hello {HOSTILE}' in t, 'an argument with quotes, commands and a newline arrives exact'),
	('greet', {'wrong': 1}, lambda t: 'name' in t, 'a wrong argument is answered with what was expected'),
	('broken', {}, lambda t: 'one test failed' in t and 'and why' in t and '3' in t, 'a failure shows what the program printed'),
	('large', {}, lambda t: '\n100\n' in t, 'of 200 KB comes what the program lets through'),
	('slow', {}, lambda t: 'slept' in t, 'a slow one is waited for'),
	('release', {}, lambda t: re.search('paused|approv|wait', t), 'a gate is not passed without a person'),
]


class Client(harness.House):
	def __init__(self, agent, roux, packages):
		super().__init__(agent, roux, packages, self.choose)
		self.wanted, self.offered = None, []
		assert self.pipes([roux, 'init', '--yes', '--bare'])[0] == 0
		for name, recipe in RECIPES.items():
			self.file('.pi/agent/recipes/' + name, recipe)
		self.file('.pi/agent/recipes/release.yaml', GATE)
		getattr(self, 'connect_' + agent)()

	def connect_claude(self):
		server = {'type': 'stdio', 'command': 'roux', 'args': ['mcp']}
		path = self.home / '.claude.json'
		self.file('.claude.json', dict(json.loads(path.read_text()), mcpServers={'roux': server}))
		self.file('.claude/settings.json', {'permissions': {'allow': ['mcp__roux']}})

	def connect_codex(self):
		with (self.home / '.codex/config.toml').open('a') as f:
			f.write('\n[mcp_servers.roux]\ncommand = "roux"\nargs = ["mcp"]\ndefault_tools_approval_mode = "approve"\n')
			f.write(f'env = {{ HOME = "{self.home}", TMPDIR = "{self.tmp}" }}\n')

	def connect_gemini(self):
		server = {'command': 'roux', 'args': ['mcp'], 'trust': True}
		self.file('.gemini/settings.json', dict(self.settings, mcpServers={'roux': server}))

	def connect_opencode(self):
		server = {'type': 'local', 'command': ['roux', 'mcp'], 'enabled': True}
		self.file('.config/opencode/opencode.json', dict(self.settings, mcp={'roux': server}))

	def choose(self, request):
		"""The model: calls the tool once, then is content. Each program has its own way to prefix a name."""
		if not request.tools or request.results or not self.wanted:
			return harness.REPLY, None
		self.offered = request.tools
		recipe, arguments = self.wanted
		for name in request.tools:
			if re.fullmatch(rf'(.*[_.])?{recipe}', name):
				return '', (name, arguments)
		return 'there is no such tool', None

	def call(self, recipe, arguments, fits):
		self.wanted = recipe, arguments
		status, out, err = self.pipes([self.roux, 'prompt', '-q', '--no-role', f'call {recipe}'])
		results = [t for r in self.model.take() for t in r.results]
		if (self.work / 'pwned').exists() or (self.work / 'released').exists():
			return 'something was executed'
		if not results:
			return f'no result reached the model; tools: {self.offered}; status {status}\n{out[-500:]}\n{err[-1500:]}'
		return '' if any(fits(plain(t)) for t in results) else f'result: {results[0][:1500]!r}'


def plain(text):
	"""Some programs hand a result on as JSON: the texts in it."""
	try:
		return text + '\n' + '\n'.join(strings(json.loads(text)))
	except ValueError:
		return text


def strings(value):
	if isinstance(value, str):
		return [value]
	parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
	return [t for p in parts for t in strings(p)]


def main():
	roux, packages, agent = sys.argv[1:4]
	only = os.environ.get('ONLY', '')
	try:
		harness.loopback_up()
	except OSError:
		pass
	house = Client(agent, roux, packages)
	try:
		for recipe, arguments, fits, says in CASES:
			name = f'{agent}: {recipe}: {says}'
			if only in name:
				print(json.dumps({'name': name, 'why': house.call(recipe, arguments, fits)}), flush=True)
	finally:
		house.close()


main()
