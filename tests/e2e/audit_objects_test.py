"""Contents of audit events: objects as they were sent and decoded, times of webhooks, flaws of the certificates of webhooks."""
import base64
import json
import os
import tempfile
import time
import unittest

from audit_test import HEAD, MAPS, QUIET, Folder
from harness import Server, configmap, main, wait_for
from openid_provider import TlsServer, openssl, reply

WEBHOOKS = '/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations'
KINDS = ('Mutating', 'Validating')


class Hooks(TlsServer):
    """Webhooks that allow everything after `seconds`. The certificate is for CN=localhost; `names`: its alternative names."""

    def __init__(self, names=None):
        self.seconds, self.calls = 0, 0
        folder = tempfile.mkdtemp(prefix='backplane-hooks-')
        certificate, key = os.path.join(folder, 'tls.crt'), os.path.join(folder, 'tls.key')
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key, '-out', certificate,
                '-subj', '/CN=localhost', *(['-addext', 'subjectAltName=' + names] if names else []))
        os.link(certificate, os.path.join(folder, 'ca.crt'))
        super().__init__(self.answer, folder)
        self.url = self.url.replace('127.0.0.1', 'localhost')

    def answer(self, handler):
        review = json.loads(handler.rfile.read(int(handler.headers['Content-Length'])))
        self.calls += 1
        time.sleep(self.seconds)
        reply(handler, 200, {'apiVersion': review['apiVersion'], 'kind': 'AdmissionReview',
                             'response': {'uid': review['request']['uid'], 'allowed': True}})

    def configuration(self, kind, policy):
        return {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': kind + 'WebhookConfiguration', 'metadata': {'name': 'hook'}, 'webhooks': [{
            'name': 'hook.example.com', 'sideEffects': 'None', 'admissionReviewVersions': ['v1'], 'failurePolicy': policy,
            'clientConfig': {'url': self.url, 'caBundle': base64.b64encode(self.ca.encode()).decode()},
            'rules': [{'apiGroups': [''], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['configmaps']}]}]}


class AuditedObjects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = Folder(HEAD + 'rules:\n' + QUIET + '- level: RequestResponse\n  omitStages: [RequestReceived]\n')
        cls.server = Server(*cls.files.flags())

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.files.folder.cleanup()

    def event(self, method, path, body=None, code=None):
        audit_id = 'test-%d' % time.monotonic_ns()
        answer = self.server.request(method, path, body, {'Audit-ID': audit_id})
        if code is not None:
            self.assertEqual(answer[0], code, answer)
        event, = self.files.of(audit_id, 1)
        return event

    def test_a_replacement_is_noted_as_it_was_sent(self):
        self.server.request('POST', MAPS, configmap('replaced'))
        sent = configmap('replaced', a='b')
        self.assertEqual(self.event('PUT', MAPS + '/replaced', sent, 200)['requestObject'], sent)
        for path, body in ((MAPS + '/another', sent), (MAPS + '/replaced', dict(sent, metadata={'name': 'replaced', 'namespace': 'other'}))):
            self.assertEqual(self.event('PUT', path, body, 400)['requestObject'], body)

    def test_it_has_its_defaults_in_the_order_of_the_type(self):
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'defaulted'}, 'spec': {'containers': [{'name': 'c',
            'image': 'e.example/c:1'}]}}
        for method, path in (('POST', '/api/v1/namespaces/default/pods'), ('PUT', '/api/v1/namespaces/default/pods/defaulted/status')):
            spec = self.event(method, path, pod)['requestObject']['spec']
            self.assertEqual(list(spec), ['containers', 'restartPolicy', 'terminationGracePeriodSeconds', 'dnsPolicy', 'securityContext',
                'schedulerName',
                                          'enableServiceLinks'])
            self.assertEqual(spec['containers'][0]['imagePullPolicy'], 'IfNotPresent')
        job = {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'j'}, 'spec': {'template': {'spec': dict(pod['spec'],
            restartPolicy='Never')}}}
        spec = self.event('POST', '/apis/batch/v1/namespaces/default/jobs?dryRun=All', job, 201)['requestObject']['spec']
        self.assertEqual(list(spec), ['parallelism', 'completions', 'backoffLimit', 'manualSelector', 'template', 'completionMode', 'suspend',
                                      'podReplacementPolicy'])

    def test_options_of_a_deletion_are_of_the_internal_version(self):
        for sent in ({'apiVersion': 'v1', 'kind': 'DeleteOptions'}, {'kind': 'DeleteOptions'}, {}):
            noted = self.event('DELETE', MAPS + '/none', dict(sent, propagationPolicy='Background'), 404)['requestObject']
            self.assertEqual(list(noted.items()), [('kind', 'DeleteOptions'), ('apiVersion', 'meta.k8s.io/__internal'),
                ('propagationPolicy', 'Background')])
        self.assertNotIn('requestObject', self.event('DELETE', MAPS + '/none', None, 404))

    def install(self, hooks, kind, policy='Fail'):
        path = WEBHOOKS % kind.lower()
        self.assertEqual(self.server.request('POST', path, hooks.configuration(kind, policy))[0], 201)
        self.addCleanup(lambda: self.server.request('DELETE', path + '/hook'))

    def test_slow_webhooks_are_seen_in_annotations(self):
        hooks = Hooks('DNS:localhost')
        self.addCleanup(hooks.stop)
        for kind in KINDS:
            self.install(hooks, kind)
        probes = iter(range(1000))
        wait_for(lambda: self.server.request('POST', MAPS + '?dryRun=All', configmap('probe-%d' % next(probes))) and hooks.calls >= 2, 30)
        hooks.seconds = 0.6
        annotations = self.event('POST', MAPS, configmap('slow'), 201)['annotations']
        for name in ('total', 'mutating-webhook', 'validating-webhook'):
            self.assertRegex(annotations['apiserver.latency.k8s.io/' + name], r'^(\d+\.\d+s|[6-9]\d\d\.\d+ms)$')

    def test_a_webhook_without_alternative_names_is_noted(self):
        hooks = Hooks()
        self.addCleanup(hooks.stop)
        self.install(hooks, 'Validating', 'Ignore')
        key = 'missing-san.invalid-cert.kubernetes.io/localhost'
        names = iter(range(1000))
        noted = wait_for(lambda: self.event('POST', MAPS + '?dryRun=All', configmap('flaw-%d' % next(names)))['annotations'].get(key), 30)
        self.assertEqual(noted, 'relies on a legacy Common Name field instead of the SAN extension for subject validation')


if __name__ == '__main__':
    main()
