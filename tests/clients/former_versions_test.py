"""A store of any age: the published objects of every release since 1.18, in each version and encoding, are put into the etcd of a
kube-apiserver and of the built server. Both return the same lists in every served version; a write of the built server stores today's
version, which kube-apiserver reads.  The same values in the embedded store are served alike.

The objects come from the Go module k8s.io/api; skipped if it or kube-apiserver is not available."""
import base64
import collections
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import clients  # noqa: E402
import former_objects  # noqa: E402
import kube_apiserver  # noqa: E402
import published_objects  # noqa: E402
from etcd_keys import Keys  # noqa: E402
from kube_apiserver import ETCD, Backplane, Etcd, KubeApiserver, Pki  # noqa: E402
import harness  # noqa: E402

STORE_FILE = os.environ.get('STORE_FILE', os.path.join(HERE, '../../build/tests/store_file'))
# Flow control and admission would act on random objects.
FLAGS = ('--runtime-config=api/all=true', '--enable-priority-and-fairness=false')
# The current groups of the kinds of extensions/v1beta1, and of events.
MOVED = {('extensions', 'Ingress'): 'networking.k8s.io', ('extensions', 'NetworkPolicy'): 'networking.k8s.io', ('extensions', 'Deployment'): 'apps',
         ('extensions', 'DaemonSet'): 'apps', ('extensions', 'ReplicaSet'): 'apps', ('events.k8s.io', 'Event'): ''}
PREFIXES = {'customresourcedefinitions': 'apiextensions.k8s.io/customresourcedefinitions', 'apiservices': 'apiregistration.k8s.io/apiservices',
            'nodes': 'minions', 'services': 'services/specs', 'endpoints': 'services/endpoints', 'replicationcontrollers': 'controllers',
            'ingresses': 'ingress'}
PATCH = {'Content-Type': 'application/merge-patch+json'}
# (name of the object, prefix of the difference's path, reason)
ALLOWED = (('PersistentVolumeClaim', '.spec.dataSourceRef', 'made of dataSource by reads there, by writes here'),
           ('Pod', '.status.podIPs', 'podIP and the first of podIPs are always the same but in these objects'),
           ('Service', '.status.loadBalancer.ingress[].ipMode', 'a service with ingress is of type LoadBalancer but in these objects'),
           ('Service', '.spec.clusterIPs', 'made of clusterIP by reads there, by writes here'),
           ('Service', '.spec.ipFamil', 'made of clusterIPs by reads there, by writes here'),
           ('IngressClass networking.k8s.io/v1beta1', '.spec.parameters.scope', "v1's default, which is what it means, is not set there"),
           ('NetworkPolicy extensions/v1beta1', '.spec.ingress[].ports[].protocol', 'the default is set on a copy there'))


def places(server):
    """{(group, kind): (resource, namespaced)} of what is stored."""
    out = {}
    for path, resource in kube_apiserver.listed(server):
        group = path.split('/')[2] if path.startswith('/apis/') else ''
        out[group, resource['kind']] = resource['name'], resource['namespaced']
    return out


def differences(want, got, at=''):
    if isinstance(want, dict) and isinstance(got, dict):
        return [each for key in sorted({*want, *got}) for each in differences(want.get(key), got.get(key), '%s.%s' % (at, key))]
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [each for pair in zip(want, got) for each in differences(*pair, at + '[]')]
    return [] if want == got and type(want) is type(got) else [(at, want, got)]


class Value:
    """An object at its key."""

    def __init__(self, name, gvk, release, form, resource, namespaced, data):
        """`data`: its bytes, as a function of its name and namespace."""
        self.name, self.gvk, self.release, self.form, self.resource = name, gvk, release, form, resource
        self.namespace = 'ages' if namespaced else ''
        self.key = '/registry/%s/%s' % (PREFIXES.get(resource, resource), '/'.join(filter(None, (self.namespace, self.name))))
        self.bytes = data(self.name, self.namespace)

    def __str__(self):
        return '%s %s/%s %s of %s' % (self.gvk[2], self.gvk[0], self.gvk[1], self.form, self.release)


def published(server):
    """(readable, unreadable): published objects of stored kinds. 1.36 reads the versions that it publishes itself."""
    where, today = places(server), published_objects.today()
    known, unknown = [], []
    for number, each in enumerate(published_objects.published()):
        place = where.get((MOVED.get((each.group, each.kind), each.group), each.kind))
        if place is not None:
            (known if each.gvk in today else unknown).append(Value('o%d' % number, each.gvk, each.release, each.form, *place, each.named))
    return known, unknown


def valid(server):
    """An object for each row of former_objects."""
    where, out = places(server), []
    for number, (api_version, kind, members) in enumerate(former_objects.OBJECTS):
        group, _, version = api_version.rpartition('/')

        def data(name, namespace, api_version=api_version, kind=kind, members=members):
            metadata = {'name': name, 'uid': 'uid-' + name, 'creationTimestamp': '2020-01-02T03:04:05Z', 'generation': 1}
            if namespace:
                metadata['namespace'] = namespace
            return (json.dumps({'kind': kind, 'apiVersion': api_version, 'metadata': metadata, **members}, separators=(',', ':')) + '\n').encode()
        name = '10.9.0.%d' % number if kind == 'IPAddress' else 'v%d' % number
        out.append(Value(name, (group, version, kind), 'its users', 'json', *where[MOVED.get((group, kind), group), kind], data))
    for tree, resource in ((former_objects.DEFINITION, 'customresourcedefinitions'), (former_objects.SERVICE, 'apiservices')):
        group, _, version = tree['apiVersion'].rpartition('/')
        out.append(Value(tree['metadata']['name'], (group, version, tree['kind']), 'its users', 'json', resource, False,
                         lambda name, namespace, tree=tree: (json.dumps(tree) + '\n').encode()))
    return out


def stored_versions(server):
    """{resource: apiVersion that it is stored in}, by the hashes that discovery has of them."""
    # Definitions are stored in a version that is not served.
    versions, hashes, out = collections.defaultdict(set), {}, {'customresourcedefinitions': 'apiextensions.k8s.io/v1beta1'}
    for path, resource in kube_apiserver.listed(server):
        api_version = path.split('/', 2)[-1]
        versions[resource['name'], resource['kind']].add(api_version)
        hashes[resource['name'], resource['kind']] = resource.get('storageVersionHash')
    for (name, kind), found in versions.items():
        for api_version in found:
            text = '%s/%s' % (api_version if '/' in api_version else '/' + api_version, kind)
            if base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode() == hashes[name, kind]:
                out[name] = api_version
    return out


def objects(server, path, resource):
    """{(namespace, name): object} of a list."""
    status, _, answer = server.request('GET', '%s/%s' % (path, resource['name']))
    if status != 200:
        raise AssertionError('%s %s/%s: %s %s' % (server.name, path, resource['name'], status, answer))
    return {(item['metadata'].get('namespace', ''), item['metadata'].get('name', '')): item for item in answer['items'] or ()}


def watched(server, path):
    """The initial events of a watch."""
    connection = server.connect()
    connection.request('GET', path + '?watch=1&timeoutSeconds=60&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan')
    response = connection.getresponse()
    while line := response.readline():
        event = json.loads(line)
        if event['type'] == 'BOOKMARK':
            break
        yield event
    connection.close()


def reports(found):
    """Differences by kind and place, with an example of each."""
    groups = collections.OrderedDict()
    for what, (place, want, got) in found:
        groups.setdefault((what.split(' ')[0], place), []).append((what, want, got))
    lines = ['%s%s: %d, as in %s: there %s, here %s' % (kind, place, len(each), each[0][0], json.dumps(each[0][1])[:200], json.dumps(each[0][2])[:200])
             for (kind, place), each in groups.items()]
    return '%d differences in %d places\n%s' % (len(found), len(groups), '\n'.join(lines[:200]))


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class FormerVersions(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        try:
            program = clients.build(('kube-apiserver',))['kube-apiserver']
            published_objects.folder(next(iter(published_objects.MODULES)))
        except clients.Missing as why:
            raise unittest.SkipTest('there is nothing to compare with: %s' % why) from None
        cls.pki, cls.etcd = Pki(), Etcd().start()
        cls.addClassCleanup(cls.pki.remove)
        cls.addClassCleanup(cls.etcd.stop)
        cls.keys = Keys(cls.etcd)
        cls.kube = KubeApiserver(program, cls.pki, cls.etcd, *FLAGS)
        cls.addClassCleanup(cls.kube.stop)
        cls.kube.request('POST', '/api/v1/namespaces', harness.namespace('ages'))
        cls.stored = stored_versions(cls.kube)
        cls.values, cls.unknown = published(cls.kube)
        cls.valid = valid(cls.kube)
        cls.values += cls.valid
        cls.by_place = {(v.namespace, v.name): v for v in cls.values}
        cls.keys.put_all([(value.key, value.bytes) for value in cls.values])
        # The server starts with a filled store, so it has not written any of the values.
        cls.ours = Backplane(cls.pki, cls.etcd, *FLAGS)
        cls.addClassCleanup(cls.ours.stop)

    def compare(self, server, but=None):
        found, compared = [], 0
        for path, resource in kube_apiserver.listed(self.kube):
            want, got = objects(self.kube, path, resource), objects(server, path, resource)
            for place in sorted({*want, *got} & {*self.by_place}):
                what = '%s (%s as %s)' % (self.by_place[place], place[1], path)
                compared += 1
                found += [(what, each) for each in differences(want.get(place), got.get(place)) if each[0] != but
                          and not any(what.startswith(kind + ' ') and each[0].startswith(begin) for kind, begin, _ in ALLOWED)]
        self.assertGreater(compared, len(self.values))
        if found:
            self.fail(reports(found))

    def test_1_every_version_lists_what_kube_apiserver_lists(self):
        self.assertGreater(len(self.values), 1000)
        self.compare(self.ours)

    def test_2_gets_and_watches_show_what_lists_show(self):
        for path, resource in kube_apiserver.listed(self.ours):
            want = {place: item for place, item in objects(self.ours, path, resource).items() if place in self.by_place}
            if not want:
                continue
            seen = {}
            for event in watched(self.ours, '%s/%s' % (path, resource['name'])):
                metadata = event['object']['metadata']
                seen[metadata.get('namespace', ''), metadata.get('name', '')] = event['object']
            for place, item in want.items():
                typed = dict(item, kind=resource['kind'], apiVersion=path.split('/', 2)[-1])
                self.assertEqual(differences(typed, seen.get(place)), [], self.by_place[place])
            for place in list(want)[::20]:
                status, _, got = self.ours.request('GET', kube_apiserver.object_path(path, resource, want[place]))
                self.assertEqual((status, differences(seen[place], got)), (200, []), self.by_place[place])

    def test_3_the_embedded_store_serves_the_same(self):
        if not os.path.exists(STORE_FILE):
            self.skipTest('store_file is not built')
        with tempfile.TemporaryDirectory() as directory:
            store = os.path.join(directory, 'data', 'rocksdb')
            os.makedirs(store, mode=0o700)
            os.chmod(os.path.dirname(store), 0o700)
            held = sorted((key, base64.b64encode(value).decode()) for key, (value, _) in self.keys.all().items()
                          if not key.startswith(('/registry/masterleases/', '/registry/peerserverleases/', '/registry/leases/kube-system/')))
            subprocess.run([STORE_FILE, 'load', store], input=''.join('%d %s %s\n' % (n + 2, *each) for n, each in enumerate(held)), text=True,
                           check=True)
            embedded = Backplane(self.pki, None, *FLAGS, data_dir=directory)
            self.addCleanup(embedded.stop)
            self.compare(embedded, but='.metadata.resourceVersion')

    def test_4_a_write_stores_the_version_of_today(self):
        """One object of each kind in each version and encoding, and each valid one: a write stores kube-apiserver's encoding, and
        kube-apiserver returns the same object."""
        written = 0
        for path, resource in kube_apiserver.listed(self.kube):
            shown, tried = objects(self.ours, path, resource), set()
            for place, item in sorted(shown.items()):
                value = self.by_place.get(place)
                if value is None or (value not in self.valid and (value.gvk, value.form) in tried):
                    continue
                tried.add((value.gvk, value.form))
                written += self.write(path, kube_apiserver.object_path(path, resource, item), value)
        self.assertGreater(written, len(self.valid))
        self.compare(self.ours)

    def write(self, path, at, value):
        patch = {'metadata': {'labels': {'touched': path.split('/')[-1]}}}
        want, _, said = self.kube.request('PATCH', at + '?dryRun=All', patch, PATCH)
        # A certificate request must be signed.
        if value in self.valid and value.gvk[2] != 'CertificateSigningRequest':
            self.assertEqual(want, 200, '%s: %s' % (value, said))
        if want != 200:
            return 0
        status, _, got = self.ours.request('PATCH', at, patch, PATCH)
        self.assertEqual(status, 200, '%s as %s: %s' % (value, path, got))
        stored = self.keys.all(value.key)[value.key][0]
        self.assertEqual(published_objects.stored_version(stored), self.stored[value.resource], value)
        return 1

    def test_5_what_nothing_reads_fails_alone(self):
        """Kinds of versions that 1.36 cannot read: each is a separate error, and other objects are listed."""
        one = {}
        for value in self.unknown:
            one.setdefault((value.gvk, value.form), value)
        resources = {resource['name']: (path, resource) for path, resource in reversed(kube_apiserver.listed(self.ours))}
        for value in one.values():
            path, resource = resources[value.resource]
            before = objects(self.ours, path, resource)
            self.keys.put(value.key, value.bytes)
            at = '%s%s/%s/%s' % (path, '/namespaces/ages' if value.namespace else '', value.resource, value.name)
            self.assertTrue(harness.wait_for(lambda at=at: self.ours.request('GET', at)[0] == 500), value)
            _, _, refused = self.ours.request('GET', at)
            self.assertIn('unable to transform key "%s": ' % value.key, refused['message'])
            self.assertIn('no kind "%s" is registered for version "%s/%s"' % (value.gvk[2], *value.gvk[:2]), refused['message'])
            status, headers, listed = self.ours.request('GET', '%s/%s' % (path, resource['name']))
            self.assertEqual((status, len(listed['items'])), (200, len(before)), value)
            self.assertIn(value.key, headers.get('Warning', ''))
            self.keys.remove(value.key)
        self.assertGreater(len(one), 20)


if __name__ == '__main__':
    harness.main()
