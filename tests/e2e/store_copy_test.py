"""`backplane store copy`: from the embedded store to etcd and back, the responses of servers over both, and refusals."""
import json
import os
import re
import socket
import subprocess
import tempfile
import unittest

from etcd_keys import Keys
from etcd_test import ETCD, Etcd
from harness import BINARY, PLUGINS, Server, configmap, main, wait_for

CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
EVENTS = '/api/v1/namespaces/default/events'
SERVICES = '/api/v1/namespaces/default/services'
RANGE = '--service-cluster-ip-range=10.7.0.0/24'
HOLD = '/registry.backplane/hold'
DONE = re.compile(r'copied (\d+) keys, \d+ bytes, sha256 ([0-9a-f]{64})\nthe source was at revision (\d+), the target begins at revision (\d+)\n')


def store(*words):
    return subprocess.run([BINARY, 'store', *words, '--plugin-dir', PLUGINS], capture_output=True, text=True, timeout=300, check=False)


def of(directory):
    return 'rocksdb:' + os.path.join(directory, 'data')


def fill(server):
    for n in range(250):
        code, _, answer = server.request('POST', CONFIGMAPS, configmap('c%d' % n, text='x' * 2000 if n % 10 else '<&>\u00e9'))
        assert code == 201, answer
    assert server.request('POST', SERVICES, {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 's'},
                                             'spec': {'type': 'NodePort', 'ports': [{'port': 80}]}})[0] == 201
    assert server.request('POST', EVENTS, {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e', 'namespace': 'default'},
                                           'involvedObject': {'kind': 'Pod', 'namespace': 'default', 'name': 'p'}})[0] == 201


def said(server):
    """Every object without its resourceVersion, and the newest resourceVersion."""
    out, newest = {}, 0
    for path in (CONFIGMAPS, SERVICES, EVENTS, '/apis/networking.k8s.io/v1/ipaddresses', '/api/v1/namespaces'):
        for item in server.request('GET', path)[2]['items']:
            newest = max(newest, int(item['metadata'].pop('resourceVersion')))
            out[path, item['metadata']['name']] = item
    return out, newest


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class Copy(unittest.TestCase):
    maxDiff = 4000

    def etcd(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        return etcd

    def directory(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return directory.name

    def copied(self, *words):
        done = store('copy', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return DONE.search(done.stdout).groups()

    def refused(self, *words):
        """The error of a failed copy."""
        done = store('copy', *words)
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        self.assertTrue(done.stderr.startswith('Error: '), done.stderr)
        return done.stderr[len('Error: '):].rstrip('\n')

    def test_to_etcd_and_back(self):
        first, etcd, second = self.directory(), self.etcd(), self.directory()
        with Server(RANGE, data_dir=first) as server:
            fill(server)
            before, newest = said(server)
            server.terminate()
        there = self.copied('--from', of(first), '--to', 'etcd:' + etcd.url)
        self.assertGreaterEqual(int(there[2]), newest)
        self.assertGreater(int(there[3]), int(there[2]))
        with Server(RANGE, '--etcd-servers=' + etcd.url) as server:
            after, _ = said(server)
            self.assertEqual(after, before)
            for item in server.request('GET', CONFIGMAPS)[2]['items']:
                self.assertGreater(int(item['metadata']['resourceVersion']), int(there[2]), 'no version comes twice')
            _, _, event = server.request('GET', CONFIGMAPS + '?watch=1&timeoutSeconds=60&resourceVersion=%d' % newest)
            self.assertEqual((event['type'], event['object']['code']), ('ERROR', 410), 'a watcher of the source must list again')
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('new'))[0], 201)
            code, _, made = server.request('POST', SERVICES, {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'another'},
                                                              'spec': {'type': 'NodePort', 'ports': [{'port': 80}]}})
            self.assertEqual(code, 201)
            self.assertNotEqual(made['spec']['clusterIP'], before[SERVICES, 's']['spec']['clusterIP'])
            before, newest = said(server)
            server.terminate()
        back = self.copied('--from', etcd.url, '--to', os.path.join(second, 'data'))  # these names may be followed by others
        with Server(RANGE, data_dir=second) as server:
            after, oldest = said(server)
            self.assertEqual(after, before)
            self.assertGreater(oldest, newest)
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('newer'))[0], 201)
            server.terminate()
        self.assertGreater(int(back[3]), newest)

    def test_the_same_keys_have_the_same_digest(self):
        first, etcds = self.directory(), [self.etcd(), self.etcd()]
        with Server(RANGE, data_dir=first) as server:
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
            server.terminate()
        one = self.copied('--from', of(first), '--to', 'etcd:' + etcds[0].url)
        other = self.copied('--from', 'etcd:' + etcds[0].url, '--to', 'etcd:' + etcds[1].url, '--to-prefix', '/elsewhere')
        self.assertEqual(one[:2], other[:2])
        self.assertEqual(len(Keys(etcds[1]).all('/elsewhere/')), int(one[0]))
        with Server(RANGE, '--etcd-servers=' + etcds[1].url, '--etcd-prefix=/elsewhere') as server:
            self.assertEqual(server.request('GET', CONFIGMAPS + '/a')[0], 200)

    def test_a_copy_that_was_broken_off_is_not_served_and_is_finished(self):
        first, etcd = self.directory(), self.etcd()
        with Server(RANGE, data_dir=first) as server:
            fill(server)
            before, _ = said(server)
            server.terminate()
        keys = Keys(etcd)
        keys.put(HOLD, json.dumps({'kind': 'filling', 'other': of(first)}))
        keys.put('/registry/configmaps/default/c1', 'half of it')
        keys.put('/registry/configmaps/default/zz', 'no longer there')
        server = Server(RANGE, '--etcd-servers=' + etcd.url, wait=False)
        self.addCleanup(server.stop)
        self.assertTrue(wait_for(lambda: 'is a copy of ' + of(first) + ' that has not been finished' in server.text()), server.text()[-2000:])
        self.assertNotIn('HasBeenReady', server.text())
        server.kill()
        done = store('copy', '--from', of(first), '--to', 'etcd:' + etcd.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith('completed an interrupted copy: '), done.stdout)
        with Server(RANGE, '--etcd-servers=' + etcd.url) as server:
            self.assertEqual(said(server)[0], before)

    def move_while_running(self, server, source, target, flags, directory=None, authority=None):
        """Copies the store of a running server, which refuses writes from then on until it is released."""
        fill(server)
        before, _ = said(server)
        reached = ('--from-cafile', authority, '--from-prefix', '/registry/') if authority else ()
        copied = store('copy', '--from', source, '--refuse-writes', '--to', target, *reached)
        self.assertEqual(copied.returncode, 0, copied.stderr)
        words = ['release', source] + (['--prefix', '/registry/', '--cafile', authority] if authority else [])
        self.assertTrue(copied.stdout.endswith('; to use it again: backplane store %s\n' % ' '.join(words)), copied.stdout)
        code, headers, answer = server.request('POST', CONFIGMAPS, configmap('late'))
        self.assertEqual((code, answer['reason']), (503, 'ServiceUnavailable'))
        self.assertEqual(answer['message'], 'the store takes no writes: it is being moved to ' + target)
        self.assertEqual(headers.get('Retry-After'), '5')
        self.assertEqual(server.request('GET', CONFIGMAPS + '/c1')[0], 200)
        with Server(RANGE, *flags, data_dir=directory) as moved:
            self.assertEqual(said(moved)[0], before)
        released = store(*words)
        self.assertEqual((released.returncode, released.stdout), (0, 'the servers of %s may write again\n' % source), released.stderr)
        self.assertEqual(server.request('POST', CONFIGMAPS, configmap('late'))[0], 201)
        again = store('release', source)
        self.assertEqual((again.returncode, again.stderr), (1, 'Error: there is no hold on the store\n'))

    def test_a_server_over_etcd_takes_no_writes_while_its_store_is_moved(self):
        etcd, target = self.etcd(), self.directory()
        with Server(RANGE, '--etcd-servers=' + etcd.url) as server:
            authority = os.path.join(server.dir, 'data/pki/ca.crt')
            self.move_while_running(server, 'etcd:' + etcd.url, of(target), (), target, authority)

    def test_a_server_with_an_embedded_store_takes_no_writes_while_it_is_moved(self):
        home, etcd = self.directory(), self.etcd()
        with Server(RANGE, data_dir=home) as server:
            self.move_while_running(server, of(home), 'etcd:' + etcd.url, ('--etcd-servers=' + etcd.url,))
            code, _, answer = server.request('POST', '/debug/store/range', {'start': '/registry/', 'end': '/registry0', 'limit': 1})
            self.assertEqual((code, len(answer['items']), answer['more']), (200, 1, True))
            code, _, answer = server.request('POST', '/debug/store/range', {'start': '/', 'end': '0'})
            self.assertEqual((code, answer['message']), (400, 'only objects of the store can be read'))
            code, _, answer = server.request('POST', '/debug/store/hold', {'text': 'nonsense'})
            self.assertEqual((code, answer['message']), (400, 'the text is no hold'))
            self.assertEqual(server.request('POST', '/debug/store/range', {'start': '/registry/'}, client_certificate=False)[0], 403)

    def test_actions_that_are_impossible_are_reported_and_change_nothing(self):
        first, empty, etcd = self.directory(), self.directory(), self.etcd()
        silent = socket.socket()  # its port is reserved, and refuses connections
        self.addCleanup(silent.close)
        silent.bind(('127.0.0.1', 0))
        nobody = 'etcd:http://127.0.0.1:%d' % silent.getsockname()[1]
        with Server(RANGE, data_dir=first) as server:
            self.assertEqual(self.refused('--from', of(first), '--to', 'etcd:' + etcd.url),
                             '"%s/data" is in use by a running server: stop it first' % first)
            server.terminate()
        rocks, over = of(first), 'etcd:' + etcd.url
        self.assertEqual(self.refused('--from', 'redis:x', '--to', over), '"redis:x" names no store: rocksdb:DATA_DIR or etcd:URL[,URL...]')
        self.assertEqual(self.refused('--from', 'absent/data', '--to', over), 'there is no store in "%s"' % os.path.abspath('absent/data'))
        self.assertEqual(self.refused('--from', rocks, '--to', rocks), '--from and --to are the same store')
        self.assertEqual(self.refused('--from', of(empty), '--to', over), 'there is no store in "%s/data"' % empty)
        self.assertTrue(self.refused('--from', rocks, '--to', nobody).startswith('"%s" cannot be reached: ' % nobody))
        self.assertIn('has no prefix', self.refused('--from', rocks, '--from-prefix', '/x', '--to', over))
        self.assertIn('--to-cafile: "nowhere" cannot be read', self.refused('--from', rocks, '--to', over, '--to-cafile', 'nowhere'))
        self.assertIn('--to-certfile and --to-keyfile go together',
                      self.refused('--from', rocks, '--to', over, '--to-certfile', os.path.join(first, 'data/pki/ca.crt')))
        self.assertIn('--from-prefix: must be a non-empty prefix', self.refused('--from', over, '--from-prefix', '/', '--to', of(empty)))
        self.assertIn('--to: "ftp://x" has a scheme that etcd is not reached by', self.refused('--from', rocks, '--to', 'etcd:ftp://x'))
        self.assertIn('STORE: "ftp://x" has a scheme', store('release', 'etcd:ftp://x').stderr)
        never = store('copy', '--from', rocks, '--to', over, '--lease-seconds', '0')
        self.assertEqual(never.returncode, 2)
        self.assertIn('--lease-seconds: Value 0 not in range 1 to 2147483647\n', never.stderr)
        self.assertEqual(self.refused('--from', over, '--from-prefix', '/mistaken', '--to', of(empty)),
                         'source: there is nothing in it: no key begins with the prefix')
        self.assertEqual(Keys(etcd).all('/'), {})
        Keys(etcd).put('/registry/configmaps/default/own', 'mine')
        self.assertEqual(self.refused('--from', rocks, '--to', over),
                         'target: it is not empty: it holds 1 keys, the first is "/registry/configmaps/default/own"')
        self.assertEqual(list(Keys(etcd).all('/')), ['/registry/configmaps/default/own'])

    def test_the_commands_of_the_manual(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/operations.md'), encoding='utf-8') as manual:
            commands = re.findall(r'^backplane (store copy .*)$', manual.read(), re.MULTILINE)
        self.assertEqual(len(commands), 2)
        etcd, first, second = self.etcd(), self.directory(), self.directory()
        with Server(RANGE, data_dir=first) as server:
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
            server.terminate()
        places = {'rocksdb:/var/lib/backplane-again': of(second), 'rocksdb:/var/lib/backplane': of(first), 'etcd:http://127.0.0.1:2379': 'etcd:' + etcd.url}
        for command in commands:
            done = store(*[places.get(word, word) for word in command.split()[1:]])
            self.assertEqual(done.returncode, 0, done.stderr)
        with Server(RANGE, data_dir=second) as server:
            self.assertEqual(server.request('GET', CONFIGMAPS + '/a')[0], 200)

    def test_the_command_line(self):
        self.assertEqual(store('paste').returncode, 2)
        self.assertEqual(store('copy', '--from', 'rocksdb:/x').returncode, 2)
        help_text = store('copy', '--help').stdout
        for section in ('Source:', 'Target:', 'Plugins:'):
            self.assertIn('\n' + section, help_text)


if __name__ == '__main__':
    main()
