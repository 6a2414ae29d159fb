"""A store that kube-apiserver wrote: loaded into the embedded store it is served with the recorded answers, byte for byte but for the
order of JSON members that the comparison checks too; and each object created here is stored as the recorded bytes, but for what no two
servers share.

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
from harness import Server  # noqa: E402
from recordings_test import differences  # noqa: E402

STORE_FILE = os.environ.get('STORE_FILE', os.path.join(HERE, '../../build/tests/store_file'))
RECORDED = json.load(open(os.path.join(HERE, 'recordings', 'store.json')))
FLAGS = ('--service-cluster-ip-range=10.0.0.0/16', '--storage-media-type=application/vnd.kubernetes.protobuf')
# Of the server that wrote the store, and kept by each server for itself.
OWN = re.compile(r'^/registry/(ranges|masterleases|leases/kube-system)')
# Keys whose bytes are others here, each with the reason.
OTHERS = {
    '/registry/pods/store/p-rich': 'an answer that is sent again gets its matchLabelKeys merged once more',
    '/registry/controllerrevisions/store/cr1': 'raw data is stored compact here, as it was sent there',
    '/registry/deviceclasses/gpu.example.com': 'raw data is stored compact here, as it was sent there',
    '/registry/jobs/store/j-least': 'an answer cannot be sent again: it has a selector of its own',
    '/registry/jobs/store/j-rich': 'an answer cannot be sent again: it has a selector of its own',
    '/registry/certificatesigningrequests/csr': 'it says who has made it',
    '/registry/persistentvolumeclaims/store/pvc1': 'the default of status.phase is stored here, and set by every read there',
    '/registry/persistentvolumeclaims/store/pvc2': 'the default of status.phase is stored here, and set by every read there',
    '/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com': 'validation rules are refused here',
}
UNSHARED = ('uid', 'resourceVersion', 'creationTimestamp', 'managedFields')  # of metadata, among servers
UNSHARED_NUMBERS = {5, 6, 8, 17}


def store_of(directory):
    return os.path.join(directory, 'data', 'rocksdb')


def load(directory):
    os.makedirs(store_of(directory), mode=0o700)
    os.chmod(os.path.join(directory, 'data'), 0o700)
    entries = sorted((e['modRevision'], e['key'], e['value']) for e in RECORDED['store'] if not OWN.match(e['key']))
    subprocess.run([STORE_FILE, 'load', store_of(directory)], input=''.join('%d %s %s\n' % e for e in entries), text=True, check=True)


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
    """What two servers store alike of an object: of metadata all but its times and identities."""
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
    timed = kind in (b'PersistentVolume', b'FlowSchema')  # there are times in its status
    return [f for f in envelope if f[0] != 2], metadata, [f for f in message[1:] if not (timed and f[0] == 3)]


def wished(answer):
    """What a client sent, as far as an answer tells: the object without what a server adds."""
    metadata = {k: v for k, v in answer['metadata'].items() if k not in UNSHARED + ('generation',)}
    return dict(answer, metadata=metadata)


def collection(path):
    return path.rsplit('/', 1)[0]


class Store(unittest.TestCase):
    maxDiff = None

    def test_what_kube_apiserver_stored_is_served_as_it_served_it(self):
        with tempfile.TemporaryDirectory() as directory:
            load(directory)
            with Server(*FLAGS, data_dir=directory) as server:
                for path, want in RECORDED['answers'].items():
                    with self.subTest(path):
                        status, _, got = server.request('GET', path)
                        self.assertEqual((status, differences(want, got)), (200, []))

    def test_what_is_made_here_is_stored_as_kube_apiserver_stored_it(self):
        with tempfile.TemporaryDirectory() as directory:
            with Server(*FLAGS, data_dir=directory) as server:
                server.request('POST', '/api/v1/namespaces', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'store'}})
                keys = {}
                for path, answer in RECORDED['answers'].items():
                    keys[answer['metadata']['uid']] = path
                    status, _, got = server.request('POST', collection(path), wished(answer))
                    if not any(key.endswith(path.rsplit('/', 1)[1]) for key in OTHERS):
                        with self.subTest(path):
                            self.assertEqual(status, 201, got)
                server.terminate()
            dumped = subprocess.run([STORE_FILE, 'dump', store_of(directory)], capture_output=True, text=True, check=True).stdout
        here = {key: base64.b64decode(value) for _, key, value in (line.split(' ') for line in dumped.splitlines())}
        for entry in RECORDED['store']:
            want = base64.b64decode(entry['value'])
            if any(uid.encode() in want[:600] for uid in keys) and not OWN.match(entry['key']) and entry['key'] not in OTHERS:
                with self.subTest(entry['key']):
                    self.assertIn(entry['key'], here)
                    self.assertEqual(shared(here[entry['key']]), shared(want))


if __name__ == '__main__':
    unittest.main()
