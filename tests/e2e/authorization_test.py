"""Authorization webhooks, AuthorizationConfiguration, ABAC and the Node authorizer on the running server."""
import base64
import contextlib
import http.client
import http.server
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import unittest

from harness import Server, configmap, main, wait_for


def openssl(*args, **kwargs):
    return subprocess.run(['openssl', *args], check=True, capture_output=True, **kwargs).stdout


class Certificates:
    """Client certificates by the server's own authority, made with openssl."""

    def __init__(self, server):
        self.pki = os.path.join(server.dir, 'data', 'pki')
        self.dir = tempfile.mkdtemp(dir=server.dir)
        self.server = server

    def user(self, name, *groups):
        path = os.path.join(self.dir, re.sub(r'\W', '-', name))
        subject = ''.join('/O=' + group for group in groups) + '/CN=' + name
        openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', path + '.key', '-out', path + '.csr',
                '-subj', subject)
        openssl('x509', '-req', '-in', path + '.csr', '-CA', os.path.join(self.pki, 'ca.crt'), '-CAkey', os.path.join(self.pki, 'ca.key'),
                '-set_serial', str(len(os.listdir(self.dir)) + 100), '-days', '1', '-out', path + '.crt')
        return Client(self.server, path + '.crt', path + '.key')


class Client:
    def __init__(self, server, certificate, key):
        self.server = server
        self.tls = server.tls_context(client_certificate=False)
        self.tls.load_cert_chain(certificate, key)

    def request(self, method, path, body=None):
        connection = http.client.HTTPSConnection('127.0.0.1', self.server.port, context=self.tls, timeout=90)
        with contextlib.closing(connection):
            connection.request(method, path, json.dumps(body) if body is not None else None, {'Content-Type': 'application/json'})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def get(self, path):
        return self.request('GET', path)

    def reason(self, path, method='GET', body=None):
        """The reason at the end of a 403's message."""
        status, text = self.request(method, path, body)
        assert status == 403, (status, text)
        return json.loads(text)['message']


class Webhook:
    """A webhook over TLS: answer(review) gives (code, body) or blocks."""

    def __init__(self, folder, name='hook'):
        self.reviews = []
        self.answer = lambda review: (200, self.review(False))
        self.file = os.path.join(folder, name + '.kubeconfig')
        key, certificate = os.path.join(folder, name + '.key'), os.path.join(folder, name + '.crt')
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', certificate,
                '-days', '1', '-subj', '/CN=hook', '-addext', 'subjectAltName=IP:127.0.0.1')
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                webhook.reviews.append((self.path, review))
                made = webhook.answer(review)
                if made is None:  # dies
                    self.close_connection = True
                    return
                code, body = made
                body = body.encode()
                self.send_response(code)
                self.send_header('Content-Type', 'application/json')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        with open(certificate, 'rb') as f:
            ca = base64.b64encode(f.read()).decode()
        with open(self.file, 'w') as f:
            json.dump({'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',
                       'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}],
                       'clusters': [{'name': 'c', 'cluster': {'server': 'https://127.0.0.1:%d/authorize' % self.server.server_port,
                                                              'certificate-authority-data': ca}}],
                       'users': [{'name': 'u', 'user': {}}]}, f)

    @staticmethod
    def review(allowed, denied=False, reason='', version='v1'):
        status = {'allowed': allowed, 'denied': denied, 'reason': reason}
        return json.dumps({'apiVersion': 'authorization.k8s.io/' + version, 'kind': 'SubjectAccessReview', 'status': status})

    def asked(self, user):
        return [review for _, review in self.reviews if review['spec'].get('user') == user]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def metric(server, family, **labels):
    """The sum of the series with these labels."""
    status, _, text = server.request('GET', '/metrics')
    assert status == 200
    total = 0
    for line in text.splitlines():
        match = re.match(re.escape(family) + r'(?:\{(.*)\})? (\S+)$', line)
        if match and all('%s="%s"' % label in (match[1] or '') for label in labels.items()):
            total += float(match[2])
    return total


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='authorization-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + '.new', 'w') as f:
            f.write(text)
        os.rename(path + '.new', path)
        return path

    def configuration(self, *authorizers):
        return self.write('authorization.yaml', json.dumps({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AuthorizationConfiguration',
                                                            'authorizers': authorizers}))

    @staticmethod
    def hook(webhook, name='hook', policy='NoOpinion', timeout='2s', conditions=(), **more):
        return {'type': 'Webhook', 'name': name, 'webhook': {
            'timeout': timeout, 'subjectAccessReviewVersion': 'v1', 'matchConditionSubjectAccessReviewVersion': 'v1', 'failurePolicy': policy,
            'connectionInfo': {'type': 'KubeConfigFile', 'kubeConfigFile': webhook.file},
            'matchConditions': [{'expression': each} for each in conditions], **more}}

    def webhook(self, name='hook'):
        made = Webhook(self.folder, name)
        self.addCleanup(made.stop)
        return made

    def refusal(self, *flags):
        with Server(*flags, wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            return server.text()


class Webhooks(WithFolder):
    def test_the_mode_asks_the_webhook_of_the_flags_and_caches_its_answers(self):
        hook = self.webhook()
        with Server('--authorization-mode=Webhook', '--authorization-webhook-config-file=' + hook.file) as server:
            jane = Certificates(server).user('jane', 'dev')
            hook.answer = lambda review: (200, hook.review(True, version='v1beta1'))
            self.assertEqual(jane.get('/api/v1/namespaces?fieldSelector=metadata.name%3Dx&labelSelector=a')[0], 200)
            self.assertEqual(jane.get('/api/v1/namespaces?fieldSelector=metadata.name%3Dx&labelSelector=a')[0], 200)
            asked = hook.asked('jane')
            self.assertEqual(len(asked), 1, 'the second answer is cached')
            self.assertEqual(asked[0]['apiVersion'], 'authorization.k8s.io/v1beta1')
            self.assertEqual(asked[0]['spec']['group'], ['dev', 'system:authenticated'])
            self.assertEqual(asked[0]['spec']['resourceAttributes'], {
                'verb': 'list', 'version': 'v1', 'resource': 'namespaces', 'name': 'x',
                'fieldSelector': {'requirements': [{'key': 'metadata.name', 'operator': 'In', 'values': ['x']}]},
                'labelSelector': {'requirements': [{'key': 'a', 'operator': 'Exists'}]}})
            self.assertEqual(hook.reviews[0][0], '/authorize?timeout=30s')
            hook.answer = lambda review: (200, hook.review(False, denied=True, reason='not today', version='v1beta1'))
            self.assertTrue(jane.reason('/api/v1/pods').endswith('at the cluster scope: not today'))
            self.assertEqual(metric(server, 'apiserver_authorization_decisions_total', type='Webhook', name='default', decision='denied'), 1)
            self.assertEqual(metric(server, 'apiserver_authorization_decisions_total', type='Webhook', name='default', decision='allowed'), 2)
            self.assertEqual(metric(server, 'apiserver_authorization_webhook_evaluations_total', name='default', result='success'), 2)
            self.assertEqual(metric(server, 'apiserver_authorization_webhook_duration_seconds_count', name='default', result='success'), 2)
            self.assertEqual(server.request('GET', '/api/v1/pods')[0], 200)
            self.assertFalse([review for _, review in hook.reviews if 'system:masters' in review['spec'].get('group', [])],
                             'system:masters is never asked about')

    def test_webhooks_that_hang_crash_or_send_invalid_responses_follow_the_failure_policy(self):
        hook, last = self.webhook(), self.webhook('last')
        last.answer = lambda review: (200, last.review(True))
        release = threading.Event()
        self.addCleanup(release.set)
        failures = {'error': [lambda review: None, lambda review: (200, 'rubbish'), lambda review: (200, '[]'), lambda review: (404, 'x'),
                              lambda review: (200, '{"status":{"allowed":"yes"}}')],
                    'timeout': [lambda review: release.wait(60) and None]}
        for policy, expected in (('NoOpinion', 200), ('Deny', 500)):
            config = self.configuration(self.hook(hook, policy=policy, timeout='1s'), self.hook(last, name='last'))
            with Server('--authorization-config=' + config) as server:
                jane = Certificates(server).user('jane')
                for result, answers in failures.items():
                    for answer in answers:
                        hook.answer = answer
                        status, text = jane.get('/api/v1/namespaces?limit=%d' % len(hook.reviews))
                        self.assertEqual(status, expected, text)
                    self.assertGreaterEqual(metric(server, 'apiserver_authorization_webhook_evaluations_total', name='hook', result=result),
                                            len(answers))
                opened = metric(server, 'apiserver_authorization_webhook_evaluations_fail_open_total', name='hook')
                self.assertEqual(opened, 6 if policy == 'NoOpinion' else 0)
                if policy == 'Deny':
                    self.assertIn('Internal Server Error: "/api/v1/namespaces', text)

    def test_a_webhook_that_is_gone_denies_nothing_to_others(self):
        hook = self.webhook()
        config = self.configuration(self.hook(hook), {'type': 'AlwaysAllow', 'name': 'alwaysallow'})
        with Server('--authorization-config=' + config) as server:
            hook.stop()
            hook.stop = lambda: None
            self.assertEqual(Certificates(server).user('jane').get('/api/v1/namespaces')[0], 200)

    def test_conditions_choose_what_is_asked_and_reasons_are_joined(self):
        first, second = self.webhook(), self.webhook('second')
        first.answer = lambda review: (200, first.review(False, reason='first says no'))
        second.answer = lambda review: (200, second.review(False, reason='second says no'))
        config = self.configuration(
            self.hook(first, conditions=['has(request.resourceAttributes)', "request.user == 'jane'"]), self.hook(second, name='second'))
        with Server('--authorization-config=' + config) as server:
            certificates = Certificates(server)
            jane, joe = certificates.user('jane'), certificates.user('joe')
            self.assertTrue(jane.reason('/api/v1/pods').endswith(': first says no\nsecond says no'))
            self.assertTrue(joe.reason('/api/v1/pods').endswith('at the cluster scope: second says no'))
            self.assertFalse(first.asked('joe'))
            jane.reason('/metrics')
            self.assertFalse([review for review in first.asked('jane') if 'nonResourceAttributes' in review['spec']])
            self.assertEqual(metric(server, 'apiserver_authorization_match_condition_exclusions_total', type='Webhook', name='hook'), 2)
            rules = json.loads(jane.request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
                'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview',
                'spec': {'nonResourceAttributes': {'path': '/x', 'verb': 'get'}}})[1])
            self.assertEqual(rules['reason'], 'Forbidden', 'no authorizer allows even the review')


class Configuration(WithFolder):
    def test_a_change_takes_effect_and_a_bad_file_does_not(self):
        hook = self.webhook()
        hook.answer = lambda review: (200, hook.review(True))
        config = self.configuration({'type': 'AlwaysDeny', 'name': 'alwaysdeny'})
        counts = 'apiserver_authorization_config_controller_automatic_reloads_total'
        with Server('--authorization-config=' + config) as server:
            jane = Certificates(server).user('jane')
            self.assertTrue(jane.reason('/api/v1/pods').endswith('Everything is forbidden.'))
            first = re.search(r'apiserver_authorization_config_controller_last_config_info\{.*hash="(sha256:[0-9a-f]{64})"\} 1',
                              server.request('GET', '/metrics')[2])
            self.assertTrue(first)
            self.configuration(self.hook(hook), {'type': 'AlwaysDeny', 'name': 'alwaysdeny'})
            self.assertTrue(wait_for(lambda: metric(server, counts, status='success') == 1))
            self.assertEqual(jane.get('/api/v1/pods')[0], 200)
            for bad in ({'type': 'Nonsense', 'name': 'nonsense'}, {'type': 'AlwaysAllow', 'name': 'alwaysallow'}):
                before = metric(server, counts, status='failure')
                self.configuration(bad)
                self.assertTrue(wait_for(lambda: metric(server, counts, status='failure') > before))
                self.assertEqual(jane.get('/api/v1/pods')[0], 200, 'the former order stays')
            self.assertIn('missing required types: [AlwaysDeny]', server.text())
            self.configuration({'type': 'AlwaysDeny', 'name': 'alwaysdeny'})
            self.assertTrue(wait_for(lambda: metric(server, counts, status='success') == 2))
            self.assertEqual(jane.get('/api/v1/pods')[0], 403)
            self.assertEqual(metric(server, 'apiserver_authorization_config_controller_last_config_info'), 1)
            self.assertGreater(metric(server, 'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds', status='failure'), 1e9)

    def test_startup_fails_with_the_reason(self):
        hook = self.webhook()
        config = self.configuration({'type': 'Node', 'name': 'x'})
        self.assertIn('expected name node for authorizer Node instead of x', self.refusal('--authorization-config=' + config))
        self.assertIn('open /absent: no such file or directory', self.refusal('--authorization-config=/absent'))
        self.assertIn('--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
                      self.refusal('--authorization-config=' + config, '--authorization-mode=RBAC'))
        self.assertIn('timeout: Invalid value: "31s": must be > 0s and <= 30s',
                      self.refusal('--authorization-config=' + self.configuration(self.hook(hook, timeout='31s'))))
        broken = self.write('broken', '{}')
        self.assertIn('current-context is required', self.refusal('--authorization-mode=Webhook', '--authorization-webhook-config-file=' + broken))
        self.assertIn('unsupported webhook authorizer version "v2"', self.refusal(
            '--authorization-mode=Webhook', '--authorization-webhook-config-file=' + hook.file, '--authorization-webhook-version=v2'))


class Abac(WithFolder):
    def test_the_policy_decides(self):
        policy = self.write('policy', '\n'.join(json.dumps(line) for line in (
            {'apiVersion': 'abac.authorization.kubernetes.io/v1beta1', 'kind': 'Policy',
             'spec': {'user': 'jane', 'apiGroup': '*', 'resource': 'configmaps', 'namespace': 'default', 'readonly': True}},
            {'user': 'joe', 'resource': 'pods'})))
        with Server('--authorization-mode=ABAC', '--authorization-policy-file=' + policy) as server:
            certificates = Certificates(server)
            jane, joe = certificates.user('jane'), certificates.user('joe')
            self.assertEqual(jane.get('/api/v1/namespaces/default/configmaps')[0], 200)
            self.assertEqual(joe.get('/api/v1/pods')[0], 200)
            self.assertTrue(jane.reason('/api/v1/pods').endswith(': No policy matched.'))
            self.assertTrue(jane.reason('/api/v1/namespaces/default/configmaps', 'POST', configmap('x')).endswith(': No policy matched.'))

    def test_a_bad_line_makes_startup_fail(self):
        policy = self.write('policy', '# fine\nrubbish\n')
        self.assertIn('error reading policy file %s, line 2: rubbish: ' % policy,
                      self.refusal('--authorization-mode=ABAC', '--authorization-policy-file=' + policy))


class Nodes(unittest.TestCase):
    def test_a_kubelet_reads_what_its_pods_refer_to(self):
        with Server('--authorization-mode=Node') as server:
            certificates = Certificates(server)
            node = certificates.user('system:node:n1', 'system:nodes')
            other = certificates.user('system:node:n2', 'system:nodes')
            create = lambda path, body: self.assertEqual(server.request('POST', path, body)[0], 201)
            for name in ('related', 'unrelated'):
                create('/api/v1/namespaces/default/secrets', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}})
            create('/api/v1/namespaces/default/configmaps', configmap('related'))
            pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {
                'nodeName': 'n1', 'containers': [{'name': 'c', 'image': 'i', 'envFrom': [{'configMapRef': {'name': 'related'}}]}],
                'volumes': [{'name': 'v', 'secret': {'secretName': 'related'}}]}}
            create('/api/v1/namespaces/default/pods', pod)
            secret = '/api/v1/namespaces/default/secrets/'
            self.assertTrue(wait_for(lambda: node.get(secret + 'related')[0] == 200))
            self.assertEqual(node.get('/api/v1/namespaces/default/configmaps/related')[0], 200)
            no_relation = ": no relationship found between node 'n1' and this object"
            self.assertTrue(node.reason(secret + 'unrelated').endswith(no_relation))
            self.assertTrue(other.reason(secret + 'related').endswith(no_relation.replace('n1', 'n2')))
            self.assertTrue(node.reason('/api/v1/pods').endswith(': can only list/watch pods with spec.nodeName field selector'))
            self.assertEqual(node.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1')[0], 200)
            self.assertEqual(other.get('/api/v1/pods?fieldSelector=spec.nodeName%3Dn1')[0], 403)
            self.assertTrue(node.reason('/api/v1/nodes').endswith(": node 'n1' cannot read all nodes, only its own Node object"))
            self.assertEqual(node.get('/api/v1/nodes/n1')[0], 404)
            self.assertEqual(server.request('DELETE', '/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0')[0], 200)
            self.assertTrue(wait_for(lambda: node.get(secret + 'related')[0] == 403))
            self.assertEqual(metric(server, 'node_authorizer_graph_actions_duration_seconds_count', operation='AddPod'), 1)
            self.assertEqual(certificates.user('jane').get(secret + 'related')[0], 403)


if __name__ == '__main__':
    main()
