"""Tables of every kind are those of kube-apiserver's own printers: objects made at random, loaded into the store as kube-apiserver would have
stored them, are listed as a Table; columns and cells are compared with what k8s.io/kubernetes prints of the same objects (tables/main.go, built
by the test from the Go module; skipped if that is not available). TABLES_SEED in the environment sets the seed, TABLES_PER_KIND the

number of objects."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'e2e'), os.path.join(HERE, '..', 'clients')]
import clients  # noqa: E402
from harness import ONLY_LIFECYCLE, Server  # noqa: E402
from store_test import RECORDED, STORE_FILE, fields  # noqa: E402

PER_KIND = int(os.environ.get('TABLES_PER_KIND', '40'))
SEED = int(os.environ.get('TABLES_SEED', '1'))
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}
# The server's controllers must not change the loaded objects.
FLAGS = ('--service-cluster-ip-range=10.0.0.0/16', ONLY_LIFECYCLE, '--enable-namespace-controller=false')
# Kinds without a printer, or with one that kube-apiserver does not use.
WITHOUT_PRINTERS = ('CSIStorageCapacity',)
DEFAULT = [{'name': 'Name', 'type': 'string', 'format': 'name', 'priority': 0}, {'name': 'Created At', 'type': 'date', 'format': '', 'priority': 0}]


class Kind:
    """A kind that the recorded store holds, where its objects are kept and where they are listed."""

    def __init__(self, entry, path, metadata):
        envelope = dict(fields(base64.b64decode(entry['value'])[4:]))
        meta = dict(fields(envelope[1]))
        self.api_version, self.kind = meta[1].decode(), meta[2].decode()
        self.namespace = metadata.get('namespace', '')
        self.prefix = entry['key'].rsplit('/', 1)[0]
        self.path = path.rsplit('/', 1)[0]

    def asked(self):
        return {'apiVersion': self.api_version, 'kind': self.kind, 'namespace': self.namespace, 'count': PER_KIND, 'seed': SEED}


def kinds():
    """One of each that is stored as protobuf, by its name."""
    by_uid = {answer['metadata']['uid']: (path, answer['metadata']) for path, answer in RECORDED['answers'].items()}
    out = {}
    for entry in RECORDED['store']:
        value = base64.b64decode(entry['value'])
        found = next((by_uid[uid] for uid in by_uid if uid.encode() in value[:600] and by_uid[uid][0].endswith('/' + entry['key'].rsplit('/', 1)[1])), None)
        if found and value.startswith(b'k8s\0'):
            kind = Kind(entry, *found)
            out.setdefault((kind.api_version, kind.kind), kind)
    return out


def plain(columns):
    return [{key: column.get(key, 0 if key == 'priority' else '') for key in ('name', 'type', 'format', 'priority')} for column in columns]


class Tables(unittest.TestCase):
    maxDiff = None

    def test_columns_and_cells_are_those_of_the_printers(self):
        try:
            program = clients.build_own(os.path.join(HERE, 'tables', 'main.go'))
        except clients.Missing as why:
            self.skipTest('kube-apiserver\'s printers cannot be built: %s' % why)
        every = kinds()
        self.assertGreater(len(every), 45)
        made = subprocess.run([program], input=json.dumps([kind.asked() for kind in every.values()]), capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        rows = {}
        for line in made.stdout.splitlines():
            row = json.loads(line)
            rows.setdefault((row['apiVersion'], row['kind']), []).append(row)
        with tempfile.TemporaryDirectory() as directory:
            self.load(directory, every, rows)
            with Server(*FLAGS, data_dir=directory) as server:
                for name, kind in every.items():
                    with self.subTest(name):
                        self.compare(server, kind, rows[name])

    def load(self, directory, every, rows):
        store = os.path.join(directory, 'data', 'rocksdb')
        os.makedirs(store, mode=0o700)
        os.chmod(os.path.join(directory, 'data'), 0o700)
        lines, revision = [], 2
        for name, kind in every.items():
            for row in rows[name]:
                lines.append('%d %s/%s %s\n' % (revision, kind.prefix, row['name'], row['stored']))
                revision += 1
        subprocess.run([STORE_FILE, 'load', store], input=''.join(lines), text=True, check=True)

    def compare(self, server, kind, wanted):
        status, _, table = server.request('GET', kind.path, headers=TABLE)
        self.assertEqual(status, 200, table)
        served = {row['object']['metadata']['name']: row['cells'] for row in table['rows']}
        default = 'problem' in wanted[0] or kind.kind in WITHOUT_PRINTERS
        self.assertEqual(plain(table['columnDefinitions']), DEFAULT if default else plain(wanted[0]['columns']))
        self.assertEqual({row['name'] for row in wanted} - set(served), set())
        wrong = [] if default else ['%s: here %s, upstream %s' % (row['stored'], served[row['name']], row['cells']) for row in wanted
                                    if served[row['name']] != row['cells']]
        if wrong:
            self.fail('%d of %d rows differ\n%s' % (len(wrong), len(wanted), '\n'.join(wrong[:4])))


if __name__ == '__main__':
    unittest.main()
