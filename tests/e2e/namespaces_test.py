"""Namespaces that go: emptied by the server's own controller, however long one of them takes."""
import tempfile
import unittest

from harness import Server, configmap, namespace, wait_for

NAMESPACES = '/api/v1/namespaces'


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

    def custom_type(self, plural, versions):
        group = 'two.example.com'
        schema = {'openAPIV3Schema': {'type': 'object'}}
        served = [{'name': v, 'served': True, 'storage': i == 0, 'schema': schema} for i, v in enumerate(versions)]
        kind = plural[:-1].capitalize()
        crd = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.' + group},
               'spec': {'group': group, 'scope': 'Namespaced', 'names': {'plural': plural, 'kind': kind}, 'versions': served}}
        self.assertEqual(self.server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)[0], 201)
        path = '/apis/%s/%s/namespaces/%%s/%s' % (group, versions[0], plural)
        self.assertTrue(wait_for(lambda: self.server.request('GET', path % 'default')[0] == 200))
        return path, {'apiVersion': group + '/' + versions[0], 'kind': kind, 'metadata': {'name': 'held'}}

    def test_what_only_an_older_version_of_a_group_has_goes_too(self):
        self.custom_type('newers', ['v1'])
        path, held = self.custom_type('olders', ['v1alpha1'])
        self.make('both')
        self.assertEqual(self.server.request('POST', path % 'both', held)[0], 201)
        self.delete('both')
        self.assertTrue(wait_for(lambda: self.is_gone('both')))
        self.assertEqual(self.server.request('GET', path % 'both')[2]['items'], [])

    def test_a_group_that_does_not_answer_holds_up_the_namespace_and_not_its_content(self):
        services = '/apis/apiregistration.k8s.io/v1/apiservices'
        away = {'apiVersion': 'apiregistration.k8s.io/v1', 'kind': 'APIService', 'metadata': {'name': 'v1.away.example.com'},
                'spec': {'group': 'away.example.com', 'version': 'v1', 'groupPriorityMinimum': 1, 'versionPriority': 1,
                         'service': {'name': 'none', 'namespace': 'default'}, 'insecureSkipTLSVerify': True}}
        self.assertEqual(self.server.request('POST', services, away)[0], 201)
        self.assertTrue(wait_for(lambda: self.server.request('GET', '/apis/away.example.com/v1')[0] == 503))
        groups = self.server.request('GET', '/apis')[2]['groups']
        listed = any(group['name'] == 'away.example.com' for group in groups)
        self.make('waits')
        self.delete('waits')
        held = '%s/waits/configmaps/held' % NAMESPACES
        self.assertTrue(wait_for(lambda: self.server.request('GET', held)[0] == 404), 'emptying has stopped')
        if listed:
            self.assertEqual(self.server.request('GET', NAMESPACES + '/waits')[0], 200)
        self.assertEqual(self.server.request('DELETE', services + '/v1.away.example.com')[0], 200)
        self.assertTrue(wait_for(lambda: self.is_gone('waits')))

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
