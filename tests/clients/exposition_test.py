"""/metrics read by Prometheus' own parser, as text and as delimited messages, after requests of every kind."""
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../e2e'))
sys.path.insert(0, HERE)
import clients  # noqa: E402
from harness import Server, configmap, main  # noqa: E402

DELIMITED = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
MAPS = '/api/v1/namespaces/default/configmaps'
LIMITS = '/api/v1/namespaces/default/limitranges'
SERVICES = '/api/v1/namespaces/default/services'
EXPECTED = {
    'apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="create"}',
    'field_validation_request_duration_seconds_count{field_validation="Strict"}',
    'kube_apiserver_clusterip_allocator_allocated_ips{cidr="10.0.0.0/24"}',
    'kube_apiserver_clusterip_allocator_available_ips{cidr="10.0.0.0/24"}',
    'kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/24",scope="dynamic"}',
    'kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/24",scope="static"}',
    'kube_apiserver_clusterip_allocator_allocation_errors_total{cidr="10.0.0.0/24",scope="static"}',
    'kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{cidr="10.0.0.0/24"}',
    'kube_apiserver_nodeport_allocator_allocated_ports',
    'kube_apiserver_nodeport_allocator_available_ports',
    'kube_apiserver_nodeport_allocator_allocation_total{scope="dynamic"}',
    'kube_apiserver_nodeport_allocator_allocation_errors_total{scope="static"}',
    'version_info{binary="1.36",component="kube",emulation="1.36",min_compat="1.35"}',
    'aggregator_discovery_aggregation_count_total',
    'rest_client_requests_total{code="200",host="localhost",method="GET"}',
    'rest_client_request_duration_seconds_count{host="localhost",verb="GET"}',
}


def service(name, **spec):
    return {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': name}, 'spec': dict({'ports': [{'port': 80}]}, **spec)}


class Exposition(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.program = clients.build_own(os.path.join(HERE, 'exposition', 'main.go'))
        except clients.Missing as why:
            raise unittest.SkipTest(str(why)) from None
        cls.server = Server('--service-cluster-ip-range=10.0.0.0/24', controllers=True)
        cls.addClassCleanup(cls.server.stop)
        request = cls.server.request
        for number in range(3):
            assert request('POST', MAPS + '?fieldValidation=Strict', configmap('m%d' % number, k='v'))[0] == 201
        request('GET', MAPS + '?limit=1')
        request('PATCH', MAPS + '/m0', {'data': {'k': 'w'}}, headers={'Content-Type': 'application/merge-patch+json'})
        request('DELETE', MAPS + '/m0')
        request('GET', MAPS + '/none')
        request('GET', '/apis', headers={'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'})
        assert request('POST', LIMITS, {'metadata': {'name': 'l'}, 'spec': {'limits': [{'type': 'Pod', 'max': {'cpu': '1'}}]}})[0] == 201
        assert request('POST', SERVICES, service('a'))[0] == 201
        assert request('POST', SERVICES, service('b', clusterIP='10.0.0.9'))[0] == 201
        assert request('POST', SERVICES, service('c', clusterIP='10.0.0.9'))[0] == 422
        assert request('POST', SERVICES, service('d', type='NodePort'))[0] == 201
        assert request('POST', SERVICES, service('e', type='NodePort', ports=[{'port': 80, 'nodePort': 1}]))[0] == 422

    def body(self, accept):
        connection = self.server.connect()
        connection.request('GET', '/metrics', headers={'Accept': accept})
        body = connection.getresponse().read()
        connection.close()
        return body

    def read(self, form, body):
        read = subprocess.run([self.program, form], input=body, capture_output=True, timeout=120)
        self.assertEqual(read.returncode, 0, read.stdout.decode() + read.stderr.decode())
        return [int(number) for number in read.stdout.split() if number.isdigit()]

    def test_text(self):
        families, series = self.read('text', self.body('text/plain'))
        self.assertGreater(families, 100)
        self.assertGreater(series, 300)

    def test_delimited_messages(self):
        families, series = self.read('delimited', self.body(DELIMITED))
        self.assertGreater(families, 100)
        self.assertGreater(series, 300)

    def test_the_parser_finds_mistakes(self):
        broken = self.body('text/plain').replace(b'# TYPE apiserver_request_total counter', b'# TYPE apiserver_request_total number')
        read = subprocess.run([self.program, 'text'], input=broken, capture_output=True, timeout=120)
        self.assertEqual(read.returncode, 1)
        self.assertIn(b'number', read.stdout)

    def test_series(self):
        found = dict(line.rsplit(' ', 1) for line in self.body('text/plain').decode().splitlines() if not line.startswith('#'))
        self.assertEqual(EXPECTED - set(found), set())
        allocator = 'kube_apiserver_clusterip_allocator_%s{cidr="10.0.0.0/24"}'
        used, free = (int(float(found[allocator % name])) for name in ('allocated_ips', 'available_ips'))
        self.assertEqual((used, used + free), (4, 254))  # the service kubernetes, and three others
        self.assertEqual(found['kube_apiserver_nodeport_allocator_allocated_ports'], '1')
        # The controllers create none of these.
        self.assertEqual(found['apiserver_request_body_size_bytes_count{group="",resource="limitranges",verb="create"}'], '1')
        self.assertEqual(found['field_validation_request_duration_seconds_count{field_validation="Strict"}'], '0')
        queues = [name for name in found if name.startswith('workqueue_adds_total')]
        self.assertGreater(len(queues), 3, queues)


if __name__ == '__main__':
    main()
