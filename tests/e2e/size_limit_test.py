"""The largest objects: every store accepts what etcd accepts in kube-apiserver's encoding."""
import json
import unittest

from harness import Server, wait_for

PODS = '/api/v1/namespaces/default/pods'
ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
THINGS = '/apis/e.com/v1/namespaces/default/things'
TOO_LARGE = 'etcdserver: request is too large'


def pod(name, variables):
    env = [{'name': 'VARIABLE_%06d' % i, 'value': 'v' * 10} for i in range(variables)]
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name}, 'spec': {'containers': [{'name': 'c', 'image': 'i', 'env': env}]}}


def role(name, size):
    return {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'Role', 'metadata': {'name': name},
            'rules': [{'verbs': ['get'], 'apiGroups': [''], 'resources': ['x' * size]}]}


class SizeLimit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.stop)

    def ask(self, method, path, body, kind='application/json'):
        """(code, message or object)"""
        code, _, answer = self.server.request(method, path, body, headers={'Content-Type': kind})
        return code, answer if isinstance(answer, dict) else json.loads(answer)

    def test_pods_are_counted_as_protobuf(self):
        code, made = self.ask('POST', PODS, pod('managed', 15000))
        self.assertEqual((code, 'managedFields' in made['metadata']), (201, True), 'a megabyte of managers in addition to 0.7 MB of JSON')
        code, made = self.ask('POST', PODS, pod('large', 39000))
        self.assertEqual((code, 'managedFields' in made['metadata']), (201, False), 'the managers alone would not fit')
        code, answer = self.ask('POST', PODS, pod('larger', 55000))
        self.assertEqual((code, answer['message']), (500, TOO_LARGE))

    def test_the_last_byte_is_etcds(self):
        """Numbers of kube-apiserver 1.36.3 over etcd."""
        self.assertEqual(self.ask('POST', ROLES, role('a', 1572640))[0], 201)
        code, answer = self.ask('POST', ROLES, role('b', 1572641))
        self.assertEqual((code, answer['message'], answer.get('reason')), (500, TOO_LARGE, None))
        code, answer = self.ask('POST', ROLES, role('c', 2097000))
        self.assertEqual((code, answer['message']), (
            500, 'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2097209 vs. 2097152)'))

    def test_writes_that_make_an_object_grow_have_the_same_limit(self):
        self.assertEqual(self.ask('POST', ROLES, role('grows', 10))[0], 201)
        path = ROLES + '/grows'
        self.assertEqual(self.ask('PUT', path, role('grows', 1500000))[0], 200)
        for method, kind, body in (('PUT', 'application/json', role('grows', 1600000)),
                                   ('PATCH', 'application/merge-patch+json', {'rules': role('grows', 1600000)['rules']}),
                                   ('PATCH', 'application/apply-patch+yaml', role('grows', 1600000))):
            code, answer = self.ask(method, path + ('?fieldManager=t&force=true' if 'apply' in kind else ''), body, kind)
            self.assertEqual((kind, code, answer['message']), (kind, 500, TOO_LARGE))
        self.assertEqual(len(self.ask('GET', path, None)[1]['rules'][0]['resources'][0]), 1500000)

    def test_custom_resources_are_counted_as_json(self):
        definition = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'things.e.com'},
                      'spec': {'group': 'e.com', 'scope': 'Namespaced', 'names': {'plural': 'things', 'kind': 'Thing'},
                               'versions': [{'name': 'v1', 'served': True, 'storage': True,
                                             'schema': {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}]}}
        self.assertEqual(self.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)[0], 201)

        def thing(name, count):
            return {'apiVersion': 'e.com/v1', 'kind': 'Thing', 'metadata': {'name': name}, 'list': ['v' * 10] * count}
        self.assertTrue(wait_for(lambda: self.ask('GET', THINGS, None)[0] == 200))
        self.assertEqual(self.ask('POST', THINGS, thing('a', 110000))[0], 201)
        code, answer = self.ask('POST', THINGS, thing('b', 130000))
        self.assertEqual((code, answer['message']), (500, TOO_LARGE))


if __name__ == '__main__':
    unittest.main()
