"""Two servers over one etcd with different settings: a write of either stays, or is overwritten a few times, never without a pause."""
import base64
import collections
import json
import os
import tempfile
import time
import unittest
import urllib.request

from aggregated import GROUP, Backend, Certificates, apiservice, external
from etcd_keys import Keys
from etcd_test import ETCD, Etcd
from harness import Server, namespace, wait_for

APISERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
MERGE = {'Content-Type': 'application/merge-patch+json'}
# Each server renews it while it runs.
RENEWED = ('/registry/masterleases/', '/registry/leases/kube-system/apiserver-', '/registry/backplane/namespacecontrollers/', '/registry/peerserverleases/', '/registry.backplane')
WINDOW = 60  # seconds; servers that overwrite each other without a pause write thousands of times


def priority(server, name):
    return server.request('GET', APISERVICES + '/' + name)[2]['spec']['groupPriorityMinimum']


class Registrations(unittest.TestCase):
    """APIServices of a server's initial groups may be changed by users afterwards."""

    def test_changes_and_deletions_by_a_client_last_until_the_next_start(self):
        with tempfile.TemporaryDirectory(prefix='backplane-test-') as data_dir:
            with Server(data_dir=data_dir) as server:
                before = priority(server, 'v1.batch')
                self.assertEqual(server.request('PATCH', APISERVICES + '/v1.batch', json.dumps({'spec': {'groupPriorityMinimum': 11}}), MERGE)[0], 200)
                self.assertEqual(server.request('DELETE', APISERVICES + '/v1.policy')[0], 200)
                # A later write has been processed after both.
                self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD)[0], 201)
                self.assertTrue(wait_for(lambda: server.request('GET', APISERVICES + '/v1.late.example.com')[0] == 200))
                self.assertEqual(priority(server, 'v1.batch'), 11)
                self.assertEqual(server.request('GET', APISERVICES + '/v1.policy')[0], 404)
                # The keys of custom resources are kept.
                self.assertEqual(server.request('DELETE', APISERVICES + '/v1.late.example.com')[0], 200)
                self.assertTrue(wait_for(lambda: server.request('GET', APISERVICES + '/v1.late.example.com')[0] == 200))
                server.terminate()
            with Server(data_dir=data_dir) as server:
                self.assertTrue(wait_for(lambda: priority(server, 'v1.batch') == before))
                self.assertEqual(server.request('GET', APISERVICES + '/v1.policy')[0], 200)


CRD = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'lates.late.example.com'},
       'spec': {'group': 'late.example.com', 'scope': 'Namespaced', 'names': {'plural': 'lates', 'kind': 'Late'}, 'versions': [
           {'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object'}}}]}}


def writes(keys, since, until):
    """{key: number of writes} between two revisions."""
    asked = {'create_request': {'key': Keys.text('/'), 'range_end': Keys.text('0'), 'start_revision': since + 1}}
    request = urllib.request.Request(keys.url + '/v3/watch', json.dumps(asked).encode(), {'Content-Type': 'application/json'})
    count = collections.Counter()
    with urllib.request.urlopen(request, timeout=60) as answer:
        for line in answer:
            for event in json.loads(line)['result'].get('events', []):
                if int(event['kv']['mod_revision']) > until:
                    return count
                count[base64.b64decode(event['kv']['key']).decode()] += 1
    return count


@unittest.skipUnless(ETCD, 'etcd is not installed')
class Hosts(unittest.TestCase):
    def setUp(self):
        self.etcd = Etcd().start()
        self.addCleanup(self.etcd.stop)
        self.keys = Keys(self.etcd)

    def server(self, *flags):
        server = Server('--etcd-servers=' + self.etcd.url, *flags)
        self.addCleanup(server.stop)
        return server

    def check_quiet(self, most, since=None):
        """Checks that, for a while, no key is written more than `most` times, except renewed ones."""
        since = since or self.keys.revision()
        time.sleep(WINDOW)
        until = self.keys.revision()
        self.keys.put('/registry/end', b'')  # an event after the last relevant one
        often = {key: n for key, n in writes(self.keys, since, until).items() if n > most and not key.startswith(RENEWED)}
        self.assertEqual(often, {})

    def test_other_groups(self):
        self.server('--runtime-config=batch/v1=false,policy/v1=false')
        since = self.keys.revision()
        one = self.server()
        self.server('--runtime-config=autoscaling/v1=false,apiextensions.k8s.io/v1=false')
        self.assertEqual(one.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD)[0], 201)
        self.assertTrue(wait_for(lambda: one.request('GET', APISERVICES + '/v1.late.example.com')[0] == 200))
        self.check_quiet(8, since)
        self.assertEqual(one.request('GET', APISERVICES + '/v1.late.example.com')[0], 200)

    def test_an_aggregated_server_that_one_of_them_cannot_reach(self):
        """The second one connects through a proxy that does not exist."""
        with tempfile.TemporaryDirectory() as folder:
            certificates = Certificates(os.path.join(folder, 'backs'))
            backend = Backend(certificates)
            self.addCleanup(backend.stop)
            egress = os.path.join(folder, 'egress.yaml')
            with open(egress, 'w', encoding='utf-8') as file:
                file.write(json.dumps({'apiVersion': 'apiserver.k8s.io/v1beta1', 'kind': 'EgressSelectorConfiguration', 'egressSelections': [
                    {'name': 'cluster', 'connection': {'proxyProtocol': 'HTTPConnect', 'transport': {'uds': {'udsName': folder + '/none'}}}}]}))
            one = self.server()
            two = self.server('--egress-selector-config-file=' + egress)
            self.assertEqual(one.request('POST', '/api/v1/namespaces', namespace('agg'))[0], 201)
            self.assertEqual(one.request('POST', '/api/v1/namespaces/agg/services', external('echo'))[0], 201)
            spec = {'caBundle': base64.b64encode(certificates.bundle()).decode()}
            code, _, made = two.request('POST', APISERVICES, apiservice('v1', GROUP, 'agg', 'echo', backend.port, **spec))
            self.assertEqual(code, 201)
            wanted = {'Passed', 'FailedDiscoveryCheck'}
            self.assertLessEqual(wanted, self.reasons(one, made, wanted))
            self.check_quiet(10)

    @staticmethod
    def reasons(server, made, wanted):
        """The reasons that the condition Available has had, until it has had those that are wanted. Each may last for a moment only."""
        connection = server.connect(timeout=90)
        connection.request('GET', '%s?watch=true&timeoutSeconds=60&resourceVersion=%s&fieldSelector=metadata.name%%3D%s' % (
            APISERVICES, made['metadata']['resourceVersion'], made['metadata']['name']))
        found = set()
        for line in connection.getresponse():
            conditions = json.loads(line)['object'].get('status', {}).get('conditions', [])
            found.update(condition['reason'] for condition in conditions if condition['type'] == 'Available')
            if found >= wanted:
                break
        connection.close()
        return found

    def test_other_address_ranges(self):
        self.server('--service-cluster-ip-range=10.1.0.0/16')
        self.server('--service-cluster-ip-range=10.1.0.0/16,fd00::/108')
        self.check_quiet(8)


if __name__ == '__main__':
    unittest.main()
