"""Bad input of every kind over both HTTP versions: the right Status, no change, correct handling of the connection."""
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

from harness import Server, configmap, main

BASE = '/api/v1/namespaces/default/configmaps'
# name, method, path, body, headers, code, reason, part of the message
CASES = [
    ('malformed JSON', 'POST', BASE, '{"kind":', {'Content-Type': 'application/json'}, 400, 'BadRequest', 'unexpected end of JSON input'),
    ('a wrong kind', 'POST', BASE, '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}', {'Content-Type': 'application/json'}, 400, 'BadRequest',
     'Pod in version "v1" cannot be handled as a ConfigMap'),
    ('an unknown field, strictly', 'POST', BASE + '?fieldValidation=Strict', '{"metadata":{"name":"x"},"foo":1}', {'Content-Type': 'application/json'}, 400,
     'BadRequest', 'strict decoding error: unknown field "foo"'),
    ('a 4 MB body', 'POST', BASE, '{"metadata":{"name":"x"},"data":{"k":"' + 'a' * 4000000 + '"}}', {'Content-Type': 'application/json'}, 413,
     'RequestEntityTooLarge', 'limit is 3145728'),
    ('a bad resourceVersion', 'GET', BASE + '?resourceVersion=abc', None, {}, 400, None, 'abc'),
    ('a bad label selector', 'GET', BASE + '?labelSelector=a%3D%3D%3Db', None, {}, 400, 'BadRequest', 'unable to parse'),
    ('a bad field selector', 'GET', BASE + '?fieldSelector=spec.x%3D1', None, {}, 400, 'BadRequest', 'spec.x'),
    ('a bad media type', 'POST', BASE, 'x', {'Content-Type': 'text/plain'}, 415, 'UnsupportedMediaType', 'application/json'),
    ('a wrong method', 'PUT', BASE, '{}', {'Content-Type': 'application/json'}, 405, 'MethodNotAllowed', 'does not allow this method'),
    ('an unknown resource', 'GET', '/api/v1/nothing', None, {}, 404, 'NotFound', 'could not find the requested resource'),
    ('a bad name', 'POST', BASE, '{"metadata":{"name":"Bad_Name"}}', {'Content-Type': 'application/json'}, 422, 'Invalid', 'RFC 1123 subdomain'),
]


class Errors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.files = tempfile.mkdtemp()
        text = open(cls.server.kubeconfig).read()
        import base64
        import re
        for key, name in (('certificate-authority-data', 'ca'), ('client-certificate-data', 'crt'), ('client-key-data', 'key')):
            with open(os.path.join(cls.files, name), 'wb') as f:
                f.write(base64.b64decode(re.search(key + r': (\S+)', text)[1]))

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.files)

    def names(self):
        return sorted(i['metadata']['name'] for i in self.server.request('GET', BASE)[2]['items'])

    def check(self, name, got, want_code, want_reason, want_text):
        code, status = got
        self.assertEqual(code, want_code, (name, status))
        self.assertEqual(status['kind'], 'Status')
        self.assertEqual(status['status'], 'Failure')
        self.assertEqual(status['code'], want_code)
        if want_reason:
            self.assertEqual(status['reason'], want_reason)
        self.assertIn(want_text, status['message'])

    def test_http1_answers_and_goes_on_with_the_connection(self):
        before = self.names()
        for name, method, path, body, headers, code, reason, text in CASES:
            with self.subTest(name):
                conn = self.server.connect()
                try:
                    got, _, status = self.server.request(method, path, body, headers, connection=conn)
                except (BrokenPipeError, ConnectionResetError):  # too large: the server may respond and close the connection before the body is sent
                    self.assertEqual(code, 413)
                    continue
                self.check(name, (got, status), code, reason, text)
                if code != 413:
                    self.assertEqual(self.server.request('GET', '/version', connection=conn)[0], 200)
                conn.close()
        self.assertEqual(self.names(), before)

    def curl(self, *args, stdin=None):
        f = self.files
        done = subprocess.run(['curl', '-s', '--http2', '--cacert', f + '/ca', '--cert', f + '/crt', '--key', f + '/key', '-w', '\n%{http_code} %{http_version}',
                               '-H', 'User-Agent: test', *args], input=stdin, capture_output=True, text=True, timeout=60)
        body, _, tail = done.stdout.rpartition('\n')
        code, version = tail.split()
        return int(code), version, body

    @unittest.skipUnless(shutil.which('curl'), 'curl is not installed')
    def test_http2_answers_the_same(self):
        before = self.names()
        for name, method, path, body, headers, code, reason, text in CASES:
            with self.subTest(name):
                args = ['-X', method, 'https://127.0.0.1:%d%s' % (self.server.port, path)]
                for key, value in headers.items():
                    args += ['-H', '%s: %s' % (key, value)]
                if body is not None:
                    args += ['--data-binary', '@-']
                got, version, answer = self.curl(*args, stdin=body)
                self.assertEqual(version, '2')
                self.check(name, (got, json.loads(answer)), code, reason, text)
        self.assertEqual(self.names(), before)

    def test_without_a_certificate_only_health_is_shown(self):
        code, _, status = self.server.request('GET', BASE, client_certificate=False)
        self.assertEqual((code, status['reason']), (403, 'Forbidden'))
        self.assertIn('User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"', status['message'])
        for path in ('/healthz', '/livez', '/readyz', '/version'):
            self.assertEqual(self.server.request('GET', path, client_certificate=False)[0], 200, path)
        self.assertEqual(self.server.request('POST', BASE, configmap('nobody'), client_certificate=False)[0], 403)
        self.assertNotIn('nobody', self.names())

    def test_without_a_certificate_and_without_anonymous_the_answer_is_401(self):
        with Server('--anonymous-auth=false') as server:
            code, _, status = server.request('GET', BASE, client_certificate=False)
            self.assertEqual((code, status['reason'], status['message']), (401, 'Unauthorized', 'Unauthorized'))

    def test_plain_http_is_refused_with_an_explanation(self):
        client = socket.create_connection(('127.0.0.1', self.server.port))
        client.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        self.assertIn(b'Client sent an HTTP request to an HTTPS server.', client.recv(4096))
        client.close()

    def test_huge_headers_are_refused_with_431(self):
        conn = self.server.connect()
        try:
            code = self.server.request('GET', '/version', headers={'X-Big': 'a' * (2 << 20)}, connection=conn)[0]
            self.assertEqual(code, 431)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass  # refused and closed before the whole body was sent
        self.assertEqual(self.server.request('GET', '/version')[0], 200)

    def test_a_deprecated_resource_warns_with_every_answer(self):
        for path in ('/api/v1/endpoints', '/api/v1/namespaces/default/endpoints/none'):
            headers = self.server.request('GET', path)[1]
            self.assertEqual(headers.get('Warning'), '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"', path)

    def test_the_row_of_a_finished_pod_is_marked(self):
        pods = '/api/v1/namespaces/default/pods'
        as_json = {'Content-Type': 'application/json'}
        pod = '{"metadata":{"name":"done"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
        self.assertEqual(self.server.request('POST', pods, pod, as_json)[0], 201)
        patch = {'Content-Type': 'application/merge-patch+json'}
        self.assertEqual(self.server.request('PATCH', pods + '/done/status', '{"status":{"phase":"Succeeded"}}', patch)[0], 200)
        table = self.server.request('GET', pods, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})[2]
        row = table['rows'][0]
        self.assertEqual(list(row), ['cells', 'conditions', 'object'])
        self.assertEqual(row['conditions'][0]['reason'], 'Succeeded')

    def test_a_patch_that_doubles_the_depth_is_refused(self):
        """Regression: copies of a list into its deepest list ended the process."""
        self.server.request('POST', BASE, configmap('deep', k='v'))
        operations, path, levels = [{'op': 'add', 'path': '/x', 'value': []}], '/x', 1
        while levels < 1 << 16:
            operations.append({'op': 'copy', 'from': '/x', 'path': path + '/-'})
            path += '/0' * levels
            levels *= 2
        code, _, status = self.server.request('PATCH', BASE + '/deep', operations, {'Content-Type': 'application/json-patch+json'})
        self.check('depth', (code, status), 400, 'BadRequest', 'nested deeper than 1000 levels')
        self.assertEqual(self.server.request('DELETE', BASE + '/deep')[0], 200)

    def test_an_eviction_that_only_pretends_leaves_the_pod(self):
        """Regression: dryRun in the body, as kubectl drain --dry-run=server sends it, was ignored."""
        pods = '/api/v1/namespaces/default/pods'
        pod = {'metadata': {'name': 'stays'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
        self.assertEqual(self.server.request('POST', pods, pod)[0], 201)

        def evict(query='', **options):
            eviction = {'apiVersion': 'policy/v1', 'kind': 'Eviction', 'metadata': {'name': 'stays'}, 'deleteOptions': options}
            return self.server.request('POST', pods + '/stays/eviction' + query, eviction)

        self.assertEqual(evict(dryRun=['All'])[0], 201)
        self.assertEqual(evict('?dryRun=All')[0], 201)
        self.assertEqual(evict('?dryRun=All', dryRun=['All'])[0], 201)
        code, _, status = evict('?dryRun=All', dryRun=['All', 'All'])
        self.assertEqual((code, status['message']), (500, 'Non-matching dry-run options in request and content: [All] and [All All]'))
        self.assertEqual(self.server.request('GET', pods + '/stays')[0], 200)
        self.assertEqual(evict(propagationPolicy='Orphan')[0], 201)
        self.assertEqual(self.server.request('GET', pods + '/stays')[2]['metadata'].get('finalizers'), ['orphan'])
        drop = {'Content-Type': 'application/merge-patch+json'}
        self.assertEqual(self.server.request('PATCH', pods + '/stays', {'metadata': {'finalizers': None}}, drop)[0], 200)
        self.assertEqual(self.server.request('GET', pods + '/stays')[0], 404)

    def test_large_answers_are_compressed_unless_the_gate_is_off(self):
        def encoding_of(server):
            server.request('POST', BASE, configmap('large', k='x' * 200_000))
            conn = server.connect()
            conn.request('GET', BASE + '/large', headers={'Accept-Encoding': 'gzip'})
            response = conn.getresponse()
            response.read()
            conn.close()
            return response.getheader('Content-Encoding')
        self.assertEqual(encoding_of(self.server), 'gzip')
        with Server('--feature-gates=APIResponseCompression=false') as plain:
            self.assertIsNone(encoding_of(plain))

    def test_an_unknown_field_is_a_warning_by_default(self):
        code, headers, _ = self.server.request('POST', BASE + '?dryRun=All', '{"metadata":{"name":"x"},"foo":1}', {'Content-Type': 'application/json'})
        self.assertEqual(code, 201)
        self.assertEqual(headers.get('Warning'), '299 - "unknown field \\"foo\\""')


if __name__ == '__main__':
    main()
