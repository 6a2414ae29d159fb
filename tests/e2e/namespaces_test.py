"""Namespaces that go: emptied by the server's own controller, however long one of them takes."""
import tempfile
import time
import unittest

from harness import Server, configmap, namespace

NAMESPACES = '/api/v1/namespaces'


def wait_for(what, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    return None


class Namespaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--enable-namespace-controller')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def make(self, name, finalizers=()):
        self.assertEqual(self.server.request('POST', NAMESPACES, namespace(name))[0], 201)
        held = configmap('held', k='v')
        held['metadata']['finalizers'] = list(finalizers)
        self.assertEqual(self.server.request('POST', '%s/%s/configmaps' % (NAMESPACES, name), held)[0], 201)

    def delete(self, name):
        self.assertEqual(self.server.request('DELETE', '%s/%s' % (NAMESPACES, name))[0], 200)

    def is_gone(self, name):
        return self.server.request('GET', '%s/%s' % (NAMESPACES, name))[0] == 404

    def test_a_stuck_namespace_does_not_hold_up_the_others(self):
        stuck = ['stuck-%d' % number for number in range(3)]
        for name in stuck:
            self.make(name, ['example.com/nobody'])
            self.delete(name)
        for name in stuck:  # the controller has begun with each of them
            target = '%s/%s/configmaps/held' % (NAMESPACES, name)
            self.assertTrue(wait_for(lambda: 'deletionTimestamp' in self.server.request('GET', target)[2]['metadata']), name)
        self.make('free')
        self.delete('free')
        self.assertTrue(wait_for(lambda: self.is_gone('free')), 'namespace free waits behind a stuck one')
        for name in stuck:
            self.assertEqual(self.server.request('GET', '%s/%s' % (NAMESPACES, name))[2]['status']['phase'], 'Terminating')
        # What was in the way goes, and so does the namespace.
        released = [{'op': 'remove', 'path': '/metadata/finalizers'}]
        headers = {'Content-Type': 'application/json-patch+json'}
        target = '%s/%s/configmaps/held' % (NAMESPACES, stuck[0])
        self.assertEqual(self.server.request('PATCH', target, released, headers=headers)[0], 200)
        self.assertTrue(wait_for(lambda: self.is_gone(stuck[0])))

    def test_namespaces_deleted_while_the_server_was_down_go_after_its_start(self):
        with tempfile.TemporaryDirectory(prefix='backplane-test-') as data_dir:
            with Server('--enable-namespace-controller=false', data_dir=data_dir) as first:
                self.assertEqual(first.request('POST', NAMESPACES, namespace('left'))[0], 201)
                self.assertEqual(first.request('DELETE', NAMESPACES + '/left')[0], 200)
                self.assertEqual(first.request('GET', NAMESPACES + '/left')[2]['status']['phase'], 'Terminating')
                first.terminate()
            with Server('--enable-namespace-controller', data_dir=data_dir) as second:
                self.assertTrue(wait_for(lambda: second.request('GET', NAMESPACES + '/left')[0] == 404))


if __name__ == '__main__':
    unittest.main()
