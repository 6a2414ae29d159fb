"""Bindings: a scheduler's decision about a pod."""
import unittest

from harness import Served, main, namespace

PODS = '/api/v1/namespaces/bound/pods'
MERGE = {'Content-Type': 'application/merge-patch+json'}


class Bindings(Served, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.request('POST', '/api/v1/namespaces', namespace('bound'))

    def make_pod(self, name):
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
        status, _, made = self.server.request('POST', PODS, pod)
        self.assertEqual(status, 201, made)
        return made

    def bind(self, name, metadata=None, target=None):
        binding = {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': dict({'name': name}, **(metadata or {})),
                   'target': {'kind': 'Node', 'name': 'node'} if target is None else target}
        return self.server.request('POST', '%s/%s/binding' % (PODS, name), binding)

    def test_a_bound_pod_is_no_longer_unschedulable(self):
        self.make_pod('waiting')
        why = {'type': 'PodScheduled', 'status': 'False', 'reason': 'Unschedulable', 'message': 'no nodes'}
        self.server.request('PATCH', PODS + '/waiting/status', {'status': {'conditions': [why], 'nominatedNodeName': 'other'}}, headers=MERGE)
        self.assertEqual(self.bind('waiting', {'labels': {'zone': 'z'}, 'annotations': {'by': 'me'}})[0], 201)
        pod = self.server.request('GET', PODS + '/waiting')[2]
        self.assertEqual(pod['spec']['nodeName'], 'node')
        self.assertEqual((pod['metadata']['labels'], pod['metadata']['annotations']), ({'zone': 'z'}, {'by': 'me'}))
        self.assertNotIn('nominatedNodeName', pod['status'])
        condition = pod['status']['conditions'][0]
        self.assertEqual((condition['type'], condition['status']), ('PodScheduled', 'True'))
        self.assertFalse({'reason', 'message'} & set(condition))

    def test_a_binding_may_name_the_pod_it_means(self):
        pod = self.make_pod('meant')
        self.assertEqual(self.bind('meant', {'uid': 'other'})[0], 409)
        self.assertEqual(self.bind('meant', {'resourceVersion': '1'})[0], 409)
        self.assertEqual(self.bind('meant', {'uid': pod['metadata']['uid'], 'resourceVersion': pod['metadata']['resourceVersion']})[0], 201)

    def test_a_binding_without_a_node_has_an_error_without_a_reason(self):
        self.make_pod('nowhere')
        status, _, answer = self.bind('nowhere', target={'name': ''})
        self.assertEqual((status, answer['message']), (500, 'target.name: Required value'))
        self.assertNotIn('reason', answer)


if __name__ == '__main__':
    main()
