"""`backplane store snapshot | restore | check | stat`: of running servers and of data directories."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BINARY, PLUGINS, Server, configmap, main, wait_for

CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
EVENTS = '/api/v1/namespaces/default/events'
TAKEN = re.compile(r'^(\S+): (\d+) keys, (\d+) bytes at revision (\d+), sha256 [0-9a-f]{64}\n$')
RESTORED = re.compile(r'^restored (\d+) keys, \d+ bytes from revision (\d+); the store continues at revision (\d+)\n$')


def store(*words):
    return subprocess.run([BINARY, 'store', *words, '--plugin-dir', PLUGINS], capture_output=True, text=True, timeout=300, check=False)


def fill(server, count=120, size=500):
    for n in range(count):
        code, _, answer = server.request('POST', CONFIGMAPS, configmap('c%d' % n, text='x' * size))
        assert code == 201, answer
    assert server.request('PUT', CONFIGMAPS + '/c3', configmap('c3', text='changed'))[0] == 200
    assert server.request('POST', EVENTS, {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e', 'namespace': 'default'},
                                           'involvedObject': {'kind': 'Pod', 'namespace': 'default', 'name': 'p'}})[0] == 201


def objects(server):
    """Every object as it is served, with its resourceVersion."""
    out = {}
    for path in (CONFIGMAPS, EVENTS, '/api/v1/namespaces', '/api/v1/services', '/apis/rbac.authorization.k8s.io/v1/clusterroles'):
        for item in server.request('GET', path)[2]['items']:
            out[path, item['metadata'].get('namespace'), item['metadata']['name']] = item
    return out


def invert(path, offset):
    with open(path, 'r+b') as f:
        f.seek(offset)
        byte = f.read(1)
        f.seek(offset)
        f.write(bytes([byte[0] ^ 0xff]))


class Snapshots(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix='backplane-snapshot-')
        self.addCleanup(directory.cleanup)
        self.dir = directory.name
        self.file = os.path.join(self.dir, 'store.snapshot')

    def done(self, *words, code=0):
        done = store(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def refused(self, *words):
        done = store(*words)
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        self.assertTrue(done.stderr.startswith('Error: '), done.stderr)
        return done.stderr[len('Error: '):].rstrip('\n')

    def test_a_restored_store_serves_the_same_objects(self):
        with Server() as server:
            fill(server)
            before = objects(server)
            revision = int(TAKEN.match(self.done('snapshot', '--kubeconfig', server.kubeconfig, '-o', self.file))[4])
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('later'))[0], 201)
            newest = int(server.request('GET', CONFIGMAPS)[2]['metadata']['resourceVersion'])
            self.assertEqual(os.stat(self.file).st_mode & 0o777, 0o600)
        self.assertGreater(newest, revision)
        for flags, bump in (((), 1000000000), (('--bump-revision', '0'), 0), (('--bump-revision', '5000'), 5000)):
            with self.subTest(bump=bump):
                home = os.path.join(self.dir, 'restored%d' % bump)
                said = RESTORED.match(self.done('restore', self.file, '--data-dir', os.path.join(home, 'data'), *flags))
                self.assertEqual((int(said[2]), int(said[3])), (revision, revision + bump))
                with Server(data_dir=home) as server:
                    self.assertEqual({key: value for key, value in objects(server).items() if key in before}, before)
                    self.assertEqual(server.request('GET', CONFIGMAPS + '/later')[0], 404)
                    self.assertGreaterEqual(int(server.request('GET', CONFIGMAPS)[2]['metadata']['resourceVersion']), revision + bump)
                    # An informer that has seen the write after the snapshot lists again.
                    if bump:
                        event, = server.events(CONFIGMAPS + '?watch=1&resourceVersion=%d' % newest, 1)
                        self.assertEqual((event['type'], event['object']['code']), ('ERROR', 410))
                    created = server.request('POST', CONFIGMAPS, configmap('newer'))[2]
                    self.assertGreater(int(created['metadata']['resourceVersion']), revision + bump)
                    server.terminate()

    def test_a_store_without_a_server(self):
        home = os.path.join(self.dir, 'server')
        os.mkdir(home)
        with Server(data_dir=home) as server:
            fill(server)
            before = objects(server)
            server.terminate()
        data = os.path.join(home, 'data')
        self.done('snapshot', '--data-dir', data, '-o', self.file)
        self.assertIn('no damage', self.done('check', '--data-dir', data))
        self.assertIn('no damage', self.done('check', self.file))
        # The keys and certificates of the data directory stay, the store is replaced.
        os.rename(os.path.join(data, 'rocksdb'), os.path.join(self.dir, 'former'))
        self.done('restore', self.file, '--data-dir', data, '--bump-revision=0')
        with Server(data_dir=home) as server:
            after = objects(server)
            self.assertEqual({key: after.get(key) for key in before}, before)
            server.terminate()

    def test_a_directory_that_is_not_empty_is_refused(self):
        with Server() as server:
            self.done('snapshot', '--kubeconfig', server.kubeconfig, '-o', self.file)
            data = os.path.dirname(server.kubeconfig)
            self.assertIn('is not empty: it has a store', self.refused('restore', self.file, '--data-dir', data))
        other = os.path.join(self.dir, 'other')
        os.mkdir(other)
        pathlib.Path(other, 'file').write_text('something', encoding='utf-8')
        self.assertIn('is not empty: it has file;', self.refused('restore', self.file, '--data-dir', other))
        self.assertEqual(os.listdir(other), ['file'])

    def test_a_run_that_is_killed_leaves_no_half_file(self):
        with Server() as server:
            fill(server, 24, 900000)
            command = [BINARY, 'store', 'snapshot', '--kubeconfig', server.kubeconfig, '-o', self.file, '--plugin-dir', PLUGINS]
            partial, caught = self.file + '.partial', False
            deadline = time.monotonic() + 120
            while not caught and time.monotonic() < deadline:
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                while process.poll() is None:
                    try:
                        caught = os.stat(partial).st_size > 1000000
                    except FileNotFoundError:
                        pass
                    if caught:
                        process.kill()
                        break
                process.stderr.read()
                process.stderr.close()
                process.wait()
                caught = process.returncode == -signal.SIGKILL
                if not caught:  # the snapshot was faster
                    self.assertIn('no damage', self.done('check', self.file))
                    os.unlink(self.file)
            self.assertTrue(caught)
            self.assertFalse(os.path.exists(self.file))
            self.done('snapshot', '--kubeconfig', server.kubeconfig, '-o', self.file)
            self.assertFalse(os.path.exists(partial))
            # A complete snapshot stays until the next one is complete.
            good = pathlib.Path(self.file).read_bytes()
            server.process.send_signal(signal.SIGSTOP)
            self.addCleanup(lambda: server.process.poll() is None and server.process.send_signal(signal.SIGCONT))
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertTrue(wait_for(lambda: os.path.exists(partial)))
            process.kill()
            process.wait()
            self.assertEqual(pathlib.Path(self.file).read_bytes(), good)
            server.process.send_signal(signal.SIGCONT)

    def test_a_damaged_snapshot_is_refused(self):
        with Server() as server:
            fill(server)
            self.done('snapshot', '--kubeconfig', server.kubeconfig, '-o', self.file)
        at = pathlib.Path(self.file).read_bytes().index(b'changed')
        invert(self.file, at)
        found = json.loads(self.done('check', self.file, '-o', 'json', code=1))
        self.assertFalse(found['ok'])
        damage, = found['damage']
        self.assertEqual(damage['file'], self.file)
        self.assertLess(damage['offset'], at)
        self.assertGreater(damage['offset'] + 1000, at)
        home = os.path.join(self.dir, 'restored')
        self.assertIn('offset %d' % damage['offset'], self.refused('restore', self.file, '--data-dir', home))
        self.assertFalse(os.path.exists(home))

    def test_a_damaged_store_is_found(self):
        home = os.path.join(self.dir, 'server')
        os.mkdir(home)
        with Server(data_dir=home) as server:
            fill(server, 60, 20000)
            server.terminate()
        data = os.path.join(home, 'data')
        segment = max(pathlib.Path(data, 'rocksdb').glob('*.sst'), key=lambda path: path.stat().st_size)
        self.assertIn('no damage', self.done('check', '--data-dir', data))
        segment = max(pathlib.Path(data, 'rocksdb').glob('*.sst'), key=lambda path: path.stat().st_size)
        invert(segment, segment.stat().st_size // 2)
        found = json.loads(self.done('check', '--data-dir', data, '-o', 'json', code=1))
        self.assertEqual({os.path.basename(each['file']) for each in found['damage']}, {segment.name}, found)
        self.assertLessEqual(abs(found['damage'][0]['offset'] - segment.stat().st_size // 2), 64 * 1024)
        self.assertIn('%s offset ' % segment.name, self.done('check', 'rocksdb:' + data, code=1))

    def test_a_running_server_is_checked_through_its_api(self):
        with Server('--authorization-mode=AlwaysAllow') as server:
            fill(server)
            found = json.loads(self.done('check', '--kubeconfig', server.kubeconfig, '-o', 'json'))
            self.assertTrue(found['ok'])
            self.assertGreater(found['records'], 240)  # objects and their history
            data = os.path.dirname(server.kubeconfig)
            stat = json.loads(self.done('stat', '--data-dir', data, '-o', 'json'))
            types = {each['type']: each for each in stat['types']}
            self.assertEqual(types['events']['objects'], 1)
            self.assertGreaterEqual(types['configmaps']['objects'], 120)
            self.assertGreater(types['configmaps']['bytes'], 120 * 500)
            self.assertEqual(stat['objects'], sum(each['objects'] for each in types.values()))
            self.assertEqual(stat['revision'], int(server.request('GET', '/api/v1/namespaces')[2]['metadata']['resourceVersion']))
            self.assertGreater(stat['freeBytes'], 0)
            self.assertRegex(self.done('stat', '--data-dir', data), r'\nconfigmaps +\d+ +\d+')
            # The store is for administrators only, whatever the authorizers say.
            for path in ('facts', 'check', 'range'):
                code = server.request('POST', '/debug/store/' + path, {}, headers={'Impersonate-User': 'jane'})[0]
                self.assertEqual(code, 403, path)

    def test_stat_of_a_snapshot(self):
        with Server() as server:
            fill(server)
            self.done('snapshot', '--kubeconfig', server.kubeconfig, '-o', self.file)
        stat = json.loads(self.done('stat', self.file, '-o', 'json'))
        self.assertGreaterEqual({each['type']: each['objects'] for each in stat['types']}['configmaps'], 120)
        self.assertNotIn('segments', stat)

    def test_actions_that_are_impossible_are_reported(self):
        self.assertIn('exclude each other', self.refused('stat', '--data-dir', self.dir, '--kubeconfig', 'x'))
        self.assertIn('there is no store in', self.refused('check', '--data-dir', self.dir))
        self.assertIn('cannot be read', self.refused('stat', '--kubeconfig', os.path.join(self.dir, 'none')))
        self.assertIn('No such file', self.refused('restore', os.path.join(self.dir, 'none'), '--data-dir', os.path.join(self.dir, 'new')))
        pathlib.Path(self.file).write_text('something else', encoding='utf-8')
        self.assertIn('is not a snapshot', self.refused('restore', self.file, '--data-dir', os.path.join(self.dir, 'new')))
        self.assertEqual(os.listdir(self.dir), ['store.snapshot'])


if __name__ == '__main__':
    main()
