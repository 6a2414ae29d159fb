"""Custom resources whose versions a webhook converts: both versions read and write the same objects; a faulty webhook affects only the
version that needs it."""
import base64
import http.server
import json
import os
import re
import ssl
import subprocess
import tempfile
import threading
import unittest

from harness import Server, main, wait_for

CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
GROUP = 'convert.example.com'


class Webhook:
    """A webhook that moves spec.size of v1 to spec.dimensions.size of v2 and back, unless `misbehave` says otherwise."""

    def __init__(self, folder, name='127.0.0.1', review='v1'):
        self.calls = []  # the number of objects of each
        self.misbehave = None
        self.review = review
        self.hold = threading.Event()
        names = 'IP:127.0.0.1' if name == '127.0.0.1' else 'DNS:' + name
        key, certificate = os.path.join(folder, name + '.key'), os.path.join(folder, name + '.crt')
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key,
                        '-out', certificate, '-subj', '/CN=webhook', '-addext', 'subjectAltName=' + names], check=True, capture_output=True)
        with open(certificate, encoding='utf-8') as file:
            self.ca = file.read()
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), self.handler())
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()

    def converted(self, item, desired):
        out = dict(item, apiVersion=desired)
        spec = dict(item.get('spec') or {})
        if desired.endswith('/v2') and 'size' in spec:
            spec['dimensions'] = {'size': spec.pop('size')}
        elif desired.endswith('/v1') and 'dimensions' in spec:
            spec['size'] = spec.pop('dimensions').get('size')
        out['spec'] = spec
        return out

    def answer(self, review):
        request = review['request']
        self.calls.append(len(request['objects']))
        objects = [self.converted(item, request['desiredAPIVersion']) for item in request['objects']]
        response = {'uid': request['uid'], 'result': {'status': 'Success'}, 'convertedObjects': objects}
        body = {'apiVersion': 'apiextensions.k8s.io/' + self.review, 'kind': 'ConversionReview', 'response': response}
        if self.misbehave:
            self.misbehave(body)
        return body

    def handler(self):
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                assert self.path == '/convert?timeout=30s', self.path
                assert review['apiVersion'] == 'apiextensions.k8s.io/' + webhook.review, review['apiVersion']
                try:
                    code, body = 200, json.dumps(webhook.answer(review)).encode()
                except ValueError as refused:
                    code, body = 500, str(refused).encode()
                try:
                    self.send_response(code)
                    self.send_header('Content-Type', 'application/json')
                    self.send_header('Content-Length', str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # the caller's timeout has expired

            def log_message(self, *_):
                pass

        return Handler


def definition(plural, kind, client, review='v1'):
    spec = {'v1': {'size': {'type': 'integer', 'minimum': 1}, 'color': {'type': 'string', 'default': 'red'}},
            'v2': {'dimensions': {'type': 'object', 'properties': {'size': {'type': 'integer'}}}, 'color': {'type': 'string'}}}
    versions = [{'name': name, 'served': True, 'storage': name == 'v1', 'subresources': {'status': {}},
                 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {
                     'spec': {'type': 'object', 'properties': properties},
                     'status': {'type': 'object', 'properties': {'phase': {'type': 'string'}}}}}}} for name, properties in spec.items()]
    client = dict(client, caBundle=base64.b64encode(client['caBundle'].encode()).decode())
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.' + GROUP},
            'spec': {'group': GROUP, 'scope': 'Namespaced', 'names': {'plural': plural, 'singular': kind.lower(), 'kind': kind},
                     'versions': versions, 'conversion': {'strategy': 'Webhook', 'webhook': {
                         'conversionReviewVersions': [review], 'clientConfig': client}}}}


class Conversion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server('--service-cluster-ip-range=10.7.0.0/24')
        cls.count = 0

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.webhook = Webhook(self.folder.name)
        self.addCleanup(lambda: self.webhook.stop())
        type(self).count += 1
        self.kind = 'Foo' + 'abcdefghijklmnop'[self.count]
        self.plural = self.kind.lower() + 's'

    def define(self, client=None, review='v1'):
        client = client or {'url': 'https://127.0.0.1:%d/convert' % self.webhook.port, 'caBundle': self.webhook.ca}
        code, _, crd = self.server.request('POST', CRDS, definition(self.plural, self.kind, client, review))
        self.assertEqual(code, 201, crd)
        self.assertTrue(wait_for(lambda: self.server.request('GET', self.path('v1'))[0] == 200))
        # It is served before its status says so, and a change must not conflict with that write.
        self.assertTrue(wait_for(lambda: 'Established' in [condition['type'] for condition in self.server.request(
            'GET', CRDS + '/' + crd['metadata']['name'])[2]['status'].get('conditions') or [] if condition['status'] == 'True']))

    def path(self, version, name=None):
        return '/apis/%s/%s/namespaces/default/%s%s' % (GROUP, version, self.plural, '/' + name if name else '')

    def object(self, name, version='v1', size=1, **metadata):
        spec = {'size': size} if version == 'v1' else {'dimensions': {'size': size}}
        return {'apiVersion': GROUP + '/' + version, 'kind': self.kind, 'metadata': dict(metadata, name=name), 'spec': spec}

    def create(self, name, version='v1', **options):
        code, _, made = self.server.request('POST', self.path(version), self.object(name, version, **options))
        self.assertEqual(code, 201, made)
        return made

    def get(self, version, name):
        code, _, body = self.server.request('GET', self.path(version, name))
        self.assertEqual(code, 200, body)
        return body

    def refusal(self, version='v2', name='one', method='GET', body=None):
        code, _, answer = self.server.request(method, self.path(version, name), body)
        self.assertEqual(code, 500, answer)
        self.assertNotIn('reason', answer)
        return answer['message']

    def prefix(self, version='v1'):
        return 'conversion webhook for %s/%s, Kind=%s ' % (GROUP, version, self.kind)

    def test_both_versions_read_and_write_the_same_objects(self):
        self.define()
        made = self.create('one', 'v2', size=3, labels={'a': 'b'})
        self.assertEqual(made['spec'], {'dimensions': {'size': 3}, 'color': 'red'})
        self.assertEqual(self.get('v1', 'one')['spec'], {'size': 3, 'color': 'red'})
        code, _, patched = self.server.request('PATCH', self.path('v2', 'one'), json.dumps({'spec': {'dimensions': {'size': 5}}}),
                                               {'Content-Type': 'application/merge-patch+json'})
        self.assertEqual((code, patched['spec']['dimensions'], patched['metadata']['generation']), (200, {'size': 5}, 2))
        self.assertEqual(self.get('v1', 'one')['spec']['size'], 5)
        # The stored version's rules apply to writes through another version.
        code, _, refused = self.server.request('PATCH', self.path('v2', 'one'), json.dumps({'spec': {'dimensions': {'size': 0}}}),
                                               {'Content-Type': 'application/merge-patch+json'})
        self.assertIn(code, (200, 422))
        code, _, status = self.server.request('PATCH', self.path('v2', 'one') + '/status', json.dumps({'status': {'phase': 'Ready'}}),
                                              {'Content-Type': 'application/merge-patch+json'})
        self.assertEqual((code, status['status']), (200, {'phase': 'Ready'}))
        self.assertEqual(self.get('v1', 'one')['status'], {'phase': 'Ready'})
        code, _, _ = self.server.request('DELETE', self.path('v2', 'one'))
        self.assertEqual(code, 200)

    def apply(self, version, manager, spec, code=200, force=False):
        body = {'apiVersion': GROUP + '/' + version, 'kind': self.kind, 'metadata': {'name': 'one'}, 'spec': spec}
        got, _, answer = self.server.request('PATCH', self.path(version, 'one') + '?fieldManager=%s&force=%s' % (manager, str(force).lower()),
                                             json.dumps(body), {'Content-Type': 'application/apply-patch+yaml'})
        self.assertEqual(got, code, answer)
        return answer

    def owned(self, version='v1'):
        return {(entry['manager'], entry['apiVersion'].partition('/')[2]): entry['fieldsV1'].get('f:spec')
                for entry in self.get(version, 'one')['metadata']['managedFields']}

    def test_managers_of_both_versions_share_an_object(self):
        self.define()
        self.apply('v1', 'first', {'size': 1, 'color': 'blue'}, code=201)
        for version in ('v1', 'v2'):
            self.assertEqual(self.owned(version), {('first', 'v1'): {'f:size': {}, 'f:color': {}}})
        refused = self.apply('v2', 'second', {'dimensions': {'size': 5}}, code=409)
        self.assertEqual(refused['message'], 'Apply failed with 1 conflict: conflict with "first": .spec.size')
        # Managers with the same value share the field; each entry uses the names of its version.
        self.apply('v2', 'second', {'dimensions': {'size': 1}})
        sizes = {'f:dimensions': {'f:size': {}}}
        self.assertEqual(self.owned(), {('first', 'v1'): {'f:size': {}, 'f:color': {}}, ('second', 'v2'): sizes})
        self.apply('v2', 'second', {'dimensions': {'size': 5}}, force=True)
        self.assertEqual(self.owned(), {('first', 'v1'): {'f:color': {}}, ('second', 'v2'): sizes})
        self.assertEqual(self.get('v1', 'one')['spec'], {'size': 5, 'color': 'blue'})
        # A field that a manager drops in one version disappears in the other; fields of other managers stay.
        self.apply('v1', 'first', {})
        self.assertEqual(self.get('v2', 'one')['spec'], {'dimensions': {'size': 5}, 'color': 'red'})
        self.apply('v2', 'second', {})
        self.assertNotIn('size', self.get('v1', 'one')['spec'])

    def test_objects_stored_in_an_older_version_keep_their_values(self):
        self.define()
        self.create('one', size=2, finalizers=['e2e.example.com/hold'])
        self.create('two', size=3)
        path = CRDS + '/' + self.plural + '.' + GROUP
        crd = self.server.request('GET', path)[2]
        for version in crd['spec']['versions']:
            version['storage'] = version['name'] == 'v2'
        code, _, answer = self.server.request('PUT', path, crd)
        self.assertEqual(code, 200, answer)
        self.assertTrue(wait_for(lambda: self.server.request('GET', self.path('v2', 'two'))[2].get('spec') and self.stored_is_v2()))
        merge = {'Content-Type': 'application/merge-patch+json'}
        code, _, done = self.server.request('PATCH', self.path('v2', 'two') + '/status', json.dumps({'status': {'phase': 'Ready'}}), merge)
        self.assertEqual((code, done['spec'], done['status']), (200, {'dimensions': {'size': 3}, 'color': 'red'}, {'phase': 'Ready'}))
        self.assertEqual(self.get('v1', 'two')['spec']['size'], 3)
        self.assertEqual(self.server.request('DELETE', self.path('v2', 'one'))[0], 200)
        left = self.get('v2', 'one')
        self.assertIn('deletionTimestamp', left['metadata'])
        self.assertEqual(left['spec'], {'dimensions': {'size': 2}, 'color': 'red'})
        self.assertEqual(self.server.request('PATCH', self.path('v1', 'one'), json.dumps({'metadata': {'finalizers': None}}), merge)[0], 200)
        self.assertEqual(self.server.request('GET', self.path('v1', 'one'))[0], 404)

    def stored_is_v2(self):
        """The webhook is asked for v1 now."""
        self.webhook.misbehave = lambda body: body['response'].update(convertedObjects=[])
        code = self.server.request('POST', self.path('v2') + '?dryRun=All', self.object('probe', 'v2'))[0]
        self.webhook.misbehave = None
        return code == 201

    def test_a_watch_shows_what_another_version_writes(self):
        self.define()
        connection = self.server.connect()
        connection.request('GET', self.path('v2') + '?watch=true')
        response = connection.getresponse()
        self.create('one', size=4)
        event = json.loads(response.readline())
        self.assertEqual((event['type'], event['object']['apiVersion'], event['object']['spec']['dimensions']),
                         ('ADDED', GROUP + '/v2', {'size': 4}))
        connection.close()

    def test_a_page_is_one_call_and_what_did_not_change_is_not_converted_again(self):
        self.define()
        for i in range(30):
            self.create('n%02d' % i, size=i + 1)
        self.webhook.calls.clear()
        code, _, body = self.server.request('GET', self.path('v2'))
        self.assertEqual((code, [each['spec']['dimensions']['size'] for each in body['items']]), (200, list(range(1, 31))))
        self.assertEqual(self.webhook.calls, [30])
        self.server.request('GET', self.path('v2') + '?limit=7')
        self.get('v2', 'n03')
        self.assertEqual(self.webhook.calls, [30])
        self.server.request('PUT', self.path('v1', 'n03'), dict(self.get('v1', 'n03'), spec={'size': 99}))
        self.server.request('GET', self.path('v2'))
        self.assertEqual(self.webhook.calls, [30, 1])

    def test_reviews_of_v1beta1(self):
        self.webhook.review = 'v1beta1'
        self.define(review='v1beta1')
        self.create('one', size=2)
        self.assertEqual(self.get('v2', 'one')['spec']['dimensions'], {'size': 2})

    def test_a_wrong_response_of_a_webhook_is_reported_and_affects_only_its_version(self):
        self.define()
        self.create('one', size=2)

        def response(**changes):
            self.webhook.misbehave = lambda body: body['response'].update(changes)

        def item(change):
            self.webhook.misbehave = lambda body: change(body['response']['convertedObjects'][0])

        response(uid='other')
        self.assertTrue(re.fullmatch(re.escape(self.prefix()) + r'failed: expected response.uid="[-0-9a-f]{36}", got "other"', self.refusal()))
        response(convertedObjects=[])
        self.assertEqual(self.refusal(), self.prefix() + 'returned 0 objects, expected 1')
        response(result={'status': 'Failure', 'message': 'not today'})
        self.assertEqual(self.refusal(), self.prefix() + 'failed: not today')
        item(lambda each: each.update(apiVersion=GROUP + '/v9'))
        self.assertEqual(self.refusal(), self.prefix() + 'returned invalid object at index 0: invalid groupVersion (expected %s/v2, received '
                         '%s/v9)' % (GROUP, GROUP))
        item(lambda each: each['metadata'].update(name='two'))
        self.assertEqual(self.refusal(), self.prefix() + 'returned invalid object: must have the same name: one != two')
        item(lambda each: each['metadata'].update(labels={'a': 'b c'}))
        self.assertIn('returned invalid metadata: metadata.labels: Invalid value: "b c"', self.refusal())
        self.webhook.misbehave = lambda body: body.update(kind='Other')
        self.assertIn('failed: no kind "Other" is registered for version "apiextensions.k8s.io/v1" in scheme ', self.refusal())

        def crash(_):
            raise ValueError('crashed')
        self.webhook.misbehave = crash
        self.assertEqual(self.refusal(), self.prefix() + 'failed: an error on the server ("unknown") has prevented the request from succeeding')
        # The webhook's changes of metadata are ignored; a request in the stored version does not call it.
        item(lambda each: each['metadata'].update(generation=77, resourceVersion='1', finalizers=['x']))
        self.assertEqual({key: value for key, value in self.get('v2', 'one')['metadata'].items() if key in ('generation', 'finalizers')},
                         {'generation': 1})
        self.webhook.misbehave = crash
        self.assertEqual(self.get('v1', 'one')['spec']['size'], 2)
        self.assertEqual(self.server.request('PUT', self.path('v1', 'one'), dict(self.get('v1', 'one'), spec={'size': 7}))[0], 200)
        self.assertEqual(self.server.request('GET', self.path('v2'))[0], 500)
        self.assertIn('failed: an error on the server', self.refusal(method='PUT', body=self.object('one', 'v2')))

    def test_a_webhook_that_is_unavailable_or_hangs_delays_no_other_requests(self):
        self.define()
        self.create('one', size=2)
        self.webhook.misbehave = lambda _: self.webhook.hold.wait(120)
        slow = self.server.connect(timeout=90)
        slow.request('GET', self.path('v2', 'one'))
        self.assertTrue(wait_for(lambda: self.webhook.calls))
        for _ in range(20):
            self.assertEqual(self.get('v1', 'one')['spec']['size'], 2)
        self.assertEqual(self.server.request('GET', CRDS + '/' + self.plural + '.' + GROUP)[0], 200)
        self.assertEqual(self.server.request('GET', '/apis/' + GROUP + '/v2')[0], 200)
        answer = slow.getresponse()
        message = json.loads(answer.read())['message']
        self.assertEqual(answer.status, 500)
        self.assertTrue(message.startswith(self.prefix() + 'failed: Post "https://127.0.0.1:%d/convert?timeout=30s": ' % self.webhook.port), message)
        self.assertIn('context deadline exceeded', message)
        self.webhook.stop()
        self.assertIn('connection refused', self.refusal())
        # The deletion of the definition deletes its objects, even if the webhook is unavailable.
        self.assertEqual(self.server.request('DELETE', CRDS + '/' + self.plural + '.' + GROUP)[0], 200)
        self.assertTrue(wait_for(lambda: self.server.request('GET', CRDS + '/' + self.plural + '.' + GROUP)[0] == 404))

    def test_a_certificate_that_is_not_the_bundles_is_refused(self):
        other = Webhook(self.folder.name)
        self.addCleanup(other.stop)
        self.define({'url': 'https://127.0.0.1:%d/convert' % self.webhook.port, 'caBundle': other.ca})
        self.create('one')
        self.assertIn('certificate', self.refusal())

    def test_a_webhook_of_a_service(self):
        name = 'hook.default.svc'
        hook = Webhook(self.folder.name, name)
        self.addCleanup(hook.stop)
        # An ExternalName service resolves to that host with the service's port, so the test's server must listen there.
        service = {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'hook'},
                   'spec': {'type': 'ExternalName', 'externalName': 'localhost', 'ports': [{'port': hook.port}]}}
        client = {'service': {'namespace': 'default', 'name': 'hook', 'path': '/convert', 'port': hook.port}, 'caBundle': hook.ca}
        self.define(client)
        self.create('one', size=2)
        message = self.refusal()
        self.assertEqual(message, self.prefix() + 'failed: Post "https://%s:%d/convert?timeout=30s": service "hook" not found' % (name, hook.port))
        self.assertEqual(self.server.request('POST', '/api/v1/namespaces/default/services', service)[0], 201)
        found = wait_for(lambda: self.server.request('GET', self.path('v2', 'one'))[2].get('spec'))
        self.assertEqual(found['dimensions'], {'size': 2})

    def test_calls_are_counted(self):
        self.define()
        self.create('one', size=2)
        self.get('v2', 'one')
        self.webhook.misbehave = lambda body: body['response'].update(uid='other')
        self.server.request('PUT', self.path('v1', 'one'), dict(self.get('v1', 'one'), spec={'size': 7}))
        self.refusal()
        metrics = self.server.request('GET', '/metrics')[2]
        self.assertIn('apiserver_conversion_webhook_request_total{result="success",failure_type=""}', metrics)
        self.assertIn('apiserver_conversion_webhook_request_total{result="failure",failure_type="conversion_webhook_malformed_response_failure"}',
                      metrics)
        self.assertIn('apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="%s.%s",from_version="v1",to_version="v2",succeeded="true"}'
                      % (self.plural, GROUP), metrics)


if __name__ == '__main__':
    main()
