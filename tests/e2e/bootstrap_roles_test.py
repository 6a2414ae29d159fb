"""The default roles and bindings: created at the first startup, restored at the next, and not changed if an annotation forbids it."""
import tempfile
import unittest

from etcd_test import ETCD, Etcd
from harness import Server, main

GROUP = '/apis/rbac.authorization.k8s.io/v1/'
KINDS = ('clusterroles', 'clusterrolebindings', 'roles', 'rolebindings')
AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate'
EXTRA = {'verbs': ['get'], 'apiGroups': ['example.com'], 'resources': ['things']}


def everything(server):
    """(kind, namespace, name) → object"""
    return {(kind, item['metadata'].get('namespace'), item['metadata']['name']): item
            for kind in KINDS for item in server.request('GET', GROUP + kind)[2]['items']}


def versions(objects):
    return {key: item['metadata']['resourceVersion'] for key, item in objects.items()}


class Roles(unittest.TestCase):
    def change(self, server, path, change):
        code, _, current = server.request('GET', GROUP + path)
        self.assertEqual(code, 200, current)
        change(current)
        code, _, answer = server.request('PUT', GROUP + path, current)
        self.assertEqual(code, 200, answer)

    def test_they_are_there_when_the_server_is_ready(self):
        with Server() as server:
            self.assertIn('[+]poststarthook/rbac/bootstrap-roles ok', server.request('GET', '/readyz?verbose')[2])
            found = everything(server)
            self.assertEqual([sum(key[0] == kind for key in found) for kind in KINDS], [69, 50, 7, 7])
            admin = found['clusterroles', None, 'admin']
            self.assertEqual(admin['aggregationRule'],
                             {'clusterRoleSelectors': [{'matchLabels': {'rbac.authorization.k8s.io/aggregate-to-admin': 'true'}}]})
            self.assertEqual(admin['metadata']['annotations'], {AUTO_UPDATE: 'true'})
            self.assertEqual(admin['metadata']['managedFields'][0]['manager'], 'kube-apiserver')
            self.assertEqual(found['clusterrolebindings', None, 'cluster-admin']['subjects'],
                             [{'kind': 'Group', 'apiGroup': 'rbac.authorization.k8s.io', 'name': 'system:masters'}])
            self.assertNotIn('subjects', found['clusterrolebindings', None, 'system:node'])

    def test_a_restart_writes_nothing(self):
        with tempfile.TemporaryDirectory() as data:
            with Server(data_dir=data) as server:
                before = versions(everything(server))
            with Server(data_dir=data) as server:
                self.assertEqual(versions(everything(server)), before)

    def test_a_restart_restores_missing_rules_and_keeps_additional_ones(self):
        with tempfile.TemporaryDirectory() as data:
            with Server(data_dir=data) as server:
                before = everything(server)
                basic, signer = GROUP + 'clusterroles/system:basic-user', 'namespaces/kube-system/roles/system:controller:bootstrap-signer'
                self.assertEqual(server.request('DELETE', basic)[0], 200)
                self.change(server, 'clusterroles/system:discovery', lambda role: role['rules'].append(EXTRA))
                self.change(server, 'clusterroles/system:heapster', lambda role: role.update(rules=[EXTRA]))
                # Without the label it is not in the server's list.
                self.change(server, 'clusterroles/system:kube-dns', lambda role: role['metadata'].update(labels={'mine': 'yes'}))
                self.change(server, signer, lambda role: role.update(rules=[]))
                # A binding to another role must be deleted and created again.
                self.assertEqual(server.request('DELETE', GROUP + 'clusterrolebindings/system:kube-dns')[0], 200)
                wrong = dict(before['clusterrolebindings', None, 'system:kube-dns'], metadata={'name': 'system:kube-dns'})
                wrong['roleRef'] = dict(wrong['roleRef'], name='cluster-admin')
                self.assertEqual(server.request('POST', GROUP + 'clusterrolebindings', wrong)[0], 201)
            with Server(data_dir=data) as server:
                after = everything(server)
            self.assertEqual(after.keys(), before.keys())
            role = lambda name: ('clusterroles', None, name)  # noqa: E731
            self.assertEqual(after[role('system:basic-user')]['rules'], before[role('system:basic-user')]['rules'])
            self.assertEqual(after[role('system:discovery')]['rules'], before[role('system:discovery')]['rules'] + [EXTRA])
            self.assertEqual(after[role('system:heapster')]['rules'][0], EXTRA)
            self.assertIn({'verbs': ['list'], 'apiGroups': [''], 'resources': ['nodes']}, after[role('system:heapster')]['rules'])
            self.assertEqual(after[role('system:kube-dns')]['metadata']['labels'],
                             {'mine': 'yes', 'kubernetes.io/bootstrapping': 'rbac-defaults'})
            self.assertEqual(after['roles', 'kube-system', 'system:controller:bootstrap-signer']['rules'],
                             [{'verbs': [verb], 'apiGroups': [''], 'resources': ['secrets']} for verb in ('get', 'list', 'watch')])
            binding = after['clusterrolebindings', None, 'system:kube-dns']
            self.assertEqual(binding['roleRef']['name'], 'system:kube-dns')
            self.assertEqual(binding['metadata']['labels'], {'kubernetes.io/bootstrapping': 'rbac-defaults'})

    def test_objects_that_disable_reconciliation_are_not_changed(self):
        with tempfile.TemporaryDirectory() as data:
            def take_away(binding):
                binding['metadata']['annotations'][AUTO_UPDATE] = 'false'
                del binding['subjects']
            with Server(data_dir=data) as server:
                self.change(server, 'clusterrolebindings/system:discovery', take_away)
                self.assertEqual(server.request('DELETE', GROUP + 'clusterrolebindings/system:public-info-viewer')[0], 200)
                before = everything(server)['clusterrolebindings', None, 'system:discovery']
            with Server(data_dir=data) as server:
                after = everything(server)
                self.assertIn('a default role or binding with autoupdate=false lacks default rules', server.text())
            self.assertEqual(after['clusterrolebindings', None, 'system:discovery'], before)
            # If the administrator has removed all subjects of one binding, the binding that succeeds it has none either.
            viewer = after['clusterrolebindings', None, 'system:public-info-viewer']
            self.assertNotIn('subjects', viewer)
            self.assertEqual(viewer['metadata']['annotations'][AUTO_UPDATE], 'false')

    def test_gates_give_more(self):
        with Server('--feature-gates=ClusterTrustBundle=true') as server:
            self.assertEqual(server.request('GET', GROUP + 'clusterroles/system:cluster-trust-bundle-discovery')[0], 200)

    def test_none_are_made_where_the_group_is_not_served(self):
        with Server('--runtime-config=rbac.authorization.k8s.io/v1=false') as server:
            self.assertNotIn('bootstrap-roles', server.request('GET', '/readyz?verbose')[2])


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class TwoHosts(unittest.TestCase):
    def test_two_that_start_at_once_make_them_once(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        servers = [Server('--etcd-servers=' + etcd.url, wait=False) for _ in range(2)]
        for server in servers:
            self.addCleanup(server.stop)
        for server in servers:
            server.wait_ready()
        found = [everything(server) for server in servers]
        self.assertEqual(found[0], found[1])
        self.assertEqual(len(found[0]), 133)
        self.assertNotIn('unable to initialize roles', servers[0].text() + servers[1].text())


if __name__ == '__main__':
    main()
