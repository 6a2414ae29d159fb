"""Hosts over one etcd: what one writes the others have, nothing is given twice, and etcd may go away and come back."""
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

from harness import Server, configmap, main, wait_for

ETCD = shutil.which('etcd')
CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
SERVICES = '/api/v1/namespaces/default/services'


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Etcd:
    """One etcd with a directory of its own."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix='backplane-etcd-')
        self.url = 'http://127.0.0.1:%d' % free_port()
        self.peer = 'http://127.0.0.1:%d' % free_port()
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [ETCD, '--name=test', '--data-dir=' + os.path.join(self.dir, 'data'), '--listen-client-urls=' + self.url,
             '--advertise-client-urls=' + self.url, '--listen-peer-urls=' + self.peer, '--initial-advertise-peer-urls=' + self.peer,
             '--initial-cluster=test=' + self.peer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not wait_for(self.answers):
            raise AssertionError('etcd does not come up')
        return self

    def answers(self):
        try:
            connection = http.client.HTTPConnection(self.url.partition('//')[2], timeout=5)
            connection.request('GET', '/health')
            return json.loads(connection.getresponse().read()).get('health') == 'true'
        except (OSError, ValueError):
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class TwoHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.etcd = Etcd().start()
        cls.hosts = [Server('--etcd-servers=' + cls.etcd.url, '--service-cluster-ip-range=10.7.0.0/24') for _ in range(2)]

    @classmethod
    def tearDownClass(cls):
        for host in cls.hosts:
            host.stop()
        cls.etcd.stop()

    def test_a_write_on_one_host_is_in_the_next_read_of_the_other(self):
        one, other = self.hosts
        there, here = one.connect(), other.connect()
        code, _, made = one.request('POST', CONFIGMAPS, configmap('passed-on', n='0'), connection=there)
        self.assertEqual(code, 201, made)
        for n in range(1, 200):
            made['data']['n'] = str(n)
            code, _, made = one.request('PUT', CONFIGMAPS + '/passed-on', made, connection=there)
            self.assertEqual(code, 200, made)
            _, _, seen = other.request('GET', CONFIGMAPS + '/passed-on', connection=here)
            self.assertEqual(seen['data']['n'], str(n))
            _, _, listed = other.request('GET', CONFIGMAPS + '?labelSelector=!none', connection=here)
            self.assertEqual([item['data']['n'] for item in listed['items'] if item['metadata']['name'] == 'passed-on'], [str(n)])
            one, other, there, here = other, one, here, there

    def test_a_watch_on_one_host_sees_what_the_other_writes_in_order(self):
        one, other = self.hosts
        _, _, before = other.request('GET', CONFIGMAPS)
        connection = other.connect()
        connection.request('GET', CONFIGMAPS + '?watch=1&timeoutSeconds=60&fieldSelector=metadata.name%3Dseen&resourceVersion='
                           + before['metadata']['resourceVersion'])
        events = connection.getresponse()
        _, _, made = one.request('POST', CONFIGMAPS, configmap('seen', n='0'))
        for n in range(1, 30):
            made['data']['n'] = str(n)
            _, _, made = one.request('PUT', CONFIGMAPS + '/seen', made)
        for n in range(30):
            self.assertEqual(json.loads(events.readline())['object']['data']['n'], str(n))
        connection.close()

    def test_no_increment_is_lost(self):
        self.assertEqual(self.hosts[0].request('POST', CONFIGMAPS, configmap('counter', n='0'))[0], 201)
        failures = []

        def count(host):
            connection = host.connect()
            for _ in range(15):
                while True:
                    _, _, now = host.request('GET', CONFIGMAPS + '/counter', connection=connection)
                    now['data']['n'] = str(int(now['data']['n']) + 1)
                    code, _, answer = host.request('PUT', CONFIGMAPS + '/counter', now, connection=connection)
                    if code == 200:
                        break
                    if code != 409:
                        failures.append(answer)
                        return
        writers = [threading.Thread(target=count, args=(self.hosts[i % 2],)) for i in range(8)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.hosts[1].request('GET', CONFIGMAPS + '/counter')[2]['data']['n'], str(8 * 15))

    def test_no_address_and_no_port_is_given_twice(self):
        answers = []

        def serve(host, number):
            for i in range(10):
                answers.append(host.request('POST', SERVICES, {
                    'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 's%d-%d' % (number, i)},
                    'spec': {'type': 'NodePort', 'ports': [{'port': 80}]}}))
        writers = [threading.Thread(target=serve, args=(self.hosts[i % 2], i)) for i in range(4)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        self.assertEqual([answer for answer in answers if answer[0] != 201], [])
        self.assertEqual(len({answer[2]['spec']['clusterIP'] for answer in answers}), 40)
        self.assertEqual(len({answer[2]['spec']['ports'][0]['nodePort'] for answer in answers}), 40)


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class Away(unittest.TestCase):
    def test_etcd_may_be_killed_and_come_back(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url) as one, Server('--etcd-servers=' + etcd.url) as other:
            acknowledged = []
            for n in range(20):
                self.assertEqual(one.request('POST', CONFIGMAPS, configmap('before-%d' % n))[0], 201)
                acknowledged.append('before-%d' % n)
            etcd.kill()
            code, _, answer = one.request('POST', CONFIGMAPS, configmap('meanwhile'))
            self.assertGreaterEqual(code, 500, answer)
            self.assertEqual(answer['kind'], 'Status')
            self.assertEqual(one.request('GET', '/readyz')[0], 500)
            etcd.start()
            for host in (one, other):
                self.assertTrue(wait_for(lambda host=host: host.request('GET', '/readyz')[0] == 200), host.text()[-2000:])
            self.assertEqual(other.request('POST', CONFIGMAPS, configmap('after'))[0], 201)
            names = {item['metadata']['name'] for item in one.request('GET', CONFIGMAPS)[2]['items']}
            self.assertLessEqual(set(acknowledged + ['after']), names)

    def test_a_host_that_is_killed_leaves_the_endpoints_of_the_service_within_its_lease(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)

        def addresses(host):
            subsets = host.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes')[2].get('subsets') or []
            return [address['ip'] for subset in subsets for address in subset['addresses']]
        with Server('--etcd-servers=' + etcd.url, '--advertise-address=192.0.2.1') as one:
            with Server('--etcd-servers=' + etcd.url, '--advertise-address=192.0.2.2') as other:
                self.assertTrue(wait_for(lambda: addresses(one) == ['192.0.2.1', '192.0.2.2']), addresses(one))
                other.kill()
            self.assertTrue(wait_for(lambda: addresses(one) == ['192.0.2.1']), addresses(one))

    def test_history_that_was_compacted_is_answered_as_gone(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url, '--etcd-compaction-interval=500ms') as server:
            _, _, made = server.request('POST', CONFIGMAPS, configmap('a', n='0'))
            exact = CONFIGMAPS + '?resourceVersionMatch=Exact&resourceVersion=' + made['metadata']['resourceVersion']
            made['data']['n'] = '1'
            self.assertEqual(server.request('PUT', CONFIGMAPS + '/a', made)[0], 200)
            self.assertTrue(wait_for(lambda: server.request('GET', exact)[0] == 410), 'the old version is still read')

    def test_flags_that_name_no_etcd_end_the_start(self):
        for flag, text in (('--etcd-servers=ftp://x:1', 'etcd-servers'), ('--storage-backend=etcd3', '--etcd-servers')):
            server = Server(flag, wait=False)
            self.addCleanup(server.stop)
            self.assertEqual(server.process.wait(30), 1)
            self.assertIn(text, server.text().splitlines()[-1])


if __name__ == '__main__':
    main()
