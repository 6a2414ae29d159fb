"""Group versions of another server: forwarded requests, their identity headers, availability, discovery, and the effect of dead and
hanging servers on other requests."""
import base64
import os
import shutil
import socket
import tempfile
import unittest

from aggregated import (GROUP, IDENTITY_FLAGS, Backend, Certificates, Hanging, apiservice, available, external, service)
from harness import Server, kubectls, main, namespace, wait_for

NAME = 'v1.' + GROUP
THINGS = '/apis/%s/v1/namespaces/default/echoes' % GROUP
APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
AGGREGATED = {'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'}


class Aggregation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-aggregation-')
        cls.front = Certificates(os.path.join(cls.dir, 'front'))
        cls.backs = Certificates(os.path.join(cls.dir, 'backs'))
        cls.proxy = cls.front.issue('proxy', 'front-proxy-client')
        cls.server = Server('--proxy-client-cert-file=' + cls.proxy[0], '--proxy-client-key-file=' + cls.proxy[1],
                            '--requestheader-client-ca-file=' + cls.front.path('ca.crt'), *IDENTITY_FLAGS,
                            '--requestheader-username-headers=X-Remote-User,X-Other-User')
        cls.call(cls, 'POST', '/api/v1/namespaces', namespace('agg'), code=201)
        cls.call(cls, 'POST', '/api/v1/namespaces/agg/services', external('echo'), code=201)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.dir)

    def tearDown(self):
        self.server.request('DELETE', APISERVICES + '/' + NAME)

    def call(self, method, path, body=None, headers=None, code=200):
        got = self.server.request(method, path, body, headers=headers or {})
        if got[0] != code:
            raise AssertionError('%s %s: %s %s\n%s' % (method, path, got[0], got[2], self.server.text()[-2000:]))
        return got[2]

    def backend(self, **how):
        backend = Backend(self.backs, **how)
        self.addCleanup(backend.stop)
        return backend

    def register(self, port, **spec):
        spec.setdefault('caBundle', base64.b64encode(self.backs.bundle()).decode())
        if spec.get('insecureSkipTLSVerify'):
            del spec['caBundle']
        self.call('POST', APISERVICES, apiservice('v1', GROUP, 'agg', 'echo', port, **spec), code=201)

    def wait_available(self, reason):
        self.assertTrue(wait_for(lambda: (available(self.server, NAME) or ('', '', ''))[1] == reason), available(self.server, NAME))
        return available(self.server, NAME)

    def serve(self, **how):
        backend = self.backend(**how)
        self.register(backend.port)
        self.assertEqual(self.wait_available('Passed'), ('True', 'Passed', 'all checks passed'))
        return backend

    def test_requests_are_forwarded_and_answered(self):
        self.serve()
        got = self.call('POST', THINGS + '?dryRun=All', {'a': 1})
        self.assertEqual((got['path'], got['method'], got['body']), (THINGS + '?dryRun=All', 'POST', '{"a": 1}'))
        self.call('GET', '/apis/%s/v1/nothing' % GROUP)

    def test_only_the_proxy_names_the_user(self):
        backend = self.serve(client_ca=self.front.path('ca.crt'))
        got = self.call('GET', THINGS, headers={'Authorization': 'Bearer secret', 'X-Remote-User': 'mallory', 'X-Other-User': 'mallory',
                                                'X-Remote-Extra-Scopes': 'all', 'Traceparent': '00-%032x-%016x-01' % (7, 9)})
        headers = [(name.lower(), value) for name, value in got['headers']]
        self.assertEqual([value for name, value in headers if name == 'x-remote-user'], ['kubernetes-admin'])
        self.assertIn('system:masters', [value for name, value in headers if name == 'x-remote-group'])
        self.assertIn('system:authenticated', [value for name, value in headers if name == 'x-remote-group'])
        self.assertTrue(any(name.startswith('x-remote-extra-authentication.kubernetes.io%2fcredential-id') for name, _ in headers), headers)
        self.assertNotIn('secret', str(headers))
        self.assertNotIn('mallory', str(headers))
        self.assertNotIn('x-remote-extra-scopes', [name for name, _ in headers])
        self.assertIn(('traceparent', '00-%032x-%016x-01' % (7, 9)), headers)
        self.assertTrue([value for name, value in headers if name == 'audit-id'])
        self.assertEqual(backend.requests[-1][2], 'front-proxy-client')

    def test_a_new_proxy_certificate_is_shown_without_a_restart(self):
        self.call('GET', '/readyz/poststarthook/aggregator-reload-proxy-client-cert')
        backend = self.serve(client_ca=self.front.path('ca.crt'))
        self.call('GET', THINGS)
        self.front.issue('proxy', 'front-proxy-successor')
        try:
            self.assertTrue(wait_for(lambda: self.call('GET', THINGS) and backend.requests[-1][2] == 'front-proxy-successor'))
        finally:
            self.front.issue('proxy', 'front-proxy-client')

    def test_its_paths_and_types_are_in_openapi_v2(self):
        backend = self.backend()
        kind = {'type': 'object', 'x-kubernetes-group-version-kind': [{'group': GROUP, 'version': 'v1', 'kind': 'Echo'}],
                'properties': {'metadata': {'$ref': '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}}}
        answered = {'description': 'OK', 'schema': {'$ref': '#/definitions/com.example.v1.Echo'}}
        limit = {'name': 'limit', 'in': 'query', 'type': 'integer'}
        backend.openapi_v2 = {'swagger': '2.0', 'info': {'title': 'echo', 'version': '1'}, 'parameters': {'limit-echo': limit}, 'paths': {
            THINGS: {'get': {'operationId': 'listEcho', 'parameters': [{'$ref': '#/parameters/limit-echo'}], 'responses': {'200': answered}}},
            '/apis/apps/v1/theirs': {'get': {'responses': {}}}},
            'definitions': {'com.example.v1.Echo': kind, 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {'type': 'object', 'description': 'theirs'},
                            'com.example.v1.Unused': {'type': 'object'}}}
        self.register(backend.port)
        self.wait_available('Passed')
        document = wait_for(lambda: (lambda found: found if THINGS in found['paths'] else None)(self.call('GET', '/openapi/v2')))
        self.assertTrue(document)
        self.assertEqual(document['paths'][THINGS], backend.openapi_v2['paths'][THINGS])
        self.assertEqual(document['definitions']['com.example.v1.Echo'], kind)
        self.assertEqual(document['parameters']['limit-echo'], limit)
        self.assertNotIn('/apis/apps/v1/theirs', document['paths'])
        self.assertNotIn('com.example.v1.Unused', document['definitions'])
        self.assertIn('properties', document['definitions']['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'])
        self.call('DELETE', APISERVICES + '/' + NAME)
        self.assertTrue(wait_for(lambda: THINGS not in self.call('GET', '/openapi/v2')['paths']))

    def test_redirects_are_refused(self):
        backend = self.serve()
        backend.broken = 'redirect'
        got = self.server.request('GET', THINGS)
        self.assertEqual((got[0], got[2]), (502, 'the backend attempted to redirect this request, which is not permitted'))

    def upgraded(self, path, protocol):
        """(the head of the answer, the connection)"""
        raw = self.server.tls.wrap_socket(socket.create_connection(('127.0.0.1', self.server.port), timeout=30),
                                          server_hostname='127.0.0.1')
        raw.sendall(('GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\nSec-WebSocket-Version: 13\r\n'
                     'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nX-Remote-User: mallory\r\n\r\n' % (path, protocol)).encode())
        head = b''
        while b'\r\n\r\n' not in head:
            got = raw.recv(1)
            self.assertTrue(got, head)
            head += got
        return head.decode(), raw

    def test_upgrades_pass_both_ways(self):
        backend = self.serve(client_ca=self.front.path('ca.crt'))
        for protocol in ('SPDY/3.1', 'websocket'):
            head, connection = self.upgraded(THINGS + '/a/exec?command=ls', protocol)
            self.assertTrue(head.startswith('HTTP/1.1 101 '), head)
            self.assertIn('upgrade: %s\r\n' % protocol.lower(), head.lower())
            self.assertIn('x-stream-protocol-version: v4', head.lower())
            path, headers, client = next(each for each in backend.requests if each[1].get('Upgrade') == protocol)
            self.assertEqual((path, headers['X-Remote-User'], client), (THINGS + '/a/exec?command=ls', 'kubernetes-admin', 'front-proxy-client'))
            for said in (b'one', b'x' * 1000):
                connection.sendall(said)
                got = b''
                while len(got) < 2 * len(said):
                    got += connection.recv(10000)
                self.assertEqual(got, said * 2)
            connection.close()
            self.assertTrue(wait_for(lambda protocol=protocol: protocol in backend.ended), backend.ended)

    def test_an_upgrade_that_the_server_refuses_is_answered_by_it(self):
        backend = self.serve()
        backend.broken = 'error'
        head, connection = self.upgraded(THINGS + '/a/exec', 'SPDY/3.1')
        connection.close()
        self.assertTrue(head.startswith('HTTP/1.1 500 '), head)

    def test_another_authority_counts_from_its_change_on(self):
        backend = self.serve()
        self.call('GET', THINGS)
        right, wrong = (base64.b64encode(of.bundle()).decode() for of in (self.backs, self.front))
        merge = {'Content-Type': 'application/merge-patch+json'}
        self.call('PATCH', APISERVICES + '/' + NAME, {'spec': {'caBundle': wrong}}, merge)
        self.assertIn('x509: certificate signed by unknown authority', self.wait_available('FailedDiscoveryCheck')[2])
        # Requests that the server sent earlier may still arrive.
        asked = [request[0] for request in backend.requests].count(THINGS)
        self.assertEqual(self.server.request('GET', THINGS)[0], 503)
        self.assertEqual([request[0] for request in backend.requests].count(THINGS), asked)
        self.call('PATCH', APISERVICES + '/' + NAME, {'spec': {'caBundle': right}}, merge)
        self.wait_available('Passed')
        self.call('GET', THINGS)

    def test_errors_are_reported_in_the_condition(self):
        self.call('POST', APISERVICES, apiservice('v1', GROUP, 'agg', 'cluster'), code=201)
        self.assertEqual(self.wait_available('ServiceNotFound')[2], 'service/cluster in "agg" is not present')
        self.assertEqual(self.server.request('GET', THINGS)[0::2], (503, 'service unavailable\n'))
        self.call('POST', '/api/v1/namespaces/agg/services', service('cluster', ports=[{'name': 'other', 'port': 80}]), code=201)
        self.assertEqual(self.wait_available('ServicePortError')[2], 'service/cluster in "agg" is not listening on port 443')
        self.call('PATCH', '/api/v1/namespaces/agg/services/cluster', {'spec': {'ports': [{'name': 'https', 'port': 443}]}},
                  headers={'Content-Type': 'application/merge-patch+json'})
        self.assertEqual(self.wait_available('EndpointsNotFound')[2], 'cannot find endpointslices for service/cluster in "agg"')
        piece = {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice', 'addressType': 'IPv4', 'endpoints': [],
                 'metadata': {'name': 'cluster-1', 'labels': {'kubernetes.io/service-name': 'cluster'}}, 'ports': [{'name': 'https', 'port': 9}]}
        self.call('POST', '/apis/discovery.k8s.io/v1/namespaces/agg/endpointslices', piece, code=201)
        self.assertEqual(self.wait_available('MissingEndpoints')[2],
                         'endpointslices for service/cluster in "agg" have no addresses with port name "https"')
        self.call('DELETE', '/api/v1/namespaces/agg/services/cluster')
        self.wait_available('ServiceNotFound')

    def test_a_server_that_cannot_be_verified_is_not_called(self):
        backend = self.backend(name='another.agg.svc')
        self.register(backend.port)
        self.assertIn('tls: failed to verify certificate: x509: certificate is valid for another.agg.svc, not echo.agg.svc',
                      self.wait_available('FailedDiscoveryCheck')[2])
        self.assertEqual(self.server.request('GET', THINGS)[0], 503)
        self.call('DELETE', APISERVICES + '/' + NAME)
        self.register(backend.port, caBundle=base64.b64encode(self.front.bundle()).decode())
        self.assertIn('x509: certificate signed by unknown authority', self.wait_available('FailedDiscoveryCheck')[2])
        self.call('DELETE', APISERVICES + '/' + NAME)
        self.register(backend.port, insecureSkipTLSVerify=True)
        self.wait_available('Passed')

    def counted(self, name):
        for line in self.call('GET', '/metrics').splitlines():
            if line.startswith('apiserver_kube_aggregator_' + name + ' '):
                return float(line.rpartition(' ')[2])
        return None

    def test_certificates_that_clients_have_stopped_to_accept_are_counted(self):
        before = self.counted('x509_missing_san_total'), self.counted('x509_insecure_sha1_total')
        self.assertNotIn(None, before)
        backend = self.backend(name=None, digest='sha1')
        self.register(backend.port, insecureSkipTLSVerify=True)
        self.wait_available('Passed')
        for _ in range(3):
            self.call('GET', THINGS)
        # This includes the documents that are read in the background.
        self.assertGreaterEqual(self.counted('x509_missing_san_total') - before[0], 3)
        self.assertGreaterEqual(self.counted('x509_insecure_sha1_total') - before[1], 3)

    def test_a_server_that_goes_and_comes_back_is_followed(self):
        backend = self.serve()
        backend.broken = 'error'
        url = 'https://localhost:%d/apis/%s/v1' % (backend.port, GROUP)
        # It is checked again when its service changes, and every half minute.
        self.call('PATCH', '/api/v1/namespaces/agg/services/echo', {'metadata': {'annotations': {'x': str(backend.port)}}},
                  headers={'Content-Type': 'application/merge-patch+json'})
        self.assertEqual(self.wait_available('FailedDiscoveryCheck')[2],
                         'failing or missing response from %s: bad status from %s: 500' % (url, url))
        self.assertEqual(self.server.request('GET', THINGS)[0::2], (503, 'service unavailable\n'))
        self.assertEqual(self.freshness(), 'Stale')
        metrics = self.call('GET', '/metrics')
        self.assertIn('aggregator_unavailable_apiservice{name="%s"} 1' % NAME, metrics)
        self.assertIn('aggregator_unavailable_apiservice_total{name="%s",reason="FailedDiscoveryCheck"}' % NAME, metrics)
        self.assertIn('aggregator_unavailable_apiservice{name="v1.discovery.k8s.io"} 0', metrics)
        backend.broken = None
        self.wait_available('Passed')
        self.assertTrue(wait_for(lambda: self.freshness() == 'Current'))

    def versions(self):
        groups = self.server.request('GET', '/apis', headers=AGGREGATED)[2]['items']
        found = [group for group in groups if group['metadata']['name'] == GROUP]
        return found[0]['versions'] if found else []

    def freshness(self):
        versions = self.versions()
        return versions[0]['freshness'] if versions else None

    def test_discovery_shows_the_documents_of_the_server(self):
        self.serve()
        self.assertTrue(wait_for(lambda: self.freshness() == 'Current'))
        echoes = self.versions()[0]['resources'][0]
        self.assertEqual((echoes['resource'], echoes['scope'], echoes['shortNames'], echoes['subresources'][0]['subresource']),
                         ('echoes', 'Namespaced', ['ec'], 'status'))
        self.assertIn(GROUP, [group['name'] for group in self.call('GET', '/apis')['groups']])
        self.assertEqual(self.call('GET', '/apis/' + GROUP)['preferredVersion']['version'], 'v1')
        self.assertEqual(self.call('GET', '/apis/%s/v1' % GROUP)['resources'][0]['name'], 'echoes')
        for kubectl in kubectls():
            self.assertIn('echoes', self.server.kubectl(kubectl, 'api-resources', '--api-group=' + GROUP))
            self.assertIn('True', self.server.kubectl(kubectl, 'get', 'apiservice', NAME))

    def test_discovery_of_a_server_with_the_aggregated_form(self):
        self.serve(aggregated=True)
        self.assertTrue(wait_for(lambda: self.freshness() == 'Current'))
        self.assertEqual([each['resource'] for each in self.versions()[0]['resources']], ['voices'])
        self.call('DELETE', APISERVICES + '/' + NAME)
        self.assertTrue(wait_for(lambda: not self.versions()))
        self.assertTrue(wait_for(lambda: self.server.request('GET', THINGS)[0] == 404))

    # Regression: requests of all clients waited for them.
    def test_servers_that_are_down_or_hang_do_not_delay_other_requests(self):
        hanging = Hanging()
        self.addCleanup(hanging.stop)
        names = []
        for i in range(20):
            for kind, port in (('dead', 1), ('hanging', hanging.port)):
                group = '%s-%d.example.com' % (kind, i)
                self.call('POST', APISERVICES, apiservice('v1', group, 'agg', 'echo', port, insecureSkipTLSVerify=True), code=201)
                names.append(group)
        self.serve()
        self.call('GET', THINGS)
        self.assertEqual(len([g for g in self.call('GET', '/apis', headers=AGGREGATED)['items'] if g['metadata']['name'] in names]), 40)
        self.call('POST', '/api/v1/namespaces', namespace('short'), code=201)
        self.call('DELETE', '/api/v1/namespaces/short')
        for kubectl in kubectls():
            self.assertIn('default', self.server.kubectl(kubectl, 'get', 'namespaces'))
        for group in names:
            self.call('DELETE', APISERVICES + '/v1.' + group)


def own_address():
    """An address of this machine that is not loopback, because endpoints must not be loopback addresses. None: there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))  # the server sends no request
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith('127.') else address


class Routing(unittest.TestCase):
    """--enable-aggregator-routing: servers are called at their endpoints, not at the address of their service."""

    def test_requests_go_to_the_endpoints_that_are_ready(self):
        address = own_address()
        if address is None:
            self.skipTest('this machine has no address but its own')
        with tempfile.TemporaryDirectory() as folder, Server('--enable-aggregator-routing=true') as server:
            backs = Certificates(os.path.join(folder, 'backs'))
            backend, other = Backend(backs, host=address), Backend(backs, host=address)
            for each in (backend, other):
                self.addCleanup(each.stop)

            def call(method, path, body=None, code=201):
                got = server.request(method, path, body, {'Content-Type': 'application/merge-patch+json'} if method == 'PATCH' else {})
                self.assertEqual(got[0], code, got[2])
                return got[2]

            def slice_of(port, ready):
                return {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice', 'addressType': 'IPv4',
                        'metadata': {'name': 'echo-%d' % port, 'labels': {'kubernetes.io/service-name': 'echo'}},
                        'ports': [{'name': 'https', 'port': port}], 'endpoints': [{'addresses': [address], 'conditions': {'ready': ready}}]}
            slices = '/apis/discovery.k8s.io/v1/namespaces/agg/endpointslices'
            call('POST', '/api/v1/namespaces', namespace('agg'))
            call('POST', '/api/v1/namespaces/agg/services', service('echo', ports=[{'name': 'https', 'port': 443, 'targetPort': 1}]))
            call('POST', slices, slice_of(backend.port, True))
            call('POST', slices, slice_of(other.port, False))
            call('POST', APISERVICES, apiservice('v1', GROUP, 'agg', 'echo', caBundle=base64.b64encode(backs.bundle()).decode()))
            self.assertTrue(wait_for(lambda: (available(server, NAME) or ('',))[0] == 'True'), available(server, NAME))
            self.assertEqual(call('GET', THINGS, code=200)['path'], THINGS)
            self.assertEqual((THINGS in [r[0] for r in backend.requests], other.requests), (True, []))
            for port, ready in ((backend.port, False), (other.port, True)):
                call('PATCH', '%s/echo-%d' % (slices, port), {'endpoints': [{'addresses': [address], 'conditions': {'ready': ready}}]}, code=200)
            self.assertTrue(wait_for(lambda: server.request('GET', THINGS)[0] == 200 and THINGS in [r[0] for r in other.requests]))


if __name__ == '__main__':
    main()
