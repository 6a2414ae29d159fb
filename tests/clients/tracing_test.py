"""Traces: what a collector, of OpenTelemetry's published protocol, receives of requests through webhooks and to an aggregated server."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import clients  # noqa: E402
from admission_webhooks_test import CONFIGURATIONS, Hooks  # noqa: E402
from harness import Server, main, wait_for  # noqa: E402

CONFIGURATION = 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: %s\nsamplingRatePerMillion: %d\n'
MAPS = '/api/v1/namespaces/default/configmaps'
TRACE, PARENT = '%032x' % 0xabc, '%016x' % 0xdef
OTELHTTP = 'go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp'


class Collector:
    def __init__(self, program):
        self.spans = []
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.spans.append(json.loads(line))

    def stop(self):
        self.process.kill()
        self.process.wait()

    def trace(self, trace, name):
        """The spans of a trace by name, once the span `name` has arrived."""
        def arrived():
            return [span for span in self.spans if span['trace'] == trace and span['name'] == name]
        assert wait_for(arrived), [span['name'] for span in self.spans]
        return {span['name']: span for span in self.spans if span['trace'] == trace}


def rule(hooks, path, kind):
    return {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': kind + 'WebhookConfiguration', 'metadata': {'name': path}, 'webhooks': [{
        'name': path + '.example.com', 'clientConfig': hooks.client(path), 'sideEffects': 'None', 'admissionReviewVersions': ['v1'],
        'rules': [{'operations': ['CREATE'], 'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['configmaps']}]}]}


def traceparent(trace=TRACE, parent=PARENT, flags='01'):
    return {'Traceparent': '00-%s-%s-%s' % (trace, parent, flags), 'Tracestate': 'a=1', 'Baggage': 'k=v'}


class Traces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            folder = os.path.join(clients.BUILD_DIR, 'tracing')
            sources = clients.recipe('tracing') + [os.path.join(HERE, 'tracing', 'main.go')]
            program = clients.go_build(folder, sources, ['backplane.dev/clients/tracing'])['tracing']
        except clients.Missing as why:
            raise unittest.SkipTest('the collector cannot be built: %s' % why)
        cls.dir = tempfile.mkdtemp(prefix='backplane-tracing-')
        cls.collector = Collector(program)
        cls.hooks = Hooks(cls.dir)
        cls.server = Server(cls.configured(cls, 0))

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.hooks.stop()
        cls.collector.stop()
        shutil.rmtree(cls.dir, ignore_errors=True)

    def configured(self, rate):
        path = os.path.join(self.dir, 'tracing-%d.yaml' % rate)
        with open(path, 'w') as f:
            f.write(CONFIGURATION % (self.collector.address, rate))
        return '--tracing-config-file=' + path

    def call(self, method, path, body=None, headers=None, code=200):
        got = self.server.request(method, path, body, headers=headers or {})
        self.assertEqual(got[0], code, got[2])
        return got

    def test_a_create_through_webhooks_is_one_tree(self):
        sent = {}
        for path in ('mutate', 'validate'):
            self.hooks.answers[path] = lambda handler, _, path=path: sent.update({path: handler.headers}) or {}
        for path, kind in (('mutate', 'Mutating'), ('validate', 'Validating')):
            where = CONFIGURATIONS % kind.lower()
            self.call('POST', where, rule(self.hooks, path, kind), code=201)
            self.addCleanup(self.server.request, 'DELETE', where + '/' + path)

        def reached():
            name = 'probe-%d' % len(self.hooks.calls)
            self.server.request('POST', MAPS + '?dryRun=All', {'metadata': {'name': name}})
            return set(sent) == {'mutate', 'validate'}
        self.assertTrue(wait_for(reached))

        _, headers, _ = self.call('POST', MAPS, {'metadata': {'name': 'traced'}}, headers=traceparent(), code=201)
        spans = self.collector.trace(TRACE, 'POST /api/v1/namespaces/{:namespace}/configmaps')
        server = spans['POST /api/v1/namespaces/{:namespace}/configmaps']
        self.assertEqual((server['parent'], server['kind'], server['state'], server['scope']), (PARENT, 'SPAN_KIND_SERVER', 'a=1', OTELHTTP))
        self.assertEqual(server['attributes']['audit-id'], headers['Audit-Id'])
        self.assertEqual(server['attributes']['http.response.status_code'], 201)
        self.assertEqual(server['attributes']['http.target'], MAPS)
        self.assertEqual(server['resource']['service.name'], 'apiserver')
        self.assertTrue(server['resource']['service.instance.id'].startswith('apiserver-'))
        parents = {'Create': 'POST /api/v1/namespaces/{:namespace}/configmaps', 'Call mutating webhook': 'Create',
                   'Call validating webhook': 'Create', 'Create etcd3': 'Create', 'SerializeObject': 'Create'}
        for name, parent in parents.items():
            self.assertEqual(spans[name]['parent'], spans[parent]['span'], name)
            self.assertLessEqual(spans[parent]['begin'], spans[name]['begin'])
            self.assertLessEqual(spans[name]['end'], spans[parent]['end'])
        self.assertEqual(spans['Create']['attributes']['resource'], 'configmaps')
        self.assertEqual([event['name'] for event in spans['Create']['events']][:1], ['limitedReadBody succeeded'])
        self.assertIn('Write to database call succeeded', [event['name'] for event in spans['Create']['events']])
        self.assertEqual(spans['Call mutating webhook']['attributes']['webhook'], 'mutate.example.com')

        # The headers that a webhook gets name the span of the call, which is a child of the span of that webhook.
        calls = {span['span']: span for span in self.collector.spans if span['trace'] == TRACE and span['name'] == 'HTTP POST'}
        for path, name in (('mutate', 'Call mutating webhook'), ('validate', 'Call validating webhook')):
            version, trace, parent, flags = sent[path]['Traceparent'].split('-')
            self.assertEqual((version, trace, flags), ('00', TRACE, '01'))
            self.assertEqual(calls[parent]['parent'], spans[name]['span'])
            self.assertEqual((calls[parent]['kind'], calls[parent]['attributes']['http.response.status_code']), ('SPAN_KIND_CLIENT', 200))
            self.assertEqual((sent[path]['Tracestate'], sent[path]['Baggage']), ('a=1', 'k=v'))

    def test_reads_have_the_spans_of_the_cache(self):
        trace = '%032x' % 0x111
        self.call('GET', '/api/v1/namespaces/default', headers=traceparent(trace))
        spans = self.collector.trace(trace, 'GET /api/v1/namespaces/{:namespace}/namespaces/{:name}')
        self.assertEqual(spans['cacher.Get']['parent'], spans['Get']['span'])
        trace = '%032x' % 0x222
        self.call('GET', MAPS, headers=traceparent(trace))
        spans = self.collector.trace(trace, 'GET /api/v1/namespaces/{:namespace}/configmaps')
        self.assertEqual(spans['cacher.GetList']['parent'], spans['List']['span'])
        self.assertEqual(spans['cacher.GetList']['attributes']['type'], 'configmaps')

    def test_what_the_parent_did_not_sample_is_not_recorded(self):
        trace = '%032x' % 0x333
        self.call('GET', MAPS, headers=traceparent(trace, flags='00'))
        after = '%032x' % 0x444
        self.call('GET', MAPS, headers=traceparent(after))
        self.collector.trace(after, 'List')
        self.assertEqual([span for span in self.collector.spans if span['trace'] == trace], [])

    def test_an_unprivileged_client_begins_a_trace_of_its_own(self):
        trace = '%032x' % 0x555
        with Server(self.configured(1000000)) as server:
            got = server.request('GET', '/version', headers=traceparent(trace), client_certificate=False)
            self.assertEqual(got[0], 200)
            link = '%s-%s' % (trace, PARENT)
            self.assertTrue(wait_for(lambda: any(span['links'] == [link] for span in self.collector.spans)))
            own = next(span for span in self.collector.spans if span['links'] == [link])
            self.assertEqual((own['name'], own['parent']), ('GET', ''))
            self.assertNotEqual(own['trace'], trace)
            # The recorded spans are also exported when the server stops.
            last = '%032x' % 0x666
            server.request('GET', '/version', headers=traceparent(last))
            self.assertEqual(server.terminate(), 0)
            self.collector.trace(last, 'GET')

    def test_a_collector_that_is_away_costs_requests_nothing(self):
        path = os.path.join(self.dir, 'away.yaml')
        with open(path, 'w') as f:
            f.write(CONFIGURATION % ('127.0.0.1:1', 1000000))
        with Server('--tracing-config-file=' + path) as server:
            for _ in range(50):
                self.assertEqual(server.request('GET', MAPS)[0], 200)
            self.assertEqual(server.terminate(), 0)
            self.assertIn('traces export: spans are lost', server.text())


if __name__ == '__main__':
    main()
