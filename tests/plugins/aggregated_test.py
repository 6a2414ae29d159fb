"""A second server, with a plugin that the first does not have, aggregated into the first: the plugin's kinds are served remotely."""
import base64
import glob
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from aggregated import IDENTITY_FLAGS, Certificates, available  # noqa: E402
from harness import PLUGINS, Server, kubectls, wait_for  # noqa: E402
from websocket_test import KEY, Socket  # noqa: E402

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
GROUP = 'tickets.example.com'
TICKETS = '/apis/%s/v1/namespaces/default/tickets' % GROUP


def ticket(name):
    return {'apiVersion': GROUP + '/v1', 'kind': 'Ticket', 'metadata': {'name': name}, 'spec': {'passenger': 'Ada Lovelace', 'seat': '12C'}}


class Aggregated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-aggregated-')
        front = Certificates(os.path.join(cls.dir, 'front'))
        backs = Certificates(os.path.join(cls.dir, 'backs'))
        proxy = front.issue('proxy', 'front-proxy-client')
        serving = backs.issue('second', 'second', 'second.default.svc', 'IP:127.0.0.1')
        with open(serving[0], 'ab') as chain:  # its kubeconfig trusts the certificates in there
            chain.write(backs.bundle())
        plugins = os.path.join(cls.dir, 'plugins')
        os.mkdir(plugins)
        for path in glob.glob(os.path.join(PLUGINS, '*.so')) + [os.environ['TWO_VERSIONS']]:
            os.symlink(os.path.abspath(path), os.path.join(plugins, os.path.basename(path)))
        front_ca = '--requestheader-client-ca-file=' + front.path('ca.crt')
        cls.second = Server(front_ca, *IDENTITY_FLAGS, '--tls-cert-file=' + serving[0], '--tls-private-key-file=' + serving[1],
                            plugin_dir=plugins, wait=False)
        cls.first = Server(front_ca, *IDENTITY_FLAGS, '--proxy-client-cert-file=' + proxy[0], '--proxy-client-key-file=' + proxy[1])
        assert wait_for(lambda: 'export KUBECONFIG=' in cls.second.text()), cls.second.text()
        cls.second.read_kubeconfig()
        bundle = base64.b64encode(backs.bundle()).decode()
        # The objects of the guide.
        with open(os.path.join(SOURCE, 'docs/examples/aggregated/apiservices.yaml'), encoding='utf-8') as f:
            text = f.read().replace('second.example.com', 'localhost').replace('6444', str(cls.second.port)).replace('CA_BUNDLE', bundle)
        made = []
        for document in text.split('---\n'):
            path = '/api/v1/namespaces/default/services' if 'kind: Service\n' in document else '/apis/apiregistration.k8s.io/v1/apiservices'
            made.append(cls.first.request('POST', path, document, headers={'Content-Type': 'application/yaml'})[0])
        assert made == [201, 201, 201], made
        for version in ('v1.', 'v2.'):
            assert wait_for(lambda name=version + GROUP: (available(cls.first, name) or ('',))[0] == 'True'), available(cls.first, version + GROUP)

    @classmethod
    def tearDownClass(cls):
        cls.first.stop()
        cls.second.stop()
        shutil.rmtree(cls.dir)

    def call(self, method, path, body=None, headers=None, code=200):
        got = self.first.request(method, path, body, headers=headers or {})
        self.assertEqual(got[0], code, got[2])
        return got[2]

    def test_every_verb_reaches_the_other_server(self):
        self.call('POST', TICKETS, ticket('a'), code=201)
        self.assertEqual(self.call('GET', TICKETS + '/a')['spec']['seat'], '12C')
        self.assertEqual(len(self.call('GET', TICKETS)['items']), 1)
        self.call('PATCH', TICKETS + '/a', {'spec': {'seat': '1A'}}, headers={'Content-Type': 'application/merge-patch+json'})
        self.assertEqual(self.call('GET', TICKETS.replace('/v1/', '/v2/') + '/a')['spec']['seat'], {'row': 1, 'letter': 'A'})
        self.call('DELETE', TICKETS + '/a')
        self.assertEqual(self.call('GET', TICKETS + '/a', code=404)['reason'], 'NotFound')

    def test_kubectl_sees_no_difference(self):
        path = 'apis/%s/v1' % GROUP
        self.assertTrue(wait_for(lambda: path in self.call('GET', '/openapi/v3')['paths']))
        for kubectl in kubectls():
            self.first.kubectl(kubectl, 'create', '-f', '-', stdin=str(ticket('k')).replace("'", '"'))
            self.assertIn('k', self.first.kubectl(kubectl, 'get', 'tickets'))
            # The old client reads types only from /openapi/v2.
            self.assertIn('passenger', self.first.kubectl(kubectl, 'explain', 'tickets.spec', '--api-version=' + GROUP + '/v1'))
            self.first.kubectl(kubectl, 'delete', 'ticket', 'k')

    def test_a_watch_is_forwarded_without_buffering(self):
        watch = self.first.connect()
        watch.request('GET', TICKETS + '?watch=1')
        stream = watch.getresponse()
        for name in ('w1', 'w2'):
            self.call('POST', TICKETS, ticket(name), code=201)
            self.assertIn('"name":"%s"' % name, stream.readline().decode())
        watch.close()
        for name in ('w1', 'w2'):
            self.call('DELETE', TICKETS + '/' + name)

    def test_a_watch_over_websocket_is_forwarded(self):
        peer = Socket(self.first, TICKETS + '?watch=1', ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: ' + KEY, 'Origin: https://a'])
        self.assertEqual(peer.status, 101)
        self.call('POST', TICKETS, ticket('ws'), code=201)
        self.assertEqual(peer.event()['object']['metadata']['name'], 'ws')
        peer.close()
        self.call('DELETE', TICKETS + '/ws')

    def test_a_client_that_is_not_the_front_proxy_cannot_set_the_user(self):
        # Identity headers of clients that are not the front proxy are ignored.
        claims = {'X-Remote-User': 'mallory', 'X-Remote-Group': 'system:masters'}
        self.assertEqual(self.second.request('GET', TICKETS, headers=claims, client_certificate=False)[0], 403)
        self.call('GET', TICKETS)


if __name__ == '__main__':
    unittest.main()
