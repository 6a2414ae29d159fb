"""The SDK's API client in a plugin of the built server: from inside, on behalf of a user, and over TLS by HTTP/2 and HTTP/1.1."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import PLUGINS, Server, configmap  # noqa: E402


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-client-')
        plugins = os.path.join(cls.dir, 'plugins')
        shutil.copytree(PLUGINS, plugins)
        shutil.copy(os.path.join(os.environ['ACTORS'], 'caller.so'), plugins)
        cls.server = Server('--require-plugin', 'test.example.com/caller', plugin_dir=plugins, data_dir=cls.dir,
                            env={'BACKPLANE_CALLER_KUBECONFIG': os.path.join(cls.dir, 'data/admin.kubeconfig')})
        for name in ('one', 'two'):
            code = cls.server.request('POST', '/api/v1/namespaces/default/configmaps', configmap(name, k='v'))[0]
            assert code == 201, code

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.dir, ignore_errors=True)

    def tour(self, way):
        code, _, answer = self.server.request('GET', '/caller/%s?name=by-%s' % (way, way))
        self.assertEqual(code, 200, answer)
        return answer

    def test_every_verb_by_every_way(self):
        for way in ('inside', 'http2', 'http1'):
            with self.subTest(way):
                name = 'by-' + way
                seen = self.tour(way)
                # The server maintains other config maps in addition to the three that the test creates.
                self.assertGreaterEqual(seen.pop('pages'), 3)
                self.assertEqual(seen, {
                    'watch': 'open', 'create': name, 'create again': '409 AlreadyExists', 'patch': 'yes', 'update': 'yes',
                    'stale update': '409 Conflict', 'informer': 'has it', 'remove': 'Success', 'get': '404 NotFound',
                    'events': '+~~-'})

    def test_on_behalf_of_a_user_without_rights(self):
        answer = self.tour('visitor')
        self.assertEqual((answer['watch'], answer['create']), ('Forbidden', '403 Forbidden'))
        self.assertIn('User "visitor" cannot create resource "configmaps" in API group "" in the namespace "default"', answer['message'])

    def test_z_the_server_stops_with_it(self):
        for way in ('http2', 'http1', 'inside'):
            self.tour(way)
        self.assertEqual(self.server.terminate(), 0, self.server.text()[-3000:])


if __name__ == '__main__':
    unittest.main()
