"""Lines of JSON, {"name", "why"}, as TAP."""

import json
import sys

count = failed = 0
for line in sys.stdin:
	try:
		case = json.loads(line)
	except ValueError:
		print('#', line.rstrip())
		continue
	count += 1
	failed += bool(case['why'])
	print('not ok' if case['why'] else 'ok', count, '-', case['name'], flush=True)
	for more in case['why'].splitlines():
		print('#', more[:400])
print(f'1..{count}')
sys.exit(bool(failed) or not count)
