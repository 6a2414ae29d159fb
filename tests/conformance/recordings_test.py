"""Replays recordings/*.jsonl against the built server and compares every response: code, headers, body, key order.

A line of a recording is a scenario, or a table.  A scenario is steps with a request ("do", "h", "b") and the answer that kube-apiserver gave
("s", "rh", "r"), and pauses between them ("sleep", or "until" an object has "conditions" or is answered with "s").  A table is one request
("do") with an object ("base", or the one that is at "live") and its answer, and rows: a path in the object, what is done there ("set", "del",
or "dup": a list's first item once more) and with what, the status, and the answer: an error whole, a success as [path, value] where it
differs from the unchanged object's answer; at last the warning, if there is one.
What no two servers share (uids, times, versions, allocated addresses) is replaced on both sides before comparing.  Steps listed in known_differences.txt must differ: one that has come to agree has to be taken off the list.
"""
import copy
import glob
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
from harness import ONLY_LIFECYCLE, Server, wait_for  # noqa: E402

HEADERS = ('content-type', 'warning', 'retry-after', 'allow', 'location', 'www-authenticate')
TEXT_RULES = [
    (re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'), '<uid>'),
    (re.compile(r'20(?:2[5-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d)(?: UTC)?(?: m=[+-][\d.]+)?'), '<time>'),
    (re.compile(r':3\d{4}/'), ':<port>/'),
    (re.compile(r'\b10\.0\.\d{1,3}\.\d{1,3}\b(?!/)'), '<ip>'),
    (re.compile(r'(resourceVersion\\*":\\*")\d+'), r'\1<rv>'),
    (re.compile(r'((?:c|C)urrent(?: resource version)?)(:? )\d+'), r'\1\2<rv>'),
]


def in_any_order(answer):
    """An error with its causes sorted, in the message too: kube-apiserver reports them in the order of its maps."""
    causes = (answer.get('details') or {}).get('causes') if isinstance(answer, dict) and isinstance(answer.get('details') or {}, dict) else None
    if not isinstance(causes, list) or len(causes) < 2:
        return answer
    message = answer['message']
    parts = ['%s: %s' % (cause.get('field'), cause.get('message')) for cause in causes]
    if message.endswith(']') and all(part in message for part in parts):
        message = message.split(': [', 1)[0] + ': [' + ', '.join(sorted(parts)) + ']'
    details = dict(answer['details'], causes=sorted(causes, key=lambda cause: json.dumps(cause, sort_keys=True)))
    return dict(answer, details=details, message=message)


def text(value):
    if re.fullmatch(r'\d+s', value):
        return '<age>'
    for pattern, replacement in TEXT_RULES:
        value = pattern.sub(replacement, value)
    return value


def scrub(value, key=None):
    """The value as it is compared."""
    if isinstance(value, dict):
        prefix = value.get('generateName')
        out = {}
        for k, v in value.items():
            if k == 'name' and isinstance(prefix, str) and isinstance(v, str) and v.startswith(prefix) and len(v) == len(prefix) + 5:
                v = prefix + '<rand>'
            # Items of lists are named by their keys in managedFields.
            out[text(k) if k.startswith(('k:', 'v:')) else k] = scrub(v, k)
        return out
    if key == 'managedFields' and isinstance(value, list):
        # Entries of one operation are sorted by their time in seconds, but the duration of a scenario is not fixed.
        entries = [scrub(v, key) for v in value]
        return sorted(entries, key=lambda e: tuple(str(e.get(k, '')) for k in ('operation', 'time', 'manager', 'apiVersion', 'subresource')))
    if isinstance(value, list):
        return [scrub(v, key) for v in value]
    if isinstance(value, str):
        if key in ('resourceVersion', 'resourceVersionMatch') and value.isdigit() and value != '0':
            return '<rv>'
        if key == 'continue' and value:
            return '<continue>'
        return '<text>' if key == 'description' else text(value)
    if key in ('nodePort', 'healthCheckNodePort') and isinstance(value, int) and value >= 30000:
        return '<port>'
    return value


def parsed(content_type, raw):
    kind = (content_type or '').split(';')[0]
    body = raw.decode('utf-8', 'replace')
    if kind.endswith('json'):
        try:
            return scrub(json.loads(body))
        except ValueError:
            return {'<events>': [scrub(json.loads(line)) for line in body.splitlines() if line.strip()]}
    return re.sub(r'(resourceVersion: )"\d+"', r'\1<rv>', text(body))


def differences(want, got, at='body'):
    if isinstance(want, dict) and isinstance(got, dict):
        out = []
        for key in {**want, **got}:
            out += differences(want.get(key, '<absent>'), got.get(key, '<absent>'), at + '/' + key)
        if not out and list(want) != list(got):
            out.append('%s: key order %s, want %s' % (at, list(got), list(want)))
        return out
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [d for i, pair in enumerate(zip(want, got)) for d in differences(*pair, '%s/%d' % (at, i))]
    if want == got and type(want) is type(got):
        return []
    return ['%s: got %s, want %s' % (at, json.dumps(got)[:300], json.dumps(want)[:300])]


def changed(before, after, at=''):
    """Where `after` differs from `before`: [[path, value]…] as tables have it."""
    if isinstance(before, dict) and isinstance(after, dict):
        out = []
        for key, value in before.items():
            if key in after:
                out += changed(value, after[key], at + '/' + key.replace('~', '~0').replace('/', '~1'))
            else:
                out.append([at + '/' + key, '<absent>'])
        out += [[at + '/' + key, value] for key, value in after.items() if key not in before]
        return out if out or list(before) == list(after) else [[at + '/', 'order ' + ','.join(after)]]
    if isinstance(before, list) and isinstance(after, list):
        pad = ['<absent>'] * abs(len(before) - len(after))
        pairs = zip(before + (pad if len(before) < len(after) else []), after + (pad if len(after) < len(before) else []))
        return [d for i, (b, a) in enumerate(pairs) for d in changed(b, a, '%s/%d' % (at, i))]
    return [] if before == after and type(before) is type(after) else [[at or '/', after]]


def edited(base, path, operation, value):
    """The object with one row's change."""
    out = copy.deepcopy(base)
    *way, last = [part.replace('~1', '/').replace('~0', '~') for part in path.split('/')[1:]]
    holder = out
    for part in way:
        holder = holder[int(part) if isinstance(holder, list) else part]
    last = int(last) if isinstance(holder, list) else last
    if operation == 'set':
        holder[last] = value
    elif operation == 'del':
        del holder[last]
    else:
        holder[last].append(copy.deepcopy(holder[last][0]))
    return out


def filled(value, kept):
    if isinstance(value, str):
        whole = re.fullmatch(r'\$\{(\w+)\}', value)
        return kept.get(whole[1], '') if whole else re.sub(r'\$\{(\w+)\}', lambda m: str(kept.get(m[1], '')), value)
    if isinstance(value, dict):
        return {filled(k, kept): filled(v, kept) for k, v in value.items()}
    return [filled(v, kept) for v in value] if isinstance(value, list) else value


class Player:
    def __init__(self, server):
        self.server = server
        self.connection = None

    def send(self, method, path, headers, body):
        for last in (False, True):
            if self.connection is None:
                self.connection = self.server.connect()
            try:
                self.connection.request(method, path, body=body, headers=headers)
                response = self.connection.getresponse()
                return response.status, response.getheaders(), response.read()
            except OSError:
                self.connection.close()
                self.connection = None
                if last:
                    raise

    def step(self, step, kept):
        method, path = filled(step['do'], kept).split(' ', 1)
        headers = {'Accept': 'application/json', 'User-Agent': 'recorder', **filled(step.get('h') or {}, kept)}
        headers = {k: v for k, v in headers.items() if v is not None}
        body = filled(step.get('b'), kept)
        if body is not None:
            headers.setdefault('Content-Type', 'application/json')
            body = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        status, pairs, raw = self.send(method, path, headers, body)
        lower = {}
        for name, value in pairs:
            name = name.lower()
            if name in HEADERS:
                lower[name] = lower[name] + ' | ' + text(value) if name in lower else text(value)
        for name, path_to in (step.get('keep') or {}).items():
            value = json.loads(raw)
            for part in path_to.split('.'):
                value = value[int(part)] if isinstance(value, list) else value.get(part, '')
            kept[name] = value
        return status, lower, parsed(lower.get('content-type'), raw)

    def settled(self, path):
        """The live object; a definition is written by controllers until it is established."""
        def read():
            found = json.loads(self.send('GET', path, {}, None)[2])
            conditions = (found.get('status') or {}).get('conditions') or []
            done = any(each['type'] == 'Established' and each['status'] == 'True' for each in conditions)
            return found if found.get('kind') != 'CustomResourceDefinition' or done else None
        return wait_for(read)

    def table(self, case):
        """(row's name, its differences) for the unchanged object and each row."""
        kept = {}
        self.prepare(case.get('setup', []), kept)
        base = case.get('base') or self.settled(case['live'])
        if 'base' not in case:
            base = base if base.get('kind') != 'Status' else {}
        ask = {'do': case['do'], 'h': case.get('h')}
        status, headers, first = self.step(dict(ask, b=base), kept)
        yield case['id'], self.compared(case, status, headers, first)
        for path, operation, value, code, want, *warning in case['rows']:
            name = '%s:%s:%s:%s' % (case['id'], path, operation, json.dumps(value)[:60].replace(' ', ''))
            try:
                body = edited(base, path, operation, value)
            except (KeyError, IndexError, TypeError):
                yield name, ['there is no %s to change' % path]
                continue
            status, headers, got = self.step(dict(ask, b=body), kept)
            found = [] if status == code else ['status: got %s, want %s' % (status, code)]
            if status >= 300 or code >= 300:
                found += differences(in_any_order(scrub(want)), in_any_order(got))
            else:
                found += differences(scrub(want), changed(first, got))
            if headers.get('warning') != (warning[0] if warning else None):
                found.append('header warning: got %s, want %s' % (headers.get('warning'), warning))
            yield name, found
        self.prepare(case.get('teardown', []), kept)

    def prepare(self, steps, kept):
        for step in steps:
            if not self.waits(step):
                self.step(step, kept)

    def waits(self, step):
        """Whether it is a pause; waits for its end. A condition that never holds shows in the compared responses."""
        if 'sleep' in step:
            time.sleep(step['sleep'])
        elif 'until' in step:
            wait_for(lambda: self.has_arrived(step))
        return 'sleep' in step or 'until' in step

    def has_arrived(self, step):
        status, _, raw = self.send('GET', step['until'], {}, None)
        if 'conditions' not in step:
            return status == step['s']
        return status == 200 and set(step['conditions']) <= {each['type'] for each in json.loads(raw).get('status', {}).get('conditions') or ()}

    def compared(self, want, status, headers, body):
        found = [] if status == want['s'] else ['status: got %s, want %s' % (status, want['s'])]
        wanted = want.get('rh') or {}
        found += ['header %s: got %s, want %s' % (k, headers.get(k), wanted.get(k))
                  for k in sorted({*headers, *wanted}) if headers.get(k) != wanted.get(k)]
        return found + differences(in_any_order(scrub(want['r'])), in_any_order(body))

    def scenario(self, case):
        """(step's name, its differences) for each compared step."""
        kept = {}
        for number, step in enumerate(case['steps']):
            if self.waits(step):
                continue
            status, headers, body = self.step(step, kept)
            if step.get('setup'):
                continue
            yield '%s#%d' % (case['id'], number), self.compared(step, status, headers, body)


def main():
    known = {line.split()[0] for line in open(os.path.join(HERE, 'known_differences.txt')) if line.strip() and not line.startswith('#')}
    passed = failed = 0
    with Server('--service-cluster-ip-range=10.0.0.0/16', ONLY_LIFECYCLE) as server:
        player = Player(server)
        for path in sorted(glob.glob(os.path.join(HERE, 'recordings', '*.jsonl'))):
            for line in open(path):
                case = json.loads(line)
                for name, found in player.scenario(case) if 'steps' in case else player.table(case):
                    if bool(found) == (name in known):
                        passed += 1
                        continue
                    failed += 1
                    print('FAIL', name, 'agrees now: take it off known_differences.txt' if not found else '\n  ' + '\n  '.join(found[:4]))
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
