"""kube-apiserver and this server on one etcd: one after the other, back again, and both at once.

This server serves kube-apiserver's objects with the same responses, byte for byte, and vice versa; neither rewrites the other's values.
At once: each sees the other's writes, nothing is lost, nothing is allocated twice, one compacts.
The objects are those of ../conformance/recordings/store.json, one or more of each kind, and custom resources."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import clients  # noqa: E402
from kube_apiserver import Backplane, KubeApiserver, Pki, Requests, listed, object_path  # noqa: E402
import harness  # noqa: E402
from etcd_keys import Keys  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402

with open(os.path.join(HERE, '../conformance/recordings/store.json'), encoding='utf-8') as recorded:
    ANSWERS = json.load(recorded)['answers']
WIDGETS = '/apis/example.com/v1/namespaces/%s/widgets'
UNSHARED = ('uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'generation')
ONCE = ('customresourcedefinitions', 'apiservices', 'ipaddresses', 'servicecidrs')  # names of singletons
# Keys that each server writes for itself, and keys that both write.
OWN = re.compile(r'/masterleases/|/registry/backplane/|/peerserverleases/|/leases/kube-system/apiserver-|/extension-apiserver-authentication$|/default/(\w+/)?kubernetes$|'
                 r'/namespaces/kube-system/leases/apiserver-')


def foreign(names):
    """Without the identity leases of the servers, which exist only while their server runs."""
    return [(space, name) for space, name in names if space != 'kube-system' or not name.startswith('apiserver-')]


PROTOBUF = 'application/vnd.kubernetes.protobuf'
METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
# Responses that differ, each with the reason.
OTHERS = {
    (PROTOBUF, '/controllerrevisions/cr1'): 'raw data is compact here, as it was sent there',
    (PROTOBUF, '/deviceclasses/gpu.example.com'): 'raw data is compact here, as it was sent there',
    (METADATA, '/daemonsets/ds1'): 'an annotation that belongs to a version is among the metadata here',
    (METADATA, '/autoscaling/v1/namespaces/store/horizontalpodautoscalers/hpa2'): 'an annotation that belongs to a version is among the metadata here',
    (METADATA, '/autoscaling/v1/namespaces/again/horizontalpodautoscalers/hpa2'): 'an annotation that belongs to a version is among the metadata here',
}


def wished(answer, namespace):
    """The body with which a client would create the object again."""
    out = json.loads(json.dumps(answer).replace('"namespace": "store"', '"namespace": "%s"' % namespace))
    for key in UNSHARED:
        out['metadata'].pop(key, None)
    if out['kind'] == 'Job':  # it has a selector and labels of its own
        del out['spec']['selector']
        for labels in (out['spec']['template']['metadata']['labels'], out['metadata'].get('labels', {})):
            for key in [key for key in labels if 'controller-uid' in key or 'job-name' in key]:
                del labels[key]
    for constraint in out.get('spec', {}).get('topologySpreadConstraints', []):
        constraint.pop('matchLabelKeys', None)  # merged already
    if out['kind'] == 'Service' and out['spec'].get('clusterIP', 'None') != 'None':
        for key in ('clusterIP', 'clusterIPs', 'healthCheckNodePort'):
            out['spec'].pop(key, None)
        for port in out['spec']['ports']:
            port.pop('nodePort', None)
    return out


def objects_of(server):
    """{path of a list: {path of an object: its metadata}} of what is stored."""
    out = {}
    for group, resource in listed(server):
        if resource['name'] != 'componentstatuses':
            items = server.request('GET', group + '/' + resource['name'])[2]['items'] or []
            out[group + '/' + resource['name']] = {object_path(group, resource, item): item['metadata'] for item in items}
    return out


def versions(lists):
    return {at: metadata['resourceVersion'] for objects in lists.values() for at, metadata in objects.items() if not OWN.search(at)}


def collect_objects(server):
    """{(path, form): (status, content type, body)} of every object, and {path: names} of every list."""
    lists = objects_of(server)
    for _ in range(30):
        found = {}
        for at in (at for objects in lists.values() for at in objects):
            for form in ('application/json', 'application/yaml', PROTOBUF, METADATA):
                status, headers, body = server.raw('GET', at, headers={'Accept': form})
                found[at, form] = (status, headers.get('Content-Type'), body)
        before, lists = lists, objects_of(server)
        # Controllers set conditions of the last objects and the APIService of a definition later: then the test compares again.
        if versions(lists) == versions(before):
            return found, {path: sorted((each.get('namespace'), each['name']) for each in objects.values()) for path, objects in lists.items()}
    raise AssertionError('it is written to over and over again')


def versionless(found):
    """Responses without resourceVersions, in text encodings."""
    word = re.compile(rb'("?resourceVersion"?: ?)"\d+"')
    return {at: answer[:2] + (word.sub(rb'\1', answer[2]),) for at, answer in found.items() if at[1] != PROTOBUF}


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class SharedEtcd(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        try:
            cls.program = clients.build(('kube-apiserver',))['kube-apiserver']
        except clients.Missing as why:
            raise unittest.SkipTest('kube-apiserver cannot be built: %s' % why)
        cls.pki = Pki()

    @classmethod
    def tearDownClass(cls):
        cls.pki.remove()

    def setUp(self):
        self.etcd = Etcd().start()
        self.addCleanup(self.etcd.stop)
        self.keys = Keys(self.etcd)

    def kube(self, *flags):
        server = KubeApiserver(self.program, self.pki, self.etcd, harness.ONLY_LIFECYCLE, *flags)  # as in the recording
        self.addCleanup(server.stop)
        return server

    def ours(self, *flags):
        server = Backplane(self.pki, self.etcd, harness.ONLY_LIFECYCLE, *flags)
        self.addCleanup(server.stop)
        return server

    def create(self, server, path, body):
        # Without blanks, which raw JSON keeps and other JSON does not.
        status, _, answer = server.request('POST', path, json.dumps(body, separators=(',', ':')), {'Content-Type': 'application/json'})
        self.assertEqual(status, 201, '%s: %s' % (path, answer))
        return answer

    def fill(self, server, namespace, first):
        """Creates one more object of every kind."""
        self.create(server, '/api/v1/namespaces', harness.namespace(namespace))
        for path, answer in ANSWERS.items():
            spaced = '/namespaces/store/' in path
            if first or (spaced and not any('/%s/' % each in path for each in ONCE)):
                self.create(server, path.rsplit('/', 1)[0].replace('/namespaces/store/', '/namespaces/%s/' % namespace), wished(answer, namespace))
        widgets = WIDGETS % namespace
        self.assertTrue(harness.wait_for(lambda: server.request('GET', widgets)[0] == 200), 'the definition is not served')
        for n in range(3):
            self.create(server, widgets, {'apiVersion': 'example.com/v1', 'kind': 'Widget', 'metadata': {'name': 'w%d' % n},
                                          'spec': {'size': n + 1, 'replicas': 2}})

    def same(self, before, after, bootstrapped=()):
        """Compares two surveys, except lists to which the second server has added its own objects."""
        for path, names in before[1].items():
            names, now = foreign(names), foreign(after[1].get(path))
            if path.startswith(bootstrapped or ('nothing',)):
                self.assertLessEqual(set(names), set(now), path)
            else:
                self.assertEqual(names, now, path)
        for (path, form), want in before[0].items():
            other = any(form == f and path.endswith(end) for f, end in OTHERS)
            if not OWN.search(path) and not other:
                with self.subTest(path=path, form=form):
                    self.assertEqual(after[0].get((path, form)), want)

    def untouched(self, before, what):
        """Checks that no key of `before` has been written since, except keys that servers maintain."""
        now = self.keys.all()
        self.assertEqual([key for key, at in before.items() if not OWN.search(key) and now.get(key, (0, 0))[1] != at[1]], [], what)

    def put_back(self, server):
        """Writes every object as it was read."""
        for group, resource in listed(server):
            if 'update' not in resource['verbs']:
                continue
            for item in server.request('GET', group + '/' + resource['name'])[2]['items'] or []:
                path = object_path(group, resource, item)
                # If a version sorts lists in another order, an unchanged update writes.
                if OWN.search(path) or group == '/apis/autoscaling/v1':
                    continue
                # kube-apiserver stores a new claim without its phase, which reads set as a default: an unchanged update stores other bytes.
                if resource['kind'] == 'PersistentVolumeClaim':
                    continue
                # Nor do events keep the managers of the other group.
                managers = {each['apiVersion'] for each in item['metadata'].get('managedFields', [])}
                if resource['kind'] == 'Event' and managers - {group.rpartition('/api/')[2].rpartition('/apis/')[2]}:
                    continue
                status, _, body = server.raw('GET', path)
                status, _, answer = server.request('PUT', path, body.decode(), {'Content-Type': 'application/json'})
                self.assertEqual(status, 200, '%s: %s' % (path, answer))

    def label(self, server, value):
        for group, resource in listed(server):
            for item in server.request('GET', group + '/' + resource['name'])[2].get('items') or []:
                path = object_path(group, resource, item)
                if 'patch' in resource['verbs'] and item['metadata'].get('namespace') == 'store':
                    status, _, answer = server.request('PATCH', path, {'metadata': {'labels': {'touched': value}}},
                                                       {'Content-Type': 'application/merge-patch+json'})
                    self.assertEqual(status, 200, '%s: %s' % (path, answer))

    def check_no_duplicates(self, server):
        services = server.request('GET', '/api/v1/services')[2]['items']
        addresses = [ip for s in services for ip in s['spec'].get('clusterIPs', []) if ip != 'None']
        ports = [port['nodePort'] for s in services for port in s['spec'].get('ports', []) if 'nodePort' in port]
        ports += [s['spec']['healthCheckNodePort'] for s in services if 'healthCheckNodePort' in s['spec']]
        self.assertEqual((sorted(set(addresses)), sorted(set(ports))), (sorted(addresses), sorted(ports)))
        given = {item['metadata']['name'] for item in server.request('GET', '/apis/networking.k8s.io/v1/ipaddresses')[2]['items']}
        self.assertLessEqual(set(addresses), given, 'each address has its IPAddress')

    def test_a_store_goes_there_and_back(self):
        server = self.kube()
        self.fill(server, 'store', first=True)
        there = collect_objects(server)
        server.stop()
        stored = self.keys.all()
        server = self.ours()
        self.same(there, collect_objects(server))
        self.untouched(stored, 'by a start over what kube-apiserver wrote')
        self.put_back(server)
        self.untouched(stored, 'by writing what was read')
        self.label(server, 'here')
        self.fill(server, 'again', first=False)
        self.check_no_duplicates(server)
        here = collect_objects(server)
        server.stop()
        stored = self.keys.all()
        server = self.kube()
        self.same(here, collect_objects(server))
        self.untouched(stored, 'by a start over what was written here')
        self.label(server, 'back')
        self.fill(server, 'thrice', first=False)
        self.check_no_duplicates(server)

    def test_an_embedded_store_moves_to_kube_apiserver_and_back(self):
        """`backplane store copy`, with the objects that are stored as JSON."""
        home, back = (tempfile.mkdtemp(prefix='backplane-moved-') for _ in range(2))
        self.addCleanup(shutil.rmtree, home)
        self.addCleanup(shutil.rmtree, back)
        server = self.alone(home)
        self.fill(server, 'store', first=True)
        here = collect_objects(server)
        server.stop()
        self.move('rocksdb:' + home + '/data', 'etcd:' + self.etcd.url)
        server = self.kube()
        there = collect_objects(server)
        self.same((versionless(here[0]), here[1]), (versionless(there[0]), there[1]),
                  bootstrapped=('/apis/rbac.',))
        self.label(server, 'there')
        self.fill(server, 'again', first=False)
        self.check_no_duplicates(server)
        there = collect_objects(server)
        server.stop()
        self.move('etcd:' + self.etcd.url, 'rocksdb:' + back + '/data')
        server = self.alone(back)
        here = collect_objects(server)
        self.same((versionless(there[0]), there[1]), (versionless(here[0]), here[1]))
        self.check_no_duplicates(server)

    def test_custom_resources_that_are_stored_in_cbor(self):
        """kube-apiserver writes them so with its gate, and reads them without it."""
        server = self.kube('--feature-gates=CBORServingAndStorage=true')
        self.fill(server, 'store', first=True)
        path, key = WIDGETS % 'store' + '/w1', '/registry/example.com/widgets/store/w1'
        self.assertEqual(self.keys.all()[key][0][:3], b'\xd9\xd9\xf7')
        want = server.raw('GET', path)[2]
        server.stop()
        server = self.ours()
        self.assertTrue(harness.wait_for(lambda: server.request('GET', path)[0] == 200), server.request('GET', path))
        self.assertEqual(server.raw('GET', path)[2], want)
        status, _, answer = server.request('PUT', path, json.loads(want))
        self.assertEqual((status, answer['spec']), (200, json.loads(want)['spec']))
        self.assertEqual(self.keys.all()[key][0][:1], b'{', 'it is written as custom resources are here')

    def alone(self, directory):
        server = Backplane(self.pki, None, harness.ONLY_LIFECYCLE, data_dir=directory)
        self.addCleanup(server.stop)
        return server

    def move(self, source, target):
        done = subprocess.run([harness.BINARY, 'store', 'copy', '--from', source, '--to', target, '--plugin-dir', harness.PLUGINS],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_both_at_once(self):
        servers = [self.kube('--etcd-compaction-interval=2s'), self.ours('--etcd-compaction-interval=2s')]
        self.create(servers[0], '/api/v1/namespaces', harness.namespace('both'))
        maps, services = '/api/v1/namespaces/both/configmaps', '/api/v1/namespaces/both/services'
        self.create(servers[1], maps, harness.configmap('counter', n='0'))
        since = servers[0].request('GET', maps)[2]['metadata']['resourceVersion']
        seen, failures, made = [[], []], [], []

        def follow(n):
            for event in servers[n].watch(maps, since):
                seen[n].append((event['type'], event['object']['metadata']['name'], event['object']['metadata']['resourceVersion']))
                if event['object']['metadata']['name'] == 'last':
                    return

        def count(n):
            mine = self.another(servers[n])
            for _ in range(20):
                while True:
                    status, _, answer = mine.request('GET', maps + '/counter')
                    if status == 200:
                        answer['data']['n'] = str(int(answer['data']['n']) + 1)
                        status, _, answer = mine.request('PUT', maps + '/counter', answer)
                    if status == 200:
                        break
                    if status != 409:
                        failures.append(answer)
                        return

        def serve(n, name):
            mine = self.another(servers[n])
            for i in range(15):
                made.append(mine.request('POST', services, {
                    'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 's%d-%d' % (name, i)},
                    'spec': {'type': 'NodePort', 'ports': [{'port': 80}]}}))

        watchers = [threading.Thread(target=follow, args=(n,), daemon=True) for n in range(2)]
        workers = [threading.Thread(target=count, args=(i % 2,)) for i in range(4)]
        workers += [threading.Thread(target=serve, args=(i % 2, i)) for i in range(4)]
        for thread in watchers + workers:
            thread.start()
        for thread in workers:
            thread.join()
        self.create(servers[0], maps, harness.configmap('last'))
        for thread in watchers:
            thread.join(60)
        self.assertEqual(failures, [])
        self.assertEqual([answer for answer in made if answer[0] != 201], [])
        for server in servers:
            self.assertEqual(server.request('GET', maps + '/counter')[2]['data']['n'], '80')
            self.check_no_duplicates(server)
        self.assertEqual(len(seen[0]), 81)
        self.assertEqual(seen[0], seen[1])
        self.check_single_compactor(servers, since)

    def test_definitions_of_one_are_served_by_both_and_neither_rewrites_objects_of_the_other(self):
        servers = [self.kube(), self.ours()]
        definition = ANSWERS['/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com']
        for server, name in zip(servers, ('gadget', 'gizmo')):
            spec = json.loads(json.dumps(definition['spec']).replace('widget', name).replace('Widget', name.title()))
            spec['names']['shortNames'] = [name[:3]]
            self.create(server, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
                'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': name + 's.example.com'}, 'spec': spec})
            for each in servers:
                served = harness.wait_for(lambda each=each, name=name: each.request('GET', '/apis/example.com/v1/%ss' % name)[0] == 200)
                self.assertTrue(served, '%s does not serve %ss' % (each.name, name))
        services = '/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com'
        for each in servers:
            self.assertTrue(harness.wait_for(lambda each=each: each.request('GET', services)[0] == 200), each.name)

        def still():
            before = self.keys.all()
            time.sleep(21)  # the servers' periodic checks run every ten seconds
            return {key: at[1] for key, at in self.keys.all().items() if not OWN.search(key)} == {
                key: at[1] for key, at in before.items() if not OWN.search(key)}
        self.assertTrue(harness.wait_for(still, 90), 'they write over and over again')
        self.assertEqual(servers[0].request('DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gizmos.example.com')[0], 200)
        for each in servers:
            gone = harness.wait_for(lambda each=each: each.request('GET', '/apis/example.com/v1/gizmos')[0] == 404)
            self.assertTrue(gone, each.name + ' still serves it')

    @staticmethod
    def another(server):
        """One more connection to a server."""
        other = Requests.__new__(Requests)
        other.context, other.port, other.connection = server.context, server.port, None
        return other

    def check_single_compactor(self, servers, since):
        """Old revisions are compacted for both, and both use the same key for the election."""
        def gone(server):
            return server.request('GET', '/api/v1/namespaces/both/configmaps?resourceVersionMatch=Exact&resourceVersion=' + since)[0] == 410
        for server in servers:
            self.assertTrue(harness.wait_for(lambda server=server: gone(server)), server.name + ' still reads the past')
        said = self.keys.all('compact_rev_key')
        self.assertTrue(all(value.isdigit() for value, _ in said.values()) and said, said)
        servers[0].stop()
        before = self.keys.all('compact_rev_key')['compact_rev_key'][1]
        self.assertTrue(harness.wait_for(lambda: self.keys.all('compact_rev_key')['compact_rev_key'][1] > before), 'no server compacts any more')


if __name__ == '__main__':
    harness.main()
