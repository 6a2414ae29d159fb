"""Shared code of tests that compare admission webhooks of kube-apiserver and the built server: scenarios of configurations and steps. A
step sets the responses of webhooks by path and sends a request; the client's response, the reviews that the webhooks have received, and
the annotations of the audit event are compared."""
import http.client
import itertools
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
from admission_webhooks_test import CONFIGURATIONS, MAPS, Hooks  # noqa: E402
from harness import wait_for  # noqa: E402
from kube_apiserver import SideBySide  # noqa: E402
from recordings_test import in_any_order, scrub  # noqa: E402

http.client._MAXHEADERS = 1000  # a response with many warnings
PROBE = 'compare.example.com/probe'
POLICY = {'apiVersion': 'audit.k8s.io/v1', 'kind': 'Policy', 'omitStages': ['RequestReceived'], 'rules': [{'level': 'Request'}]}
ANY = [{'operations': ['*'], 'apiGroups': ['*'], 'apiVersions': ['*'], 'resources': ['*/*']}]
# Replaces ephemeral ports and measured times.
UNSHARED = ((re.compile(r'127\.0\.0\.1:\d+->'), '<peer>->'), (re.compile('made-[a-z0-9]{5}'), 'made-<rand>'), (re.compile(r'eyJ[\w.-]+'), '<token>'))
ANNOTATIONS_OF_OTHERS = ('apiserver.latency.k8s.io/', 'authorization.k8s.io/')


def step(name, request, **answers):
    """`answers`: by the path of a webhook; others allow."""
    return name, request, {path.replace('__', '/'): answer for path, answer in answers.items()}


def shown(value):
    """The value without parts that always differ between servers."""
    out = json.dumps(scrub(value))
    for pattern, replacement in UNSHARED:
        out = pattern.sub(replacement, out)
    return json.loads(out)


def differences(want, got, at=''):
    """Where two values differ, and how."""
    if isinstance(want, dict) and isinstance(got, dict):
        lines = [line for key in sorted(set(want) | set(got)) for line in differences(want.get(key, '<none>'), got.get(key, '<none>'), at + '/' + key)]
        return lines or ([] if list(want) == list(got) else ['%s: order\n    want %s\n    got  %s' % (at, list(want), list(got))])
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [line for i, (a, b) in enumerate(zip(want, got)) for line in differences(a, b, '%s/%d' % (at, i))]
    return [] if want == got else ['%s:\n    want %.1500s\n    got  %.1500s' % (at, json.dumps(want), json.dumps(got))]


def in_order(request):
    about = (request['oldObject'] or {}).get('metadata', {})
    return request.get('name', ''), about.get('name', ''), about.get('generation', 0)


def without_repeats(server, received):
    """kube-apiserver admits a deletion with the object of its cache, and again if that was old: the same review twice."""
    out, seen = [], set()
    for each in received:
        request = each['review']['request']
        key = each['target'], json.dumps(dict(request, uid=''))
        if server.name != 'kube-apiserver' or request['operation'] != 'DELETE' or key not in seen:
            out.append(each)
        seen.add(key)
    return out


class WebhookScenarios(SideBySide):
    maxDiff = None

    @classmethod
    def start_flags(cls):
        path = os.path.join(cls.pki.dir, 'policy.json')
        with open(path, 'w', encoding='utf-8') as out:
            json.dump(POLICY, out)
        return ('--audit-policy-file=' + path,)

    @classmethod
    def own_flags(cls, name):
        return ('--audit-log-path=' + os.path.join(cls.pki.dir, name + '.audit'),)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder, cls.hooks, cls.numbers = folder.name, Hooks(folder.name), itertools.count()
        cls.addClassCleanup(cls.hooks.stop)
        cls.logs, cls.partial = {}, dict.fromkeys((server.name for server in cls.servers), '')
        for server in cls.servers:
            cls.logs[server.name] = open(os.path.join(cls.pki.dir, server.name + '.audit'), encoding='utf-8')
            cls.addClassCleanup(cls.logs[server.name].close)

    def hook(self, name, path=None, **changes):
        out = {'name': name + '.example.com', 'clientConfig': self.hooks.client(path or name), 'admissionReviewVersions': ['v1'], 'sideEffects': 'None',
               'timeoutSeconds': 5, 'rules': ANY}
        return {key: value for key, value in dict(out, **changes).items() if value is not None}

    # ---- configurations

    def configure(self, server, name, kind, webhooks):
        """Creates the configuration, waits until it is in effect, and deletes it again later."""
        path, probe = CONFIGURATIONS % kind, 'probe/%s/%s' % (server.name, name)
        marked = {'objectSelector': {'matchLabels': {PROBE: name}}, 'rules': [dict(ANY[0], resources=['configmaps'])]}
        body = {'metadata': {'name': name}, 'webhooks': [self.hook('probe', probe, **marked), *webhooks]}
        code, _, answer = server.request('POST', path, body)
        self.assertEqual(code, 201, answer)

        def called():
            del self.hooks.calls[:]
            server.request('POST', MAPS % 'default' + '?dryRun=All', {'metadata': {'name': 'probe', 'labels': {PROBE: name}}})
            return any(called == probe for called, _ in self.hooks.calls)

        def remove():
            server.request('DELETE', path + '/' + name)
            self.assertTrue(wait_for(lambda: not called()))
        self.assertTrue(wait_for(called), '%s: %s is not in effect' % (server.name, name))
        return remove

    # ---- steps

    def recording(self, path, answer, received):
        def give(handler, request):
            handler.review = self.hooks.reviews(path)[-1]
            received.append({'target': handler.path, 'headers': {name: handler.headers[name] for name in ('Content-Type', 'Accept', 'User-Agent')},
                             'review': handler.review})
            return answer(handler, request) if answer else {}
        return give

    def annotations(self, server, audit_id):
        """Those of the request's event."""
        def found():
            for text in iter(self.logs[server.name].readline, ''):
                line = self.partial[server.name] + text
                self.partial[server.name] = '' if line.endswith('\n') else line  # the rest is still to be written
                if audit_id in line and line.endswith('\n'):
                    event = json.loads(line)
                    if event['auditID'] == audit_id and event['stage'] in ('ResponseComplete', 'Panic'):
                        return event
            return None
        event = wait_for(found, 20) or {}
        return {key: value for key, value in sorted(event.get('annotations', {}).items()) if not key.startswith(ANNOTATIONS_OF_OTHERS)}

    def send(self, server, method, path, body=None, media_type='application/json', **headers):
        connection = server.connect()
        audit_id = 'step-%d' % next(self.numbers)
        connection.request(method, path, body if isinstance(body, (str, type(None))) else json.dumps(body),
                           dict({'Content-Type': media_type, 'User-Agent': 'tester', 'Audit-ID': audit_id}, **headers))
        response = connection.getresponse()
        data = response.read().decode(errors='replace')
        connection.close()
        try:
            data = json.loads(data)
        except ValueError:
            pass
        return {'code': response.status, 'warnings': response.headers.get_all('Warning'), 'retry': response.headers['Retry-After'], 'body': in_any_order(data),
                'annotations': self.annotations(server, audit_id)}

    @staticmethod
    def catch_up(server, method, path, *_):
        """Waits until the server's cache has the object: both servers change that first, and again if it was old, with other reviews."""
        target = path.partition('?')[0]
        if method not in ('PUT', 'PATCH', 'DELETE') or '/proxy' in target:
            return

        def revision(query):
            code, _, answer = server.request('GET', target + query)
            return answer['metadata'].get('resourceVersion') if code == 200 and 'items' not in answer else None
        wait_for(lambda: revision('') == revision('?resourceVersion=0'))

    def run_step(self, server, request, answers, paths):
        self.catch_up(server, *request)
        received = []
        self.hooks.answers = {path: self.recording(path, answers.get(path), received) for path in paths | set(answers)}
        for attempt in range(10):
            del received[:]
            try:
                out = self.send(server, *request)
                break
            except http.client.RemoteDisconnected:
                # kube-apiserver closes the connection if its timeout expires while the handler writes the response (filters/timeout.go).
                if server.name != 'kube-apiserver' or attempt == 9:
                    raise
        out['reviews'] = {}
        # Validating webhooks are called concurrently, and so are the webhooks for the objects of a deleted collection.
        for review in sorted(without_repeats(server, received), key=lambda each: (each['target'], in_order(each['review']['request']))):
            same = sum(target.startswith(review['target']) for target in out['reviews'])
            out['reviews']['%s #%d' % (review['target'], same)] = review
        del self.hooks.calls[:]
        return out

    def run_scenario(self, server, configurations, steps, before):
        for request in before:
            out = self.send(server, *request)
            self.assertLess(out['code'], 300, (request, out))
        removals, ends = [], []
        try:
            for i, (kind, webhooks) in enumerate(configurations):
                removals.append(self.configure(server, '%s-%d' % (self.id().rsplit('.', 1)[1].replace('_', '-')[-40:], i), kind, webhooks))
            paths = {hook['clientConfig'].get('url', '/x').split('/', 3)[-1].partition('?')[0] for _, hooks in configurations for hook in hooks}
            for _, request, answers in steps:
                ends.append(self.run_step(server, request, answers, paths))
        finally:
            self.hooks.answers = {}
            for remove in removals:
                remove()
        return ends

    def compare(self, configurations, steps, before=(), known=(), unsteady=()):
        """Runs both servers, one after the other; every step must have the same result. `known`: names of steps that differ
        intentionally. `unsteady`: members of a result that depend on timing."""
        want, got = (self.run_scenario(server, configurations, steps, before) for server in self.servers)
        wrong = []
        for (name, request, _), a, b in zip(steps, map(shown, want), map(shown, got)):
            for member in unsteady:
                del a[member], b[member]
            lines = differences(a, b)
            if bool(lines) != (name in known):
                wrong.append('%s (%s %s)\n  %s' % (name, request[0], request[1], '\n  '.join(lines[:8]) or 'agrees now'))
        print('%s: %d of %d steps differ, %d reviews' % (self.id(), len(wrong), len(steps), sum(len(each['reviews']) for each in want)), file=sys.stderr)
        self.assertEqual(wrong, [], '\n' + '\n'.join(wrong))
