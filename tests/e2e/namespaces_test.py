"""Deletion of namespaces by the server's controller while no kube-controller-manager runs; a slow one does not delay others."""
import json
import tempfile
import time
import unittest

from conversion_test import definition
from etcd_test import ETCD, Etcd
from harness import Server, configmap, namespace, wait_for

NAMESPACES = '/api/v1/namespaces'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
GOOD = {'NamespaceDeletionDiscoveryFailure': ('False', 'ResourcesDiscovered', 'All resources successfully discovered'),
        'NamespaceDeletionGroupVersionParsingFailure': ('False', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'),
        'NamespaceDeletionContentFailure': ('False', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization'),
        'NamespaceContentRemaining': ('False', 'ContentRemoved', 'All content successfully removed'),
        'NamespaceFinalizersRemaining': ('False', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')}


def micro_time(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds)) + '.%06dZ' % (seconds % 1 * 1e6)


class Namespaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

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

    def conditions(self, name):
        """{type: (status, reason, message)}"""
        found = self.server.request('GET', '%s/%s' % (NAMESPACES, name))[2].get('status', {}).get('conditions') or []
        return {each['type']: (each['status'], each['reason'], each['message']) for each in found}

    def wait_conditions(self, name, **wanted):
        expected = dict(GOOD, **wanted)
        self.assertTrue(wait_for(lambda: self.conditions(name) == expected), self.conditions(name))

    def release(self, path):
        released = [{'op': 'remove', 'path': '/metadata/finalizers'}]
        self.assertEqual(self.server.request('PATCH', path, released, headers={'Content-Type': 'application/json-patch+json'})[0], 200)

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
        # When the blocking object is removed, the namespace is deleted.
        released = [{'op': 'remove', 'path': '/metadata/finalizers'}]
        headers = {'Content-Type': 'application/json-patch+json'}
        target = '%s/%s/configmaps/held' % (NAMESPACES, stuck[0])
        self.assertEqual(self.server.request('PATCH', target, released, headers=headers)[0], 200)
        self.assertTrue(wait_for(lambda: self.is_gone(stuck[0])))

    def test_pods_go_first(self):
        self.make('ordered')
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p', 'finalizers': ['example.com/hold']},
               'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
        self.assertEqual(self.server.request('POST', NAMESPACES + '/ordered/pods', pod)[0], 201)
        self.delete('ordered')
        self.wait_conditions('ordered')
        self.assertIn('deletionTimestamp', self.server.request('GET', NAMESPACES + '/ordered/pods/p')[2]['metadata'])
        self.assertNotIn('deletionTimestamp', self.server.request('GET', NAMESPACES + '/ordered/configmaps/held')[2]['metadata'])
        self.release(NAMESPACES + '/ordered/pods/p')
        self.assertTrue(wait_for(lambda: self.is_gone('ordered')))

    def test_the_conditions_name_the_remaining_objects(self):
        self.make('left', ['example.com/hold'])
        self.delete('left')
        self.wait_conditions('left', NamespaceContentRemaining=(
            'True', 'SomeResourcesRemain', 'Some resources are remaining: configmaps. has 1 resource instances'),
            NamespaceFinalizersRemaining=('True', 'SomeFinalizersRemain', 'Some content in the namespace has finalizers remaining: '
                                          'example.com/hold in 1 resource instances'))
        self.release(NAMESPACES + '/left/configmaps/held')
        self.assertTrue(wait_for(lambda: self.is_gone('left')))

    def test_a_type_whose_webhook_is_dead_keeps_only_its_own_objects(self):
        crd = definition('bars', 'Bar', {'url': 'https://127.0.0.1:1/convert', 'caBundle': ''})
        del crd['spec']['conversion']['webhook']['clientConfig']['caBundle']
        crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
        self.assertEqual(self.server.request('POST', crds, crd)[0], 201)
        self.addCleanup(self.server.request, 'DELETE', crds + '/' + crd['metadata']['name'])
        group = crd['spec']['group']
        path = '/apis/%s/v1/namespaces/dead/bars' % group
        self.assertTrue(wait_for(lambda: self.server.request('GET', path)[0] == 200))
        self.make('dead')
        bar = {'apiVersion': group + '/v1', 'kind': 'Bar', 'metadata': {'name': 'b'}, 'spec': {'size': 1}}
        self.assertEqual(self.server.request('POST', path, bar)[0], 201)
        self.delete('dead')
        self.assertTrue(wait_for(lambda: self.conditions('dead').get('NamespaceDeletionContentFailure', ('',))[0] == 'True'))
        status, reason, message = self.conditions('dead')['NamespaceDeletionContentFailure']
        self.assertEqual((status, reason), ('True', 'ContentDeletionFailed'))
        self.assertTrue(message.startswith('Failed to delete all resource types, 1 remaining: conversion webhook for %s/v1, Kind=Bar' % group), message)
        self.assertEqual(self.server.request('GET', NAMESPACES + '/dead/configmaps/held')[0], 404)
        without = json.dumps({'spec': {'conversion': {'strategy': 'None', 'webhook': None}}})
        self.assertEqual(self.server.request('PATCH', crds + '/' + crd['metadata']['name'], without,
                                             headers={'Content-Type': 'application/merge-patch+json'})[0], 200)
        self.assertTrue(wait_for(lambda: self.is_gone('dead')))

    def test_a_controller_manager_that_holds_its_lease_is_left_the_work(self):
        with Server() as server:
            began = time.time()
            lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'kube-controller-manager'},
                     'spec': {'holderIdentity': 'manager', 'leaseDurationSeconds': 12, 'renewTime': micro_time(began)}}
            self.assertEqual(server.request('POST', LEASES, lease)[0], 201)
            self.assertEqual(server.request('POST', NAMESPACES, namespace('theirs'))[0], 201)
            self.assertEqual(server.request('DELETE', NAMESPACES + '/theirs')[0], 200)
            self.assertTrue(wait_for(lambda: server.request('GET', NAMESPACES + '/theirs')[0] == 404))
            self.assertGreaterEqual(time.time(), began + 12, 'the lease is held')

    @unittest.skipUnless(ETCD, 'etcd is not installed')
    def test_of_several_servers_one_works_and_another_takes_over(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url) as one, Server('--etcd-servers=' + etcd.url) as two:
            for name in ('first', 'second'):
                self.assertEqual(one.request('POST', NAMESPACES, namespace(name))[0], 201)
            self.assertEqual(one.request('DELETE', NAMESPACES + '/first')[0], 200)
            self.assertTrue(wait_for(lambda: one.request('GET', NAMESPACES + '/first')[0] == 404))
            here = 'the namespace controller runs on this server'
            self.assertTrue(wait_for(lambda: here in one.text() + two.text()))
            working, other = (one, two) if here in one.text() else (two, one)
            working.kill()
            self.assertEqual(other.request('DELETE', NAMESPACES + '/second')[0], 200)
            self.assertTrue(wait_for(lambda: other.request('GET', NAMESPACES + '/second')[0] == 404))

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
            with Server(data_dir=data_dir) as second:
                self.assertTrue(wait_for(lambda: second.request('GET', NAMESPACES + '/left')[0] == 404))


if __name__ == '__main__':
    unittest.main()
