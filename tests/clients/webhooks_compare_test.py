"""A real kube-apiserver with its default admission plugins and the built server call the same admission webhooks: each response of a
webhook has the same effect, and each request causes the same reviews."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import webhook_answers  # noqa: E402
import webhook_patches  # noqa: E402
import webhook_requests  # noqa: E402
import harness  # noqa: E402
from admission_webhooks_test import MAPS, Hooks  # noqa: E402
from harness import wait_for  # noqa: E402
from webhook_scenarios import ANY, WebhookScenarios, step  # noqa: E402

CREATES = [dict(ANY[0], operations=['CREATE'], resources=['configmaps'])]

# Responses that differ intentionally, or whose message is about bytes that are not HTTP (../../docs/compatibility.md): for any failure
# policy, and for failures that are reported to the client.
KNOWN_ALWAYS = {'denial: another reason', 'denial: reason and message', 'denial: another word', 'denial: metadata', 'review: a broken request too',
                'review: strange answer type', 'review: packed', 'code: 307 elsewhere', 'code: 503 with a pause'}
KNOWN = KNOWN_ALWAYS | {
    'code: 302 elsewhere', 'code: 308 to another server', 'broken: no HTTP', 'broken: half a header', 'broken: no chunk',
    'broken: wrong length', 'broken: wrong code', 'broken: no length', 'other-authority'}

# The validating step gets the object as the client sent it.
KNOWN_REQUESTS = ('/serviceaccounts/sa/token',)
# Numbers and escapes that the server prints differently from the webhook (../../docs/compatibility.md).
KNOWN_PATCHES = {'numbers of an annotation', 'port with an exponent'}


class Answers(WebhookScenarios):
    """Every answer, by kind of webhook, review version and failure policy."""

    def compare_answers(self, kind, version, policy):
        # A response takes up to a second on a slow machine.
        hook = self.hook('answer', 'answer', rules=CREATES, admissionReviewVersions=[version], failurePolicy=policy, timeoutSeconds=3)
        steps = [step(name, ('POST', MAPS % 'default', {'metadata': {'name': '%s-%s-%d' % (kind, version, i)}, 'data': {'a': 'b'}}), answer=answer)
                 for i, (name, answer) in enumerate(webhook_answers.ALL.items())]
        self.compare([(kind, [hook])], steps, known=KNOWN if policy == 'Fail' else KNOWN_ALWAYS)

    def test_mutating_v1(self):
        self.compare_answers('mutating', 'v1', 'Fail')

    def test_mutating_v1beta1(self):
        self.compare_answers('mutating', 'v1beta1', 'Ignore')

    def test_validating_v1(self):
        self.compare_answers('validating', 'v1', 'Ignore')

    def test_validating_v1beta1(self):
        self.compare_answers('validating', 'v1beta1', 'Fail')


class Patches(WebhookScenarios):
    """Every patch of an object that is created."""

    def compare_patches(self, kind):
        path, body = webhook_patches.OBJECTS[kind]
        rules = [dict(ANY[0], operations=['CREATE'], resources=[path.rpartition('/')[2]])]
        hooks = [('mutating', [self.hook('patch', 'patch', rules=rules)]), ('validating', [self.hook('check', 'check', rules=rules)])]
        steps = []
        for i, (name, text) in enumerate({**webhook_patches.COMMON, **webhook_patches.OWN[kind]}.items()):
            named = dict(body, metadata=dict(body['metadata'], name='%s-%d' % (kind, i)))
            steps.append(step(name, ('POST', path, named), patch=webhook_answers.patch_text(text)))
        self.compare(hooks, steps, known=KNOWN_PATCHES)

    def test_maps(self):
        self.compare_patches('map')

    def test_pods(self):
        self.compare_patches('pod')

    def test_deployments(self):
        self.compare_patches('deployment')

    def test_services(self):
        self.compare_patches('service')


class Requests(WebhookScenarios):
    """Every request: its reviews, and which webhooks it reaches."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for server in cls.servers:
            for request in webhook_requests.BEFORE:
                cls.prepare(server, request)
            for request in webhook_requests.WIDGET_BEFORE:
                if not wait_for(lambda server=server: server.request('GET', request[1])[0] == 200):
                    raise AssertionError('%s does not serve %s' % (server.name, request[1]))
                cls.prepare(server, request)

    @staticmethod
    def prepare(server, request):
        code, _, answer = server.request(*request)
        if code >= 300:
            raise AssertionError((server.name, request, answer))

    def mine(self, name, **changes):
        """A webhook for this client's requests only."""
        own = [{'name': 'mine', 'expression': 'request.userInfo.username == "kubernetes-admin"'}]
        return self.hook(name, name, **dict(changes, matchConditions=own + changes.get('matchConditions', [])))

    def compare_requests(self, configurations, requests):
        steps = [step('%s %s' % request[:2], request) for request in requests]
        known = {name for name, _, _ in steps if name.partition('?')[0].endswith(KNOWN_REQUESTS)}
        self.compare(configurations, steps, known=known)

    def test_reviews(self):
        self.compare_requests([(kind, [self.mine(kind)]) for kind in ('mutating', 'validating')], webhook_requests.requests())

    def test_matches(self):
        hooks = [self.mine(name, **changes) for name, changes in webhook_requests.MATCHES.items()]
        for each in hooks:
            each.setdefault('failurePolicy', 'Ignore')
        # The objects are not changed, for the other test.
        self.compare_requests([('validating', hooks)], [(method, path if method == 'GET' else webhook_requests.dry(path), *rest)
                                                        for method, path, *rest in webhook_requests.requests()])


class Calls(WebhookScenarios):
    """How webhooks are called: their client, deadlines, dry runs, reinvocation."""

    def maps(self, *rows):
        """Steps that create a map: (name, query, answers)."""
        return [step(name, ('POST', MAPS % 'default' + query, {'metadata': {'name': 'call-%d' % next(self.numbers)}}), **answers)
                for name, query, answers in rows]

    def compare_each(self, kind, hooks, query='', answers=None, unsteady=()):
        """Each of the webhooks {name: changes} alone, as it is and failing open."""
        for name, changes in hooks.items():
            for policy in ('Fail', 'Ignore'):
                with self.subTest('%s %s %s' % (kind, name, policy)):
                    hook = self.hook(name, name, rules=CREATES, failurePolicy=policy, **changes)
                    self.compare([(kind, [hook])], self.maps((name, query, answers or {})), known={name} & KNOWN if policy == 'Fail' else (),
                                 unsteady=unsteady)

    def test_clients(self):
        other = Hooks(self.folder, 'other.example.com')
        self.addCleanup(other.stop)
        port = harness.free_port()
        service = {'namespace': 'default', 'name': 'none', 'path': '/x'}
        hooks = {name: {'clientConfig': client, 'timeoutSeconds': 1} for name, client in {
            'refused': {'url': 'https://127.0.0.1:%d/x' % port, 'caBundle': self.hooks.bundle},
            'other-authority': self.hooks.client('x', caBundle=other.bundle), 'system-authorities': self.hooks.client('x', caBundle=None),
            'other-name': {'url': 'https://127.0.0.1:%d/x' % other.port, 'caBundle': other.bundle},
            'localhost': {'url': 'https://localhost:%d/x' % self.hooks.port, 'caBundle': self.hooks.bundle},
            'no-service': {'service': service, 'caBundle': self.hooks.bundle},
            'no-service-port': {'service': dict(service, port=8443), 'caBundle': self.hooks.bundle}}.items()}
        self.compare_each('validating', hooks)
        self.compare_each('mutating', {'refused': hooks['refused'], 'no-service': hooks['no-service']})

    def test_deadlines(self):
        hang = {name: webhook_answers.hang for name in ('hook', 'client', 'both')}
        hooks = {'hook': {'timeoutSeconds': 1}, 'client': {'timeoutSeconds': 10}, 'both': {'timeoutSeconds': 2}}
        for kind in ('mutating', 'validating'):
            self.compare_each(kind, {'hook': hooks['hook']}, answers=hang)
            # kube-apiserver's timeout filter responds while the handler still writes annotations.
            self.compare_each(kind, {'client': hooks['client'], 'both': hooks['both']}, '?timeout=1s', hang, unsteady=('annotations',))

    def test_dry_runs(self):
        sides = ('None', 'NoneOnDryRun')
        hooks = {side.lower(): {'sideEffects': side} for side in sides}
        for kind in ('mutating', 'validating'):
            self.compare_each(kind, hooks, '?dryRun=All')

    def test_reinvocation(self):
        add = webhook_answers.add
        first, again = (lambda *_: webhook_answers.patch(add('/metadata/labels', {'first': 'x'})),
                        lambda *_: webhook_answers.patch(add('/metadata/annotations', {'again': 'x'})))
        same = webhook_answers.patch_text('[{"op":"test","path":"/kind","value":"ConfigMap"}]')
        for policies in (('Never', 'Never', 'Never'), ('IfNeeded', 'Never', 'IfNeeded'), ('IfNeeded', 'IfNeeded', 'IfNeeded')):
            hooks = [self.hook(name, name, rules=CREATES, reinvocationPolicy=policy) for name, policy in zip('abc', policies)]
            hooks[1]['objectSelector'] = {'matchExpressions': [{'key': 'none', 'operator': 'DoesNotExist'}]}
            late = self.hook('late', 'late', rules=CREATES, reinvocationPolicy='IfNeeded', objectSelector={'matchLabels': {'first': 'x'}})
            with self.subTest(policies):
                self.compare([('mutating', [late, *hooks])], self.maps(
                    ('none', '', {}), ('first', '', {'a': first}), ('second', '', {'b': first}), ('last', '', {'c': again}),
                    ('all', '', {'a': first, 'b': again, 'c': first}), ('same', '', {'a': same, 'b': same}), ('denied', '', {
                        'a': first, 'b': webhook_answers.says(allowed=False)})))


if __name__ == '__main__':
    unittest.main(verbosity=2)
