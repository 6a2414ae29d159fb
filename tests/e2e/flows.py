"""Flows of kubectl as tables: a Flow is a name and steps, a step is a command or a request and its expected result.

`{ns}` in any text is the flow's own namespace, which is also a unique name; `{dir}` is its own folder."""
import json
import os
import re
import shlex
import subprocess


NEWEST = 999


class Flow:
    """`since`, `until`: the kubectl minors that support it (`until` is excluded)."""

    def __init__(self, name, *steps, since=0, until=1000, files=None):
        self.name, self.steps, self.since, self.until, self.files = name, steps, since, until, files or {}


class K:
    """A kubectl command.  says/lacks: texts that its output has, or has not; code: how it ends."""

    def __init__(self, line, stdin=None, says=(), lacks=(), code=0, env=None, since=0, until=1000):
        self.line, self.stdin, self.code, self.env, self.since, self.until = line, stdin, code, env, since, until
        self.says, self.lacks = [[t] if isinstance(t, str) else t for t in (says, lacks)]

    def run(self, at):
        done = at.kubectl(self.line, self.stdin, self.env)
        shown = '%s\n%s%s' % (self.line, done.stdout, done.stderr)
        assert done.returncode == self.code, 'ended with %d, not %d: %s' % (done.returncode, self.code, shown)
        for text in self.says:
            assert at.fill(text) in done.stdout + done.stderr, '%r is not said: %s' % (at.fill(text), shown)
        for text in self.lacks:
            assert at.fill(text) not in done.stdout + done.stderr, '%r is said: %s' % (at.fill(text), shown)


class Has:
    """The expected result of a JSONPath in an object."""

    def __init__(self, what, path, value, since=0, until=1000):
        self.what, self.path, self.value, self.since, self.until = what, path, value, since, until

    def run(self, at):
        done = at.kubectl('get %s -o jsonpath=%s' % (self.what, shlex.quote(self.path)))
        assert done.returncode == 0, done.stderr
        assert done.stdout == at.fill(self.value), '%s %s is %r, not %r' % (self.what, self.path, done.stdout, at.fill(self.value))


class Keeps:
    """The result of a JSONPath in an object is unchanged after the steps."""

    def __init__(self, what, path, *steps, since=0, until=1000):
        self.what, self.path, self.steps, self.since, self.until = what, path, steps, since, until

    def run(self, at):
        before = at.kubectl('get %s -o jsonpath=%s' % (self.what, shlex.quote(self.path)))
        assert before.returncode == 0 and before.stdout, before.stderr
        for step in self.steps:
            if step.since <= at.minor < step.until:
                step.run(at)
        Has(self.what, self.path, before.stdout).run(at)


class Gone:
    """The object does not exist."""

    def __init__(self, what, since=0, until=1000):
        self.what, self.since, self.until = what, since, until

    def run(self, at):
        done = at.kubectl('get %s' % self.what)
        assert done.returncode == 1 and 'NotFound' in done.stderr, '%s is there: %s%s' % (self.what, done.stdout, done.stderr)


class Call:
    """A plain request, for actions of a controller or a kubelet that kubectl does not have.  {uid:KIND/NAME} in the body is that object's uid."""

    def __init__(self, method, path, body, since=0, until=1000, content_type='application/merge-patch+json'):
        self.method, self.path, self.body, self.since, self.until = method, path, body, since, until
        self.content_type = content_type if method == 'PATCH' else 'application/json'

    def run(self, at):
        body = re.sub(r'\{uid:([^}]+)\}', lambda m: at.kubectl('get %s -o jsonpath={.metadata.uid}' % m[1]).stdout, json.dumps(self.body))
        code, _, answer = at.server.request(self.method, at.fill(self.path), at.fill(body), {'Content-Type': self.content_type})
        assert code in (200, 201), answer


class Place:
    """Where a flow runs: a server, a kubectl of some minor, a namespace and a folder."""

    def __init__(self, server, binary, minor, ns, folder):
        self.server, self.binary, self.minor, self.ns, self.folder = server, binary, minor, ns, folder

    def fill(self, text):
        return text.replace('{ns}', self.ns).replace('{dir}', self.folder)

    def kubectl(self, line, stdin=None, env=None):
        command = [self.binary, '--kubeconfig', self.server.kubeconfig, '-n', self.ns, *shlex.split(self.fill(line))]
        settings = dict(os.environ, HOME=self.folder, KUBECACHEDIR=os.path.join(self.folder, 'cache'),
                        **{k: self.fill(v) for k, v in (env or {}).items()})
        return subprocess.run(command, input=self.fill(stdin or ''), capture_output=True, text=True, timeout=120, env=settings, cwd=self.folder)

    def write(self, files):
        for name, text in files.items():
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(self.fill(text))
            os.chmod(path, 0o755)


def run(flow, place):
    """Runs the steps that this kubectl supports; reports a failure with its step."""
    code, _, answer = place.server.request('POST', '/api/v1/namespaces', {'metadata': {'name': place.ns}})
    assert code == 201, answer
    place.write(flow.files)
    for number, step in enumerate(flow.steps):
        if not step.since <= place.minor < step.until:
            continue
        try:
            step.run(place)
        except AssertionError as error:
            raise AssertionError('%s, step %d: %s' % (flow.name, number + 1, error)) from None


def minor_of(binary):
    """The minor version of a kubectl; one without a version counts as the newest."""
    shown = subprocess.run([binary, 'version', '--client', '-o', 'json'], capture_output=True, text=True, check=True).stdout
    known = re.match(r'\d+', json.loads(shown)['clientVersion'].get('minor', ''))
    return int(known[0]) if known else NEWEST
