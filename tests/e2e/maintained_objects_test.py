"""Objects that the server maintains: service addresses and ranges, its endpoint slice, its identity lease."""
import json
import re
import tempfile
import unittest

from harness import Server, wait_for

ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses'
RANGES = '/apis/networking.k8s.io/v1/servicecidrs'
SERVICES = '/api/v1/namespaces/default/services'
SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes'


def service(name, **spec):
    return {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': name}, 'spec': dict(spec, ports=[{'port': 80}])}


def address(name, parent='x', **metadata):
    return {'apiVersion': 'networking.k8s.io/v1', 'kind': 'IPAddress', 'metadata': dict(metadata, name=name),
            'spec': {'parentRef': {'resource': 'gateways', 'group': 'example.com', 'name': parent}}}


def names(server, path):
    return [item['metadata']['name'] for item in server.request('GET', path)[2]['items']]


class PeerLease(unittest.TestCase):
    def test_a_server_on_a_loopback_address_writes_no_peer_lease(self):
        # Regression: the write was retried every ten seconds, and refused.
        server = Server('--advertise-address=127.0.0.1', '-v=3')
        self.addCleanup(server.stop)
        self.assertIn('no peer endpoint lease', server.text())
        self.assertNotIn('unable to update peer endpoint leases', server.text())


class Addresses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--service-cluster-ip-range=10.7.0.0/24')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def create(self, body, path=SERVICES):
        return self.server.request('POST', path, body)

    def test_every_cluster_ip_is_an_object_and_goes_with_its_service(self):
        code, _, made = self.create(service('one'))
        self.assertEqual(code, 201, made)
        ip = made['spec']['clusterIP']
        code, _, entry = self.server.request('GET', ADDRESSES + '/' + ip)
        self.assertEqual(code, 200, entry)
        self.assertEqual(entry['spec'], {'parentRef': {'resource': 'services', 'namespace': 'default', 'name': 'one'}})
        self.assertEqual(entry['metadata']['labels'], {'ipaddress.kubernetes.io/ip-family': 'IPv4',
                                                       'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io'})
        self.assertIn(ip, names(self.server, ADDRESSES + '?labelSelector=ipaddress.kubernetes.io/ip-family%3DIPv4'))
        self.assertEqual(self.server.request('DELETE', SERVICES + '/one')[0], 200)
        self.assertEqual(self.server.request('GET', ADDRESSES + '/' + ip)[0], 404)

    def test_a_service_without_a_name_gets_no_address(self):
        spec = {'spec': {'ports': [{'port': 80}]}}
        code, _, refused = self.create({'metadata': {}, **spec})
        self.assertEqual(code, 422)
        self.assertRegex(refused['message'], r'^Service "" is invalid: spec\.clusterIPs: Invalid value: \[""\]: failed to allocate IP: '
                         r'IPAddress\.networking\.k8s\.io "10\.7\.\d+\.\d+" is invalid: spec\.parentRef\.name: Required value$')
        code, _, refused = self.create({'metadata': {}, **spec}, SERVICES + '?dryRun=All')
        self.assertEqual((code, refused['message']), (422, 'Service "" is invalid: metadata.name: Required value: name or generateName is required'))
        self.assertEqual(self.create({'metadata': {'generateName': 'made-'}, **spec})[0], 201)

    def test_an_address_with_an_object_of_a_client_is_allocated(self):
        self.assertEqual(self.create(address('10.7.0.9'), ADDRESSES)[0], 201)
        code, _, refused = self.create(service('two', clusterIP='10.7.0.9'))
        self.assertEqual((code, refused['message']), (422, 'Service "two" is invalid: spec.clusterIPs: Invalid value: ["10.7.0.9"]: '
                                                           'failed to allocate IP 10.7.0.9: provided IP is already allocated'))
        self.assertEqual(self.server.request('DELETE', ADDRESSES + '/10.7.0.9')[0], 200)
        self.assertEqual(self.create(service('two', clusterIP='10.7.0.9'))[0], 201)
        code, _, exists = self.create(address('10.7.0.9'), ADDRESSES)
        self.assertEqual((code, exists['message']), (409, 'ipaddresses.networking.k8s.io "10.7.0.9" already exists'))

    def test_a_range_that_is_added_gives_addresses_and_one_that_went_none(self):
        extra = {'apiVersion': 'networking.k8s.io/v1', 'kind': 'ServiceCIDR', 'metadata': {'name': 'extra'}, 'spec': {'cidrs': ['10.8.0.0/29']}}
        self.assertEqual(self.create(service('far', clusterIP='10.8.0.1'))[0], 422)
        self.assertEqual(self.create(extra, RANGES)[0], 201)
        self.assertTrue(wait_for(lambda: self.create(service('far', clusterIP='10.8.0.1'))[0] == 201))
        self.assertEqual(self.server.request('DELETE', RANGES + '/extra')[0], 200)
        self.assertTrue(wait_for(lambda: self.create(service('gone', clusterIP='10.8.0.2'))[0] == 422 or
                                 not self.server.request('DELETE', SERVICES + '/gone')))

    def test_the_range_of_the_flags_is_an_object_that_comes_back(self):
        code, _, kept = self.server.request('GET', RANGES + '/kubernetes')
        self.assertEqual((code, kept['spec']), (200, {'cidrs': ['10.7.0.0/24']}), kept)
        condition = kept['status']['conditions'][0]
        self.assertEqual((condition['type'], condition['status'], condition['message']),
                         ('Ready', 'True', 'Kubernetes default Service CIDR is ready'))
        self.assertEqual(self.server.request('DELETE', RANGES + '/kubernetes')[0], 200)
        self.assertTrue(wait_for(lambda: self.server.request('GET', RANGES + '/kubernetes')[0] == 200))
        code, _, wrong = self.server.request('PATCH', RANGES + '/kubernetes', {'spec': {'cidrs': ['10.9.0.0/24']}},
                                             headers={'Content-Type': 'application/merge-patch+json'})
        self.assertEqual(code, 422, wrong)

    def test_the_identity_lease_says_that_the_server_lives(self):
        leases = wait_for(lambda: self.server.request('GET', LEASES)[2]['items'])
        self.assertEqual(len(leases), 1)
        lease = leases[0]
        self.assertTrue(re.fullmatch('apiserver-[a-z2-7]{26}', lease['metadata']['name']), lease)
        self.assertEqual(lease['metadata']['labels']['apiserver.kubernetes.io/identity'], 'kube-apiserver')
        self.assertTrue(lease['spec']['holderIdentity'].startswith(lease['metadata']['name'] + '_'))
        self.assertEqual(lease['spec']['leaseDurationSeconds'], 3600)
        target = LEASES + '/' + lease['metadata']['name']
        self.assertTrue(wait_for(lambda: self.server.request('GET', target)[2]['spec']['renewTime'] > lease['spec']['renewTime']))

    def test_hooks_have_upstreams_names(self):
        text = self.server.request('GET', '/readyz?verbose')[2]
        text = text if isinstance(text, str) else json.dumps(text)
        for hook in ('start-kubernetes-service-cidr-controller', 'start-service-ip-repair-controllers',
                     'start-kube-apiserver-identity-lease-controller', 'start-kube-apiserver-identity-lease-garbage-collector',
                     'start-apiextensions-informers', 'start-apiextensions-controllers', 'crd-informer-synced', 'start-kube-aggregator-informers',
                     'apiservice-status-local-available-controller', 'apiservice-status-remote-available-controller',
                     'apiservice-registration-controller', 'apiservice-discovery-controller', 'kube-apiserver-autoregistration'):
            self.assertIn('[+]poststarthook/' + hook + ' ok', text)

    def test_health_has_the_checks_that_upstreams_own_tests_ask_for(self):
        hooks = ('start-apiserver-admission-initializer', 'generic-apiserver-start-informers', 'start-apiextensions-informers',
                 'start-apiextensions-controllers', 'crd-informer-synced', 'bootstrap-controller', 'start-system-namespaces-controller',
                 'start-service-ip-repair-controllers', 'scheduling/bootstrap-system-priority-classes',
                 'start-cluster-authentication-info-controller', 'start-kube-aggregator-informers', 'apiservice-registration-controller',
                 'apiservice-status-local-available-controller', 'apiservice-status-remote-available-controller',
                 'kube-apiserver-autoregistration', 'apiservice-openapi-controller', 'storage-readiness')
        for path in ('/healthz', '/livez', '/readyz'):
            lines = self.server.request('GET', path + '?verbose=1')[2].split('\n')
            for check in ('ping', 'log', 'etcd', 'autoregister-completion', *('poststarthook/' + hook for hook in hooks)):
                self.assertIn('[+]%s ok' % check, lines, path)
            self.assertEqual('[+]loopback-serving-certificate ok' in lines, path != '/readyz', path)


class Restarts(unittest.TestCase):
    def test_what_is_allocated_is_there_after_a_power_cut_and_what_is_missing_is_repaired(self):
        with tempfile.TemporaryDirectory() as data:
            server = Server('--service-cluster-ip-range=10.7.0.0/24', data_dir=data)
            made = [server.request('POST', SERVICES, service('s%d' % i))[2]['spec']['clusterIP'] for i in range(5)]
            self.assertEqual(server.request('DELETE', ADDRESSES + '/' + made[0])[0], 200)
            stale = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease',
                     'metadata': {'name': 'apiserver-gone', 'labels': {'apiserver.kubernetes.io/identity': 'kube-apiserver'}},
                     'spec': {'leaseDurationSeconds': 1, 'renewTime': '2020-01-01T00:00:00.000000Z'}}
            self.assertEqual(server.request('POST', LEASES, stale)[0], 201)
            server.kill()
            server.stop()
            with Server('--service-cluster-ip-range=10.7.0.0/24', data_dir=data) as again:
                held = names(again, ADDRESSES)
                self.assertEqual(sorted(held), sorted(made + ['10.7.0.1']))
                events = again.request('GET', '/api/v1/namespaces/default/events?fieldSelector=reason%3DClusterIPNotAllocated')[2]['items']
                self.assertEqual([e['message'] for e in events], ['Cluster IP [IPv4]: %s is not allocated; repairing' % made[0]])
                self.assertEqual(events[0]['reportingComponent'], 'ipallocator-repair-controller')
                self.assertTrue(wait_for(lambda: again.request('GET', LEASES + '/apiserver-gone')[0] == 404))

    def test_addresses_are_kept_if_their_resources_are_not_served(self):
        given = '--service-cluster-ip-range=10.7.0.0/24'
        for without in ('--runtime-config=networking.k8s.io/v1=false', '--disable-plugin=networking'):
            with self.subTest(without), tempfile.TemporaryDirectory() as data:
                with Server(given, without, data_dir=data) as server:
                    self.assertEqual(server.request('GET', ADDRESSES)[0], 404)
                    self.assertEqual(server.request('POST', SERVICES, service('a', clusterIP='10.7.0.7'))[0], 201)
                    self.assertEqual(server.request('POST', SERVICES, service('b', clusterIP='10.7.0.7'))[0], 422)
                with Server(given, data_dir=data) as server:
                    self.assertEqual(server.request('GET', ADDRESSES + '/10.7.0.7')[2]['spec']['parentRef']['name'], 'a')

    def test_a_second_family_joins_the_range(self):
        with tempfile.TemporaryDirectory() as data:
            with Server('--service-cluster-ip-range=10.7.0.0/24', data_dir=data):
                pass
            with Server('--service-cluster-ip-range=10.7.0.0/24,fd07::/112', data_dir=data) as server:
                self.assertEqual(server.request('GET', RANGES + '/kubernetes')[2]['spec'], {'cidrs': ['10.7.0.0/24', 'fd07::/112']})
                body = service('dual', ipFamilyPolicy='RequireDualStack')
                self.assertTrue(wait_for(lambda: server.request('POST', SERVICES, body)[0] == 201))
                made = server.request('GET', SERVICES + '/dual')[2]
                self.assertEqual(made['spec']['ipFamilies'], ['IPv4', 'IPv6'], made)
                entry = server.request('GET', ADDRESSES + '/' + made['spec']['clusterIPs'][1])[2]
                self.assertEqual(entry['metadata']['labels']['ipaddress.kubernetes.io/ip-family'], 'IPv6')


class Slices(unittest.TestCase):
    def test_the_slice_of_kubernetes_is_this_server(self):
        with Server('--advertise-address=192.0.2.7') as server:
            found = wait_for(lambda: server.request('GET', SLICES)[2]['items'])
            self.assertEqual(found[0]['metadata']['name'], 'kubernetes')
            self.assertEqual(found[0]['metadata']['labels'], {'kubernetes.io/service-name': 'kubernetes'})
            self.assertEqual(found[0]['addressType'], 'IPv4')
            self.assertEqual(found[0]['endpoints'], [{'addresses': ['192.0.2.7'], 'conditions': {'ready': True}}])
            self.assertEqual([(port['name'], port['protocol']) for port in found[0]['ports']], [('https', 'TCP')])


if __name__ == '__main__':
    unittest.main()
