"""A mutating admission plugin that changes the type of services: addresses follow the stored type, not the sent one."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
from harness import Server, main  # noqa: E402

SERVICES = '/api/v1/namespaces/default/services'


def service(name, turn=None, **spec):
    metadata = {'name': name, 'annotations': {'turner': turn}} if turn else {'name': name}
    return {'apiVersion': 'v1', 'kind': 'Service', 'metadata': metadata, 'spec': dict({'ports': [{'port': 80}]}, **spec)}


class Turner(unittest.TestCase):
    # 10.7.0.7 and 10.7.0.8 are in the lower part of the range: no service that asks for no address gets them.
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--plugin-dir', os.environ['TURNER'], '--service-cluster-ip-range=10.7.0.0/24')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def post(self, body):
        code, _, made = self.server.request('POST', SERVICES, body)
        return code, made

    def taken(self, address):
        """Whether the address is allocated: a request for it is refused."""
        code, answer = self.post(service('probe', clusterIP=address))
        if code == 201:
            self.assertEqual(self.server.request('DELETE', SERVICES + '/probe')[0], 200)
            return False
        self.assertEqual(code, 422, answer)
        self.assertIn('provided IP is already allocated', answer['message'])
        return True

    def test_a_service_that_is_turned_into_an_external_name_takes_no_address(self):
        code, made = self.post(service('out', 'ExternalName', clusterIP='10.7.0.7'))
        self.assertEqual(code, 201, made)
        self.assertEqual(made['spec']['type'], 'ExternalName')
        self.assertNotIn('clusterIP', made['spec'])
        self.assertFalse(self.taken('10.7.0.7'))

    def test_an_external_name_that_is_turned_gets_an_address(self):
        code, made = self.post(service('in', 'ClusterIP', type='ExternalName', externalName='e.example.com'))
        self.assertEqual(code, 201, made)
        self.assertEqual(made['spec']['clusterIPs'], [made['spec']['clusterIP']])
        self.assertEqual(made['spec']['ipFamilies'], ['IPv4'])
        self.assertTrue(self.taken(made['spec']['clusterIP']))

    def test_there_and_back_again(self):
        code, made = self.post(service('both', clusterIP='10.7.0.8'))
        self.assertEqual(code, 201, made)
        self.assertTrue(self.taken('10.7.0.8'))
        for _ in range(2):
            made['metadata']['annotations'] = {'turner': 'ExternalName'}
            code, _, made = self.server.request('PUT', SERVICES + '/both', made)
            self.assertEqual(code, 200, made)
            self.assertNotIn('clusterIP', made['spec'])
            self.assertFalse(self.taken('10.7.0.8'), 'what the plugin took away is free')
            made['metadata']['annotations'] = {'turner': 'ClusterIP'}
            made['spec']['clusterIP'] = '10.7.0.8'
            code, _, made = self.server.request('PUT', SERVICES + '/both', made)
            self.assertEqual(code, 200, made)
            self.assertEqual(made['spec']['clusterIP'], '10.7.0.8')
            self.assertTrue(self.taken('10.7.0.8'))


if __name__ == '__main__':
    main()
