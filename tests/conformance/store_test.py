"""A store that kube-apiserver wrote: loaded into the embedded store, or into etcd, it is served with the recorded answers, byte for byte,
including the order of JSON members; and each object that is created here is stored as the recorded bytes, except values that differ
between any two servers.

recordings/store.json holds every key with its value (base64) and revision, and the answer to a GET of each object that was created.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'e2e'))
sys.path.insert(0, HERE)
from etcd_keys import Keys  # noqa: E402
from etcd_test import ETCD, Etcd  # noqa: E402
from harness import ONLY_LIFECYCLE, Server  # noqa: E402
from recordings_test import differences  # noqa: E402

STORE_FILE = os.environ.get('STORE_FILE', os.path.join(HERE, '../../build/tests/store_file'))
RECORDED = json.load(open(os.path.join(HERE, 'recordings', 'store.json')))
RANGE = '--service-cluster-ip-range=10.0.0.0/16'
# Keys of the server that wrote the store; each server has its own.
OWN = re.compile(r'^/registry/(ranges|masterleases|leases/kube-system)')
# Keys with different bytes, each with the reason.
OTHERS = {
    '/registry/pods/store/p-rich': 'an answer that is sent again gets its matchLabelKeys merged once more',
    '/registry/controllerrevisions/store/cr1': 'raw data is stored compact here, as it was sent there',
    '/registry/deviceclasses/gpu.example.com': 'raw data is stored compact here, as it was sent there',
    '/registry/jobs/store/j-least': 'an answer cannot be sent again: it has a selector of its own',
    '/registry/jobs/store/j-rich': 'an answer cannot be sent again: it has a selector of its own',
    '/registry/certificatesigningrequests/csr': 'it contains the user that created it',
    '/registry/persistentvolumeclaims/store/pvc1': 'the default of status.phase is stored here, and set by every read there',
    '/registry/persistentvolumeclaims/store/pvc2': 'the default of status.phase is stored here, and set by every read there',
}
UNSHARED = ('uid', 'resourceVersion', 'creationTimestamp', 'managedFields')  # of metadata, among servers
UNSHARED_NUMBERS = {5, 6, 8, 17}


def recorded_entries():
    return sorted((e['modRevision'], e['key'], e['value']) for e in RECORDED['store'] if not OWN.match(e['key']))


class Embedded:
    """A data directory with the embedded store."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.directory.name, 'data', 'rocksdb')

    def load(self):
        os.makedirs(self.store, mode=0o700)
        os.chmod(os.path.dirname(self.store), 0o700)
        text = ''.join('%d %s %s\n' % e for e in recorded_entries())
        subprocess.run([STORE_FILE, 'load', self.store], input=text, text=True, check=True)

    def server(self):
        return Server(RANGE, ONLY_LIFECYCLE, '--storage-media-type=application/vnd.kubernetes.protobuf', data_dir=self.directory.name)

    def dump(self):
        """{key: value}, after the server has ended."""
        dumped = subprocess.run([STORE_FILE, 'dump', self.store], capture_output=True, text=True, check=True).stdout
        return {key: base64.b64decode(value) for _, key, value in (line.split(' ') for line in dumped.splitlines())}

    def stop(self):
        self.directory.cleanup()


class OverEtcd:
    """An etcd, with kube-apiserver's own flags."""

    def __init__(self):
        self.etcd = Etcd().start()
        self.keys = Keys(self.etcd)

    def load(self):
        for revision, key, value in recorded_entries():
            while self.keys.revision() < revision - 1:
                self.keys.put('/filler', '')
            if self.keys.put(key, base64.b64decode(value)) != revision:
                raise AssertionError('%s is not at its revision' % key)

    def server(self):
        return Server(RANGE, ONLY_LIFECYCLE, '--etcd-servers=' + self.etcd.url)

    def dump(self):
        return {key: value for key, (value, _) in self.keys.all().items()}

    def stop(self):
        self.etcd.stop()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(message):
    """[(number, payload)…] of a protobuf message; numbers' payloads are ints."""
    out, at = [], 0
    while at < len(message):
        tag, at = varint(message, at)
        if tag & 7 == 0:
            value, at = varint(message, at)
        elif tag & 7 == 2:
            size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        else:
            raise ValueError('wire type %d' % (tag & 7))
        out.append((tag >> 3, value))
    return out


def shared(stored):
    """The part of an object that two servers store equally: metadata without times and identities."""
    if stored.startswith(b'{'):
        tree = json.loads(stored)
        for key in UNSHARED:
            tree['metadata'].pop(key, None)
        for condition in tree.get('status', {}).get('conditions', []):
            condition['lastTransitionTime'] = ''
        return json.dumps(tree)
    envelope = fields(stored[4:])
    message = fields(dict(envelope)[2])
    metadata = [f for f in fields(message[0][1]) if f[0] not in UNSHARED_NUMBERS]
    kind = dict(fields(dict(envelope)[1]))[2]
    timed = kind in (b'PersistentVolume', b'FlowSchema')  # its status contains times
    return [f for f in envelope if f[0] != 2], metadata, [f for f in message[1:] if not (timed and f[0] == 3)]


def wished(answer):
    """The client's body, as far as the response shows it: the object without the server's additions."""
    metadata = {k: v for k, v in answer['metadata'].items() if k not in UNSHARED + ('generation',)}
    return dict(answer, metadata=metadata)


def collection(path):
    return path.rsplit('/', 1)[0]


class Stores:
    """Both halves, over the store that `kind` makes."""
    maxDiff = None
    kind = None

    def setUp(self):
        self.store = self.kind()
        self.addCleanup(self.store.stop)

    def test_what_kube_apiserver_stored_is_served_as_it_served_it(self):
        self.store.load()
        with self.store.server() as server:
            for path, want in RECORDED['answers'].items():
                with self.subTest(path):
                    status, _, got = server.request('GET', path)
                    self.assertEqual((status, differences(want, got)), (200, []))

    def test_what_is_made_here_is_stored_as_kube_apiserver_stored_it(self):
        with self.store.server() as server:
            server.request('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'store'}})
            keys = {}
            for path, answer in RECORDED['answers'].items():
                keys[answer['metadata']['uid']] = path
                status, _, got = server.request('POST', collection(path), wished(answer))
                if not any(key.endswith(path.rsplit('/', 1)[1]) for key in OTHERS):
                    with self.subTest(path):
                        self.assertEqual(status, 201, got)
            server.terminate()
        here = self.store.dump()
        for entry in RECORDED['store']:
            want = base64.b64decode(entry['value'])
            if any(uid.encode() in want[:600] for uid in keys) and not OWN.match(entry['key']) and entry['key'] not in OTHERS:
                with self.subTest(entry['key']):
                    self.assertIn(entry['key'], here)
                    self.assertEqual(shared(here[entry['key']]), shared(want))


@unittest.skipUnless(os.path.exists(STORE_FILE), 'built without the embedded store')
class EmbeddedStore(Stores, unittest.TestCase):
    kind = Embedded


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class EtcdStore(Stores, unittest.TestCase):
    kind = OverEtcd


if __name__ == '__main__':
    unittest.main()
