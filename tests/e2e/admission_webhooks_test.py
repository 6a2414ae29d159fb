"""Admission webhooks: reviews, the effects of responses, and that a faulty webhook costs at most its timeout and is handled by its
failure policy."""
import base64
import http.server
import itertools
import json
import os
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from harness import Server, free_port, main, wait_for

CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations'
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
MAPS = '/api/v1/namespaces/%s/configmaps'
DEPLOYMENTS = '/apis/apps/v1/namespaces/%s/deployments'
LABEL = 'e2e.example.com/case'
PROBE = 'e2e.example.com/probe'
HUGE = 100 << 20


class QuietServer(http.server.ThreadingHTTPServer):
    """Clients that refuse the certificate or disconnect are expected."""

    daemon_threads = True

    def handle_error(self, *_):
        pass


class Hooks:
    """A webhook server. `answers`: by path, a function that gets the review's request and returns members of the response, or answers by
    itself with the handler and returns None. Other paths allow."""

    def __init__(self, folder, name='127.0.0.1'):
        self.answers = {}
        self.calls = []  # (path, review)
        self.hold = threading.Event()
        names = 'IP:127.0.0.1' if name == '127.0.0.1' else 'DNS:' + name
        key, certificate = os.path.join(folder, name + '.key'), os.path.join(folder, name + '.crt')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key,
                        '-out', certificate, '-subj', '/CN=webhook', '-addext', 'subjectAltName=' + names], check=True, capture_output=True)
        with open(certificate, 'rb') as file:
            self.bundle = base64.b64encode(file.read()).decode()
        self.server = QuietServer(('127.0.0.1', 0), self.handler())
        self.port = self.server.server_address[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()

    def client(self, path, **changes):
        return dict({'url': 'https://127.0.0.1:%d/%s' % (self.port, path), 'caBundle': self.bundle}, **changes)

    def reviews(self, path):
        return [review for called, review in self.calls if called == path]

    def handler(self):
        hooks = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            timeout = 60

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                path = self.path.partition('?')[0].strip('/')
                hooks.calls.append((path, review))
                response = {'uid': review['request']['uid'], 'allowed': True}
                answer = hooks.answers.get(path)
                try:
                    said = answer(self, review['request']) if answer else {}
                    if said is None:
                        return
                    response.update(said)
                    self.send(200, json.dumps({'apiVersion': review['apiVersion'], 'kind': 'AdmissionReview', 'response': response}).encode())
                except OSError:
                    self.close_connection = True  # the server's timeout has expired

            def send(self, code, body, size=None, **headers):
                self.send_response(code)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body) if size is None else size))
                for name, value in headers.items():
                    self.send_header(name.replace('_', '-'), value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler


def patch(*operations):
    return {'patchType': 'JSONPatch', 'patch': base64.b64encode(json.dumps(operations).encode()).decode()}


def add(path, value):
    return {'op': 'add', 'path': path, 'value': value}


# ---- invalid responses


def hang(handler, _):
    # The server closes the connection when the timeout has expired.
    handler.connection.settimeout(60)
    try:
        handler.connection.recv(1)
    except OSError:
        pass
    handler.close_connection = True


def huge(handler, _):
    handler.send(200, b'{', size=HUGE)
    block = b' ' * 65536
    for _ in range(HUGE // len(block)):
        handler.wfile.write(block)


def half(handler, _):
    handler.send(200, b'{"kind":"AdmissionReview"', size=1000)
    handler.close_connection = True


def closed(handler, _):
    handler.close_connection = True


def redirect(handler, _):
    handler.send(302, b'', Location='/allow')


def broken(handler, _):
    handler.send(500, b'oops')


def wrong_uid(_, __):
    return {'uid': 'other'}


def no_json(handler, _):
    handler.send(200, b'{"kind":')


class WebhookCase:
    """A server, a webhook server, and a name for each test; must precede TestCase in the list of base classes."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.hooks = Hooks(cls.folder.name)
        cls.numbers = itertools.count()
        cls.server = Server('--service-cluster-ip-range=10.7.0.0/24', *cls.flags())

    @classmethod
    def flags(cls):
        return ()

    @classmethod
    def tearDownClass(cls):
        cls.hooks.stop()
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.case = 'case-%d' % next(self.numbers)

    def request(self, method, path, body=None, code=200, **headers):
        got, _, answer = self.server.request(method, path, body, headers)
        self.assertEqual(got, code, answer)
        return answer

    def webhook(self, name, path, **changes):
        out = {'name': name + '.example.com', 'clientConfig': self.hooks.client(path), 'admissionReviewVersions': ['v1'], 'sideEffects': 'None',
               'timeoutSeconds': 10, 'objectSelector': {'matchLabels': {LABEL: self.case}},
               'rules': [{'operations': ['*'], 'apiGroups': ['*'], 'apiVersions': ['*'], 'resources': ['*']}]}
        out.update(changes)
        return out

    def configure(self, kind, *webhooks):
        """Creates a configuration and waits until it is in effect, which its last webhook shows."""
        server = self.server
        name = '%s-%d' % (self.case, next(self.numbers))
        probe = self.webhook('probe', name, objectSelector={'matchLabels': {PROBE: name}})
        kind_name = {'mutating': 'Mutating', 'validating': 'Validating'}[kind] + 'WebhookConfiguration'
        body = {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': kind_name, 'metadata': {'name': name},
                'webhooks': [*webhooks, probe]}
        path = CONFIGURATIONS % kind
        code, _, answer = server.request('POST', path, body)
        self.assertEqual(code, 201, answer)
        self.addCleanup(lambda: server.request('DELETE', path + '/' + name))
        marker = {'metadata': {'generateName': 'probe-', 'labels': {PROBE: name}}}

        def is_called():
            code, _, answer = server.request('POST', MAPS % 'default' + '?dryRun=All', marker)
            self.assertEqual(code, 201, answer)
            return self.hooks.reviews(name)
        self.assertTrue(wait_for(is_called))
        return name

    def map(self, name, labels=None, **members):
        return dict({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': name, 'labels': {LABEL: self.case} if labels is None else labels}}, **members)

    def create(self, name=None, code=201, query='', ns='default', **members):
        return self.request('POST', MAPS % ns + query, self.map(name or self.case, **members), code=code)

    def deployment(self, *containers, name=None):
        labels = {LABEL: self.case}
        pod = {'metadata': {'labels': labels}, 'spec': {'containers': [{'name': each, 'image': each} for each in containers]}}
        return {'metadata': {'name': name or self.case, 'labels': labels}, 'spec': {'selector': {'matchLabels': labels}, 'template': pod}}


class AdmissionWebhooks(WebhookCase, unittest.TestCase):
    # ---- allow, deny, patch

    def test_a_webhook_receives_the_write_and_may_allow_it(self):
        self.configure('validating', self.webhook('allow', self.case))
        made = self.create(data={'a': 'b'})
        self.request('PUT', MAPS % 'default' + '/' + self.case, dict(made, data={'a': 'c'}))
        self.request('DELETE', MAPS % 'default' + '/' + self.case)
        create, update, delete = [review['request'] for review in self.hooks.reviews(self.case)]
        self.assertEqual(list(create), ['uid', 'kind', 'resource', 'requestKind', 'requestResource', 'name', 'namespace', 'operation', 'userInfo',
                                        'object', 'oldObject', 'dryRun', 'options'])
        self.assertEqual(create['kind'], {'group': '', 'version': 'v1', 'kind': 'ConfigMap'})
        self.assertEqual((create['name'], create['namespace'], create['operation'], create['dryRun']), (self.case, 'default', 'CREATE', False))
        self.assertEqual((create['object']['data'], create['oldObject']), ({'a': 'b'}, None))
        self.assertEqual(create['object']['kind'], 'ConfigMap')
        self.assertEqual(create['object']['metadata']['managedFields'][0]['fieldsV1']['f:data'], {'.': {}, 'f:a': {}})
        self.assertEqual(create['options'], {'kind': 'CreateOptions', 'apiVersion': 'meta.k8s.io/v1'})
        self.assertIn('system:masters', create['userInfo']['groups'])
        self.assertEqual((update['operation'], update['object']['data'], update['oldObject']['data']), ('UPDATE', {'a': 'c'}, {'a': 'b'}))
        self.assertEqual((delete['operation'], delete['object'], delete['oldObject']['data']), ('DELETE', None, {'a': 'c'}))
        self.assertEqual(delete['options']['kind'], 'DeleteOptions')
        self.assertEqual(len({create['uid'], update['uid'], delete['uid']}), 3)

    def test_a_denial_is_the_clients_answer(self):
        for kind in ('mutating', 'validating'):
            path = self.case + kind
            self.hooks.answers[path] = lambda *_: {'allowed': False, 'status': {'code': 403, 'reason': 'Forbidden', 'message': 'not here'}}
            name = self.configure(kind, self.webhook('deny', path))
            answer = self.create(code=403)
            self.assertEqual(answer['message'], 'admission webhook "deny.example.com" denied the request: not here')
            self.assertEqual(answer['reason'], 'Forbidden')
            self.hooks.answers[path] = lambda *_: {'allowed': False}
            answer = self.create(code=400)
            self.assertEqual(answer['message'], 'admission webhook "deny.example.com" denied the request without explanation')
            self.assertNotIn('reason', answer)
            # A denial of a webhook with failurePolicy Ignore is not ignored.
            self.request('DELETE', CONFIGURATIONS % kind + '/' + name)

    def test_reviews_of_v1beta1(self):
        self.hooks.answers[self.case] = lambda *_: dict(patch(add('/data', {'old': 'review'})), uid='anything')
        self.configure('mutating', self.webhook('beta', self.case, admissionReviewVersions=['v9', 'v1beta1', 'v1']))
        self.assertEqual(self.create()['data'], {'old': 'review'})
        self.assertEqual(self.hooks.reviews(self.case)[0]['apiVersion'], 'admission.k8s.io/v1beta1')

    def test_webhooks_patch_one_after_the_other_and_their_result_has_defaults(self):
        first, second = self.case + 'a', self.case + 'b'
        containers = '/spec/template/spec/containers/-'
        self.hooks.answers[first] = lambda *_: patch(add(containers, {'name': 'sidecar', 'image': 'side'}))
        self.hooks.answers[second] = lambda *_: patch(add('/metadata/annotations', {'seen': 'yes'}))
        self.configure('mutating', self.webhook('one', first), self.webhook('two', second))
        self.configure('validating', self.webhook('three', self.case))
        made = self.request('POST', DEPLOYMENTS % 'default', self.deployment('main'), code=201)
        self.assertEqual([each['name'] for each in made['spec']['template']['spec']['containers']], ['main', 'sidecar'])
        seen = self.hooks.reviews(second)[0]['request']['object']['spec']['template']['spec']['containers'][1]
        self.assertEqual((seen['terminationMessagePath'], seen['imagePullPolicy']), ('/dev/termination-log', 'Always'))
        validated = self.hooks.reviews(self.case)[0]['request']['object']
        self.assertEqual((validated['metadata']['annotations'], len(validated['spec']['template']['spec']['containers'])), ({'seen': 'yes'}, 2))
        # The object that a webhook has changed is validated.
        self.hooks.answers[first] = lambda *_: patch(add(containers, {'name': 'main', 'image': 'twice'}))
        answer = self.request('POST', DEPLOYMENTS % 'default', self.deployment('main', name=self.case + '-2'), code=422)
        self.assertIn('spec.template.spec.containers[1].name: Duplicate value: "main"', answer['message'])

    def test_a_patch_that_cannot_be_applied_is_an_internal_error(self):
        self.configure('mutating', self.webhook('patch', self.case, failurePolicy='Ignore'))
        for answer, why in ((patch({'op': 'remove', 'path': '/data'}),
                             "error in remove for path: '/data': Unable to remove nonexistent key: data: missing value"),
                            (patch(add('/data', 'text')), None)):
            self.hooks.answers[self.case] = lambda *_, answer=answer: answer
            message = self.create(code=500)['message']
            self.assertTrue(message.startswith('Internal error occurred: '), message)
            if why:
                self.assertEqual(message, 'Internal error occurred: ' + why)
        self.hooks.answers[self.case] = lambda *_: patch(add('/metadata/labels/x', 'y'))
        self.create()
        answer = self.request('DELETE', MAPS % 'default' + '/' + self.case, code=500)
        self.assertEqual(answer['message'], 'Internal error occurred: admission webhook "patch.example.com" attempted to modify the object, which is '
                         'not supported for this operation')

    # ---- webhooks that misbehave

    def failing(self):
        """By name: the response or the client's configuration, and a part of the message."""
        other = Hooks(self.folder.name, 'other.example.com')
        self.addCleanup(other.stop)
        silent = socket.create_server(('127.0.0.1', 0))  # accepts nothing: no handshake
        self.addCleanup(silent.close)
        garbage = socket.create_server(('127.0.0.1', 0))

        def talk():
            try:
                while True:
                    peer, _ = garbage.accept()
                    peer.sendall(b'HTTP/1.1 400 plain text\r\n\r\n')
                    peer.close()
            except OSError:
                pass
        threading.Thread(target=talk, daemon=True).start()
        self.addCleanup(garbage.close)
        url = 'https://127.0.0.1:%d/'
        return {
            'hang': (hang, None, 'context deadline exceeded'),
            'huge': (huge, None, 'the answer is larger than 8388608 bytes'),
            'half': (half, None, 'unexpected error when reading response body. Please retry. Original error: unexpected EOF'),
            'closed': (closed, None, 'Post "https://127.0.0.1:'),
            'redirect': (redirect, None, 'the server responded with the status code 302 but did not return more information'),
            'broken': (broken, None, 'an error on the server ("unknown") has prevented the request from succeeding'),
            'uid': (wrong_uid, None, 'received invalid webhook response: expected response.uid="'),
            'json': (no_json, None, "couldn't get version/kind; json parse error: unexpected end of JSON input"),
            'refused': (None, {'url': url % free_port()}, 'connection refused'),
            'certificate': (None, {'caBundle': other.bundle}, 'certificate'),
            'garbage': (None, {'url': url % garbage.getsockname()[1]}, 'Post "https://127.0.0.1:'),
            'handshake': (None, {'url': url % silent.getsockname()[1]}, 'context deadline exceeded'),
        }

    def check_failures(self, kind):
        for name, (answer, client, why) in self.failing().items():
            with self.subTest(kind + ' ' + name):
                path = self.case + name
                if answer:
                    self.hooks.answers[path] = answer
                hook = self.webhook(name, path, clientConfig=self.hooks.client(path, **(client or {})), timeoutSeconds=2)
                configuration = self.configure(kind, hook)
                began = time.monotonic()
                message = self.create(code=500)['message']
                self.assertLess(time.monotonic() - began, 20, name)
                self.assertTrue(message.startswith('Internal error occurred: failed calling webhook "%s.example.com": ' % name), message)
                self.assertIn(why, message)
                self.request('DELETE', CONFIGURATIONS % kind + '/' + configuration)
                configuration = self.configure(kind, dict(hook, failurePolicy='Ignore'))
                self.create(self.case + name)
                self.request('DELETE', CONFIGURATIONS % kind + '/' + configuration)
        self.assertNotIn('allow', [path for path, _ in self.hooks.calls], 'a redirect was followed')

    def test_a_mutating_webhook_that_fails_ends_as_its_policy_says(self):
        self.check_failures('mutating')

    def test_a_validating_webhook_that_fails_ends_as_its_policy_says(self):
        self.check_failures('validating')

    def test_a_hanging_webhook_delays_no_other_requests(self):
        self.hooks.answers[self.case] = hang
        self.configure('validating', self.webhook('hang', self.case, timeoutSeconds=30))
        slow = self.server.connect(timeout=60)
        slow.request('POST', MAPS % 'default' + '?timeout=3s', json.dumps(self.map(self.case)), {'Content-Type': 'application/json'})
        self.assertTrue(wait_for(lambda: self.hooks.reviews(self.case)))
        for i in range(20):
            self.create('%s-%d' % (self.case, i), labels={})
        # The request's timeout expires before the webhook's.
        self.assertIn(slow.getresponse().status, (500, 504))

    # ---- selection of webhooks

    def test_webhooks_are_called_again_after_a_later_change(self):
        a, b, c = (self.case + each for each in 'abc')
        self.hooks.answers[a] = lambda _, request: patch(add('/data/a', str(len(self.hooks.reviews(a)))))
        self.hooks.answers[b] = lambda *_: patch(add('/data/b', 'set'))
        self.configure('mutating', self.webhook('a', a, reinvocationPolicy='IfNeeded'), self.webhook('b', b),
                       self.webhook('c', c, reinvocationPolicy='IfNeeded'))
        self.assertEqual(self.create(data={'x': 'y'})['data'], {'x': 'y', 'a': '2', 'b': 'set'})
        # b must not be called again, because the object has not changed since its call; c is called again, because a has changed the object
        # again.
        self.assertEqual([len(self.hooks.reviews(each)) for each in (a, b, c)], [2, 1, 2])
        self.assertEqual(self.hooks.reviews(a)[1]['request']['object']['data']['b'], 'set')

    def test_a_webhook_for_one_version_receives_writes_of_another(self):
        group = self.case + '.example.com'
        schema = {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}
        crd = {'metadata': {'name': 'things.' + group},
               'spec': {'group': group, 'scope': 'Namespaced', 'names': {'plural': 'things', 'singular': 'thing', 'kind': 'Thing'},
                        'versions': [{'name': name, 'served': True, 'storage': name == 'v1', 'schema': schema} for name in ('v1', 'v2')]}}
        self.request('POST', CRDS, dict(crd, apiVersion='apiextensions.k8s.io/v1', kind='CustomResourceDefinition'), code=201)
        self.addCleanup(lambda: self.server.request('DELETE', CRDS + '/things.' + group))
        path = '/apis/%s/v2/namespaces/default/things' % group
        self.assertTrue(wait_for(lambda: self.server.request('GET', path)[0] == 200))
        rules = [{'operations': ['*'], 'apiGroups': [group], 'apiVersions': ['v1'], 'resources': ['things']}]
        self.hooks.answers[self.case] = lambda *_: patch(add('/spec/patched', True))
        self.configure('mutating', self.webhook('equivalent', self.case, rules=rules, matchPolicy='Equivalent'),
                       self.webhook('exact', self.case + 'exact', rules=rules, matchPolicy='Exact'))
        self.configure('validating', self.webhook('validate', self.case + 'validate', rules=rules))
        thing = {'apiVersion': group + '/v2', 'kind': 'Thing', 'metadata': {'name': 'one', 'labels': {LABEL: self.case}}, 'spec': {'a': 1}}
        made = self.request('POST', path, thing, code=201)
        self.assertEqual((made['apiVersion'], made['spec']), (group + '/v2', {'a': 1, 'patched': True}))
        for called in (self.case, self.case + 'validate'):
            request, = [review['request'] for review in self.hooks.reviews(called)]
            self.assertEqual((request['kind']['version'], request['resource']['version'], request['object']['apiVersion']),
                             ('v1', 'v1', group + '/v1'))
            self.assertEqual((request['requestKind']['version'], request['requestResource']['version']), ('v2', 'v2'))
        self.assertEqual(self.hooks.reviews(self.case + 'exact'), [])

    def test_subresources_and_connections_are_writes_too(self):
        self.request('POST', DEPLOYMENTS % 'default', self.deployment('main'), code=201)
        rule = {'operations': ['*'], 'apiGroups': ['*'], 'apiVersions': ['*']}
        mine = {'objectSelector': {}, 'matchConditions': [{'name': 'mine', 'expression': 'request.name == "%s"' % self.case}]}
        self.hooks.answers[self.case] = lambda *_: patch({'op': 'replace', 'path': '/spec/replicas', 'value': 7})
        self.configure('mutating', self.webhook('scale', self.case, rules=[dict(rule, resources=['deployments/scale'])], **mine))
        path = DEPLOYMENTS % 'default' + '/' + self.case + '/scale'
        self.assertEqual(self.request('PUT', path, self.request('GET', path))['spec'], {'replicas': 7})
        request = self.hooks.reviews(self.case)[0]['request']
        self.assertEqual((request['subResource'], request['kind'], request['requestSubResource']),
                         ('scale', {'group': 'autoscaling', 'version': 'v1', 'kind': 'Scale'}, 'scale'))
        self.assertEqual((request['object']['kind'], request['oldObject']['spec']), ('Scale', {'replicas': 1}))
        proxy = self.case + 'proxy'
        self.hooks.answers[proxy] = lambda *_: {'allowed': False}
        self.configure('validating', self.webhook('connect', proxy, rules=[dict(rule, operations=['CONNECT'], resources=['services/proxy'])], **mine))
        self.request('GET', '/api/v1/namespaces/default/services/%s/proxy/path' % self.case, code=400)
        request = self.hooks.reviews(proxy)[0]['request']
        self.assertEqual((request['operation'], request['object']['kind'], request['oldObject'], request['options']),
                         ('CONNECT', 'ServiceProxyOptions', None, None))

    def test_the_validating_step_sees_the_scale_of_the_changed_object(self):
        self.request('POST', DEPLOYMENTS % 'default', self.deployment('main'), code=201)
        self.configure('validating', self.webhook('scale', self.case, objectSelector={}, rules=[
            {'operations': ['UPDATE'], 'apiGroups': ['apps'], 'apiVersions': ['v1'], 'resources': ['deployments/scale']}]))
        self.request('PUT', DEPLOYMENTS % 'default' + '/%s/scale' % self.case,
                     {'apiVersion': 'autoscaling/v1', 'kind': 'Scale', 'metadata': {'name': self.case}, 'spec': {'replicas': 3}})
        request = self.hooks.reviews(self.case)[0]['request']
        for scale, replicas in ((request['object'], 3), (request['oldObject'], 1)):
            self.assertEqual(sorted(scale['metadata']), ['creationTimestamp', 'name', 'namespace', 'resourceVersion', 'uid'])
            self.assertEqual((scale['spec'], scale['status']['selector']), ({'replicas': replicas}, '%s=%s' % (LABEL, self.case)))

    def test_a_deletion_is_reviewed_with_the_object_as_it_is(self):
        pods = '/api/v1/namespaces/default/pods'
        body = {'metadata': {'name': self.case, 'labels': {LABEL: self.case}},
                'spec': {'nodeName': 'none', 'terminationGracePeriodSeconds': 7, 'containers': [{'name': 'c', 'image': 'i'}]}}
        self.request('POST', pods, body, code=201)
        self.configure('validating', self.webhook('delete', self.case, rules=[
            {'operations': ['DELETE'], 'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['pods']}]))
        for _ in range(2):  # a second deletion of a terminating pod changes nothing
            self.request('DELETE', pods + '/' + self.case)
        self.request('DELETE', pods + '/' + self.case + '?gracePeriodSeconds=0')
        graceful, forced, removal = [review['request'] for review in self.hooks.reviews(self.case)]
        self.assertNotIn('deletionTimestamp', graceful['oldObject']['metadata'])
        self.assertEqual(graceful['options']['gracePeriodSeconds'], 7)
        self.assertEqual(forced['oldObject']['metadata']['deletionGracePeriodSeconds'], 7)
        self.assertEqual((removal['options']['gracePeriodSeconds'], removal['oldObject']['metadata']['deletionGracePeriodSeconds']), (0, 0))

    def test_an_answer_after_the_deadline_has_no_kind(self):
        self.hooks.answers[self.case] = hang
        self.configure('mutating', self.webhook('late', self.case))
        answer = self.create(code=504, query='?timeout=1s')
        self.assertEqual(list(answer), ['metadata', 'status', 'message', 'reason', 'details', 'code'])

    def test_a_patch_that_removes_the_kind_does_not_remove_it(self):
        self.hooks.answers[self.case] = lambda *_: patch({'op': 'remove', 'path': '/kind'}, {'op': 'remove', 'path': '/apiVersion'})
        self.configure('mutating', self.webhook('kind', self.case))
        made = self.create()
        self.assertEqual((made['apiVersion'], made['kind']), ('v1', 'ConfigMap'))
        self.hooks.answers[self.case] = lambda *_: patch({'op': 'replace', 'path': '/kind', 'value': 'Other'})
        self.assertEqual(self.create(self.case + '-2', code=500)['message'], 'Internal error occurred: no kind "Other" is registered for version "v1" '
                         'in scheme "pkg/runtime/scheme.go:111"')

    def test_a_namespace_belongs_to_itself(self):
        self.hooks.answers[self.case] = lambda *_: {'allowed': False}
        self.configure('validating', self.webhook('ns', self.case, namespaceSelector={'matchLabels': {LABEL: self.case}},
                                                  rules=[{'operations': ['CREATE', 'DELETE'], 'apiGroups': [''], 'apiVersions': ['v1'],
                                                          'resources': ['namespaces'], 'scope': 'Cluster'}]))
        body = {'metadata': {'name': self.case, 'labels': {LABEL: self.case}}}
        self.request('POST', '/api/v1/namespaces', body, code=400)
        self.hooks.answers[self.case] = None
        self.request('POST', '/api/v1/namespaces', body, code=201)
        self.hooks.answers[self.case] = lambda *_: {'allowed': False}
        self.request('DELETE', '/api/v1/namespaces/' + self.case, code=400)
        self.assertEqual([review['request'].get('namespace') for review in self.hooks.reviews(self.case)], [self.case] * 3)

    def test_a_dry_run_is_announced_and_stores_nothing(self):
        self.hooks.answers[self.case] = lambda *_: patch(add('/data', {'a': 'b'}))
        self.configure('mutating', self.webhook('dry', self.case, sideEffects='NoneOnDryRun'))
        self.assertEqual(self.create(query='?dryRun=All')['data'], {'a': 'b'})
        request = self.hooks.reviews(self.case)[0]['request']
        self.assertEqual((request['dryRun'], request['options']['dryRun']), (True, ['All']))
        self.request('GET', MAPS % 'default' + '/' + self.case, code=404)

    def test_warnings_reach_the_client(self):
        self.hooks.answers[self.case] = lambda *_: {'warnings': ['first "thing"', 'second']}
        self.configure('validating', self.webhook('warn', self.case))
        connection = self.server.connect()
        connection.request('POST', MAPS % 'default', json.dumps(self.map(self.case)), {'Content-Type': 'application/json'})
        response = connection.getresponse()
        self.assertEqual((response.status, response.headers.get_all('Warning')), (201, ['299 - "first \\"thing\\""', '299 - "second"']))
        connection.close()

    def test_selectors_choose_namespaces_and_objects(self):
        for ns, labels in ((self.case + '-in', {'hooked': self.case}), (self.case + '-out', {})):
            self.request('POST', '/api/v1/namespaces', {'metadata': {'name': ns, 'labels': labels}}, code=201)
        self.hooks.answers[self.case] = lambda *_: {'allowed': False}
        self.configure('validating', self.webhook('select', self.case, namespaceSelector={'matchLabels': {'hooked': self.case}}))
        # A namespace that the informer has not seen yet is read.
        self.create(ns=self.case + '-in', code=400)
        self.create(ns=self.case + '-out')
        self.create('other', ns=self.case + '-in', labels={})
        # An update that removes the label is still an update of a selected object.
        made = self.request('GET', MAPS % (self.case + '-out') + '/' + self.case)
        self.assertEqual(self.hooks.reviews(self.case)[0]['request']['namespace'], self.case + '-in')
        self.assertEqual(made['metadata']['labels'], {LABEL: self.case})

    def test_match_conditions_exclude_and_fail(self):
        self.hooks.answers[self.case] = lambda *_: {'allowed': False}
        conditions = [{'name': 'named', 'expression': 'request.name.endsWith("-yes")'},
                      {'name': 'allowed', 'expression': 'authorizer.group("").resource("configmaps").namespace("default").check("get").allowed()'}]
        self.configure('validating', self.webhook('condition', self.case, matchConditions=conditions))
        self.create(self.case + '-no')
        self.create(self.case + '-yes', code=400)
        broken = [{'name': 'broken', 'expression': 'object.nothing == "x"'}]
        self.configure('validating', self.webhook('broken', self.case + 'b', matchConditions=broken))
        answer = self.create(self.case + '-maybe', code=403)
        self.assertEqual(answer['message'], 'configmaps "%s-maybe" is forbidden: expression \'object.nothing == "x"\' resulted in error: no such key: '
                         'nothing' % self.case)
        self.assertEqual(self.hooks.reviews(self.case + 'b'), [])

    def test_configurations_are_never_intercepted(self):
        everything = {'objectSelector': {}, 'clientConfig': {'url': 'https://127.0.0.1:%d/' % free_port()}, 'timeoutSeconds': 1}
        names = [self.configure(kind, self.webhook('all', 'unused', **everything, matchConditions=[
            {'name': 'mine', 'expression': 'request.resource.group == "admissionregistration.k8s.io" || (has(request.name) && request.name == "%s")' %
             self.case}]))
            for kind in ('validating', 'mutating')]
        self.create(code=500)
        for kind, name in zip(('validating', 'mutating'), names):
            path = CONFIGURATIONS % kind + '/' + name
            self.request('PUT', path, self.request('GET', path))
            self.request('DELETE', path)

    def test_a_webhook_does_not_lock_out_what_its_own_service_needs(self):
        self.request('POST', '/api/v1/namespaces', {'metadata': {'name': self.case}}, code=201)
        client = {'service': {'namespace': self.case, 'name': 'gone', 'path': '/'}, 'caBundle': self.hooks.bundle}
        self.configure('validating', self.webhook('own', 'unused', clientConfig=client))
        self.request('POST', DEPLOYMENTS % self.case, self.deployment('main'), code=201)
        answer = self.request('POST', DEPLOYMENTS % 'default', self.deployment('main'), code=500)
        self.assertEqual(answer['message'], 'Internal error occurred: failed calling webhook "own.example.com": failed to call webhook: Post '
                         '"https://gone.%s.svc:443/?timeout=10s": service "gone" not found' % self.case)
        self.create(ns=self.case, code=500)

    def test_calls_are_counted(self):
        self.hooks.answers[self.case] = lambda *_: {'allowed': False, 'status': {'code': 403}}
        self.configure('mutating', self.webhook('counted', self.case))
        self.configure('validating', self.webhook('open', 'unused', failurePolicy='Ignore',
                                                  clientConfig={'url': 'https://127.0.0.1:%d/' % free_port()}))
        self.create(code=403)
        self.hooks.answers[self.case] = None
        self.create()
        metrics = self.server.request('GET', '/metrics')[2]
        for series in (
                'apiserver_admission_webhook_request_total{code="403",name="counted.example.com",operation="CREATE",rejected="true",type="admit"} 1',
                'apiserver_admission_webhook_request_total{code="200",name="counted.example.com",operation="CREATE",rejected="false",type="admit"} 1',
                'apiserver_admission_webhook_rejection_count{error_type="no_error",name="counted.example.com",operation="CREATE",'
                'rejection_code="403",type="admit"} 1',
                'apiserver_admission_webhook_fail_open_count{name="open.example.com",type="validating"} 1',
                'apiserver_admission_webhook_admission_duration_seconds_count{name="counted.example.com",operation="CREATE",rejected="true",'
                'type="admit"} 1'):
            self.assertIn(series, metrics)


class PluginConfiguration(WebhookCase, unittest.TestCase):
    """The settings of a WebhookAdmissionConfiguration."""

    @classmethod
    def flags(cls):
        kubeconfig = os.path.join(cls.folder.name, 'kubeconfig')
        with open(kubeconfig, 'w', encoding='utf-8') as file:
            json.dump({'apiVersion': 'v1', 'kind': 'Config', 'users': [{'name': '127.0.0.1:%d' % cls.hooks.port, 'user': {'token': 'secret'}}]}, file)
        plugin = {'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'WebhookAdmissionConfiguration', 'kubeConfigFile': kubeconfig}
        rows = [{'name': 'MutatingAdmissionWebhook', 'configuration': dict(plugin, chainBudget='3s')},
                {'name': 'ValidatingAdmissionWebhook', 'configuration': dict(plugin, circuitBreakerFailures=2)}]
        path = os.path.join(cls.folder.name, 'admission.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration', 'plugins': rows}, file)
        policy = os.path.join(cls.folder.name, 'policy.json')
        with open(policy, 'w', encoding='utf-8') as file:
            json.dump({'apiVersion': 'audit.k8s.io/v1', 'kind': 'Policy', 'omitStages': ['RequestReceived'],
                       'rules': [{'level': 'Request', 'verbs': ['create'], 'resources': [{'resources': ['configmaps']}]}, {'level': 'Metadata'}]}, file)
        cls.audit_log = os.path.join(cls.folder.name, 'audit.log')
        return ('--admission-control-config-file=' + path, '--audit-policy-file=' + policy, '--audit-log-path=' + cls.audit_log)

    def annotations(self, verb):
        """Those of the audit event of this case's map; None while it is not written."""
        with open(self.audit_log, encoding='utf-8') as file:
            events = [json.loads(line) for line in file if line.endswith('\n')]
        found = [event for event in events if event['verb'] == verb and event.get('objectRef', {}).get('name') == self.case]
        return found[0].get('annotations', {}) if found else None

    def test_audit_events_show_what_webhooks_did(self):
        self.hooks.answers[self.case] = lambda *_: dict(patch(add('/data', {'a': 'b'})), auditAnnotations={'note': 'seen'})
        name = self.configure('mutating', self.webhook('audited', self.case),
                              self.webhook('open', 'unused', failurePolicy='Ignore', clientConfig={'url': 'https://127.0.0.1:%d/' % free_port()}))
        self.create()
        self.hooks.answers[self.case] = lambda *_: {}
        self.request('PATCH', MAPS % 'default' + '/' + self.case, {'data': {'c': 'd'}}, **{'Content-Type': 'application/merge-patch+json'})
        created = {key: value for key, value in wait_for(lambda: self.annotations('create')).items() if 'webhook' in key or 'example' in key}
        said = {'configuration': name, 'webhook': 'audited.example.com'}
        self.assertEqual(json.loads(created.pop('mutation.webhook.admission.k8s.io/round_0_index_0')), dict(said, mutated=True))
        self.assertEqual(json.loads(created.pop('patch.webhook.admission.k8s.io/round_0_index_0')),
                         dict(said, patch=[add('/data', {'a': 'b'})], patchType='JSONPatch'))
        self.assertEqual(json.loads(created.pop('mutation.webhook.admission.k8s.io/round_0_index_1')),
                         dict(said, webhook='open.example.com', mutated=False))
        self.assertEqual(created, {'audited.example.com/note': 'seen',
                                   'failed-open.mutation.webhook.admission.k8s.io/round_0_index_1': 'open.example.com'})
        patched = wait_for(lambda: self.annotations('patch'))
        # Audit events contain a webhook's patch at level Request and above.
        self.assertEqual(json.loads(patched['mutation.webhook.admission.k8s.io/round_0_index_0']), dict(said, mutated=False))
        self.assertFalse([key for key in patched if key.startswith('patch.')])

    def test_credentials_come_from_the_kubeconfig(self):
        seen = []
        self.hooks.answers[self.case] = lambda handler, _: seen.append(handler.headers['Authorization']) or {}
        self.configure('validating', self.webhook('token', self.case))
        self.create()
        self.assertEqual(seen, ['Bearer secret'])

    def test_the_chain_has_a_budget(self):
        slow = [self.webhook('slow%d' % i, self.case, timeoutSeconds=2) for i in range(3)]
        self.hooks.answers[self.case] = hang
        for each in slow:
            each['failurePolicy'] = 'Ignore'
        self.configure('mutating', *slow, self.webhook('last', self.case + 'last'))
        answer = self.create(code=500)
        self.assertEqual(answer['message'], 'Internal error occurred: failed calling webhook "last.example.com": failed to call webhook: the webhooks of '
                         'this request have used up their budget of 3s')
        self.assertEqual(len(self.hooks.reviews(self.case)), 2)
        self.assertEqual(self.hooks.reviews(self.case + 'last'), [])

    def test_a_circuit_opens_and_closes(self):
        self.hooks.answers[self.case] = broken
        name = self.configure('validating', self.webhook('circuit', self.case))
        for _ in range(2):
            self.create(code=500)
        self.assertIn('its circuit breaker is open after repeated failures', self.create(code=500)['message'])
        self.assertEqual(len(self.hooks.reviews(self.case)), 2)

        seen = set()

        def events():
            return {event['reason']: event for event in self.request('GET', '/api/v1/namespaces/default/events')['items']
                    if event['involvedObject']['name'] == name and event['metadata']['name'] not in seen}
        opened = wait_for(lambda: events().get('WebhookCircuitOpened'))
        self.assertIn('circuit.example.com', opened['message'])
        self.assertIn('backplane_admission_webhook_circuit_open{name="circuit.example.com",type="validating"} 1', self.server.request('GET', '/metrics')[2])
        self.hooks.answers[self.case] = None
        self.assertTrue(wait_for(lambda: self.server.request('POST', MAPS % 'default', self.map(self.case))[0] == 201))
        self.assertTrue(wait_for(lambda: events().get('WebhookCircuitClosed')))
        self.create(self.case + '-2')
        # A changed configuration starts with a closed circuit breaker.
        seen.update(event['metadata']['name'] for event in events().values())
        self.hooks.answers[self.case] = broken
        for i in range(2):
            self.create('%s-again-%d' % (self.case, i), code=500)
        self.request('PATCH', CONFIGURATIONS % 'validating' + '/' + name, {'metadata': {'labels': {'changed': 'yes'}}},
                     **{'Content-Type': 'application/merge-patch+json'})
        self.assertTrue(wait_for(lambda: events().get('WebhookCircuitClosed', {}).get('message', '').endswith('its configuration has changed')))
        self.assertIn('backplane_admission_webhook_circuit_open{name="circuit.example.com",type="validating"} 0', self.server.request('GET', '/metrics')[2])


if __name__ == '__main__':
    main()
