"""Every kind in every encoding, over the wire: the objects that recordings/wrong.jsonl posts are created from JSON, YAML, protobuf and CBOR, each
on a separate server, read back in all four, and are equal everywhere. The tests of schemas and of the store check that protobuf equals
kube-apiserver's byte for byte."""
import copy
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'e2e')]
import cbor_test  # noqa: E402
from harness import ONLY_LIFECYCLE, Server  # noqa: E402
from recordings_test import scrub  # noqa: E402

TYPES = {'json': 'application/json', 'yaml': 'application/yaml', 'protobuf': 'application/vnd.kubernetes.protobuf', 'cbor': 'application/cbor'}
FLAGS = ('--service-cluster-ip-range=10.0.0.0/16', ONLY_LIFECYCLE, '--feature-gates=CBORServingAndStorage=true')
LABELS = {'app': 'encodings'}


def cases():
    """(name, collection, object) of all that are kept."""
    out = []
    with open(os.path.join(HERE, 'recordings', 'wrong.jsonl'), encoding='utf-8') as f:
        recorded = [json.loads(line) for line in f]
    for case in recorded:
        base = copy.deepcopy(case['base'])
        if not case['do'].endswith('?dryRun=All'):
            continue  # reviews are not stored
        if base['kind'] == 'Job':  # a server adds members that a client may not send
            base['spec'].update(manualSelector=True, selector={'matchLabels': LABELS})
            base['spec']['template'].setdefault('metadata', {})['labels'] = LABELS
        if base['kind'] == 'Pod':  # the labels of these keys would be added to the selector a second time
            for constraint in base['spec'].get('topologySpreadConstraints', []):
                constraint.pop('matchLabelKeys', None)
        out.append((case['id'], case['do'].split(' ')[1].split('?')[0], base))
    return out


def yaml(value, indent=''):
    """Block style; texts are quoted as in JSON."""
    if isinstance(value, dict) and value:
        return ''.join('\n%s%s:%s' % (indent, json.dumps(k), yaml(v, indent + '  ')) for k, v in value.items())
    if isinstance(value, list) and value:
        return ''.join('\n%s- %s' % (indent, yaml(v, indent + '  ').lstrip()) for v in value)
    return ' ' + json.dumps(value)


class Client:
    def __init__(self, server):
        self.connection = server.connect()

    def send(self, method, path, body=None, media='application/json', accept='application/json'):
        headers = {'Accept': accept}
        if body is not None:
            headers['Content-Type'] = media
        self.connection.request(method, path, body=body, headers=headers)
        response = self.connection.getresponse()
        return response.status, response.read()

    def body(self, encoding, path, base):
        """The object in that encoding; the server makes the protobuf."""
        # Without blanks, because raw values keep them, but responses do not show them: a write of a response would change the object.
        text = json.dumps(base, separators=(',', ':')).encode()
        if encoding == 'yaml':
            return yaml(base).encode()
        if encoding == 'cbor':
            return cbor_test.write(base)
        if encoding == 'json':
            return text
        status, made = self.send('POST', path + '?dryRun=All', text, accept=TYPES[encoding])
        assert status == 201 and made.startswith(b'k8s\0'), made
        return made


def shown(body):
    """The part that controllers do not change: without status."""
    tree = scrub(json.loads(body))
    tree.pop('status', None)
    tree['metadata'].pop('managedFields', None)
    if tree['kind'] == 'CertificateSigningRequest':
        tree['spec'].pop('extra', None)  # of the certificate that this server created for its administrator
    return tree


class Encodings(unittest.TestCase):
    maxDiff = None

    def test_every_kind_is_the_same_from_and_to_every_encoding(self):
        every = cases()
        self.assertGreater(len(every), 70)
        wanted = {}
        for encoding in TYPES:
            with Server(*FLAGS) as server:
                client = Client(server)
                client.send('POST', '/api/v1/namespaces', json.dumps({'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'rec'}}))
                for name, path, base in every:
                    with self.subTest(name, encoding=encoding):
                        self.one(client, encoding, path, base, wanted.setdefault(name, []))
                client.connection.close()

    def one(self, client, encoding, path, base, wanted):
        status, made = client.send('POST', path, client.body(encoding, path, base), media=TYPES[encoding])
        self.assertEqual(status, 201, made)
        made = json.loads(made)
        target = path + '/' + made['metadata']['name']
        status, plain = client.send('GET', target)
        self.assertEqual(status, 200, plain)
        wanted = wanted or wanted.append(shown(plain)) or wanted
        self.assertEqual(shown(plain), wanted[0])
        for to, media in TYPES.items():
            self.read_back(client, target, to, media, wanted[0])

    def read_back(self, client, target, to, media, wanted):
        """Writes the object as it was read, and checks that nothing changes."""
        for _ in range(20):
            status, body = client.send('GET', target, accept=media)
            self.assertEqual(status, 200, body)
            status, answer = client.send('PUT', target + '?dryRun=All', body, media=media)
            if status != 409:  # a controller has written meanwhile
                break
        self.assertEqual(status, 200, (to, answer))
        self.assertEqual(shown(answer), wanted, to)


if __name__ == '__main__':
    unittest.main()
