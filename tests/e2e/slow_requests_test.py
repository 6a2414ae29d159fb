"""The log explains where the time of a slow request went; headers of a client's trace are forwarded; files of --tracing-config-file."""
import re
import shutil
import tempfile
import threading
import unittest

from admission_webhooks_test import CONFIGURATIONS, Hooks
from harness import Server, main, wait_for

MAPS = '/api/v1/namespaces/default/configmaps'
PARENT = '00-%032x-%016x-01' % (7, 9)


class SlowRequests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-slow-')
        cls.hooks = Hooks(cls.dir)
        cls.server = Server()
        configuration = {
            'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'MutatingWebhookConfiguration', 'metadata': {'name': 'slow'}, 'webhooks': [{
                'name': 'slow.example.com', 'clientConfig': cls.hooks.client('slow'), 'sideEffects': 'None', 'admissionReviewVersions': ['v1'],
                'rules': [{'operations': ['CREATE'], 'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['configmaps']}]}]}
        assert cls.server.request('POST', CONFIGURATIONS % 'mutating', configuration)[0] == 201
        assert wait_for(lambda: cls.server.request('POST', MAPS + '?dryRun=All', {'metadata': {'name': 'a'}}) and cls.hooks.calls)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.hooks.stop()
        shutil.rmtree(cls.dir, ignore_errors=True)

    def create(self, name, seconds):
        # This sleep is the delay under test, not a wait for an event.
        self.hooks.answers['slow'] = lambda *_: threading.Event().wait(seconds) and None or {}
        got = self.server.request('POST', MAPS, {'metadata': {'name': name}}, headers={'Audit-ID': 'id-of-' + name})
        self.assertEqual(got[0], 201, got[2])

    def test_a_slow_create_names_its_webhook(self):
        self.create('quick', 0)
        self.create('slow', 0.7)
        self.assertTrue(wait_for(lambda: 'END' in self.server.text()))
        lines = [line for line in self.server.text().splitlines() if 'Trace[' in line]
        number = re.search(r'Trace\[(\d+)\]: "Create" accept:\S*,audit-id:id-of-slow,client:127.0.0.1,', '\n'.join(lines))[1]
        mine = [line.partition('Trace[%s]: ' % number)[2] for line in lines if 'Trace[%s]' % number in line]
        self.assertRegex(mine[0], r'resource:configmaps,scope:resource,url:/api/v1/namespaces/default/configmaps,.*verb:create '
                                  r'\(\d\d-[A-Z][a-z]{2}-\d{4} [\d:.]+\) \(total time: \d+ms\):$')
        call = r'^\["Call mutating webhook" configuration:slow,webhook:slow.example.com,.*operation:CREATE,UID:\S+ (\d+)ms \([\d:.]+\)'
        self.assertRegex(mine[1], call)
        self.assertGreaterEqual(int(re.search(call, mine[1])[1]), 690)
        self.assertRegex(mine[-1], r'^\[[\d.]+m?s\] \[[\d.]+m?s\] END$')
        self.assertNotIn('id-of-quick', '\n'.join(lines))

    def test_without_tracing_the_headers_of_the_client_are_forwarded(self):
        sent = {}
        self.hooks.answers['slow'] = lambda handler, _: sent.update(handler.headers) or {}
        headers = {'Traceparent': PARENT, 'Tracestate': 'a=1', 'Baggage': 'k=v'}
        self.assertEqual(self.server.request('POST', MAPS + '?dryRun=All', {'metadata': {'name': 'b'}}, headers=headers)[0], 201)
        self.assertEqual({name: sent.get(name) for name in headers}, headers)


class Configurations(unittest.TestCase):
    def test_a_file_that_cannot_be_used_makes_startup_fail(self):
        cases = {
            'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRatePerMillion: -1\n':
                'failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive',
            'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nrate: 1\n':
                'unable to decode tracing configuration data: strict decoding error: unknown field "rate"',
        }
        for text, problem in cases.items():
            with self.subTest(problem), tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
                file.write(text)
                file.flush()
                with Server('--tracing-config-file=' + file.name, wait=False) as server:
                    self.assertNotEqual(server.process.wait(60), 0)
                    self.assertIn(problem, server.text())


if __name__ == '__main__':
    main()
