"""Hosts over one etcd: each sees the others' writes, nothing is allocated twice, and etcd may stop and restart."""
import base64
import calendar
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from etcd_keys import Keys
from harness import Server, configmap, free_port, is_sanitized, main, wait_for

ETCD = shutil.which('etcd')
CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
SERVICES = '/api/v1/namespaces/default/services'
EVENTS = '/api/v1/namespaces/default/events'
# More rounds take longer, and find rarer errors.
ROUNDS = int(os.environ.get('BACKPLANE_ETCD_ROUNDS', '200'))
# The keys that kube-apiserver 1.36.3 writes for itself.
MASTER_LEASE = (b'k8s\0\n\x0f\n\x02v1\x12\tEndpoints\x12#\n\x10\n\0\x12\0\x1a\0"\0*\0002\0008\x01B\0'
                b'\x12\x0f\n\r\n\t192.0.2.2\x1a\0\x1a\0"\0')


def peer_lease(identity, address, port):
    """The lease with its address for peers, as kube-apiserver 1.36.3 writes it."""
    return (b'k8s\0\n\x0f\n\x02v1\x12\tEndpoints\x12p\nK\n\0\x12\0\x1a\0"\0*\0002\0008\x01B\0Z9\n\x11apiserverIdentity\x12$' + identity
            + b'\x12!\n\r\n\t' + address + b'\x1a\0\x1a\x10\n\x05https\x10' + bytes([port & 127 | 128, port >> 7 & 127 | 128, port >> 14])
            + b'\x1a\x03TCP\x1a\0"\0')


class Etcd:
    """One etcd with a separate directory."""

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
        up = wait_for(lambda: self.process.poll() is not None or self.answers())
        if not up or self.process.poll() is not None:
            raise AssertionError('etcd does not come up (ended with %s)' % self.process.returncode)
        return self

    def answers(self):
        connection = http.client.HTTPConnection(self.url.partition('//')[2], timeout=5)
        try:
            connection.request('GET', '/health')
            return json.loads(connection.getresponse().read()).get('health') == 'true'
        except (OSError, ValueError):
            return False
        finally:
            connection.close()

    def call(self, path, body=None):
        connection = http.client.HTTPConnection(self.url.partition('//')[2], timeout=5)
        try:
            connection.request('POST' if body else 'GET', path, body=json.dumps(body) if body else None)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def keys(self, prefix):
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        encoded = [base64.b64encode(text.encode()).decode() for text in (prefix, end)]
        found = json.loads(self.call('/v3/kv/range', {'key': encoded[0], 'range_end': encoded[1], 'keys_only': True}))
        return [base64.b64decode(kv['key']).decode() for kv in found.get('kvs', [])]

    def put(self, key, value):
        encoded = [base64.b64encode(text.encode()).decode() for text in (key, value)]
        self.call('/v3/kv/put', {'key': encoded[0], 'value': encoded[1]})

    def ranges(self):
        """The number of its range requests."""
        text = self.call('/metrics')
        return float(re.search(r'grpc_server_started_total\{grpc_method="Range",[^}]*\} (\S+)', text)[1])

    def pause(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process:
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
        for n in range(1, ROUNDS):
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

    @staticmethod
    def bytes_of(host, path):
        connection = host.connect()
        connection.request('GET', path)
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def test_what_a_host_has_written_is_the_same_on_both(self):
        """The writer's cache has the written bytes, the other one's the stored bytes."""
        one, other = self.hosts
        pod = {'kind': 'Pod', 'apiVersion': 'v1', 'metadata': {'name': 'same', 'labels': {'b': '2', 'a': '1'}, 'annotations': {}},
               'spec': {'containers': [{'name': 'c', 'image': 'i', 'resources': {'limits': {'cpu': '1000m', 'memory': '0.5Gi'}},
                                        'env': [{'name': 'E', 'value': ''}], 'livenessProbe': {'httpGet': {'path': '/', 'port': 'http'}}}]}}
        made = [('/api/v1/namespaces/default/pods', pod),
                (SERVICES, {'metadata': {'name': 'same'}, 'spec': {'ports': [{'port': 80}], 'selector': {}}}),
                ('/apis/apps/v1/namespaces/default/deployments', {'metadata': {'name': 'same'}, 'spec': {
                    'selector': {'matchLabels': {'a': 'b'}}, 'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': pod['spec']}}}),
                (CONFIGMAPS, configmap('same', n='0'))]
        for path, body in made:
            code, _, answer = one.request('POST', path, body)
            self.assertEqual(code, 201, answer)
            here, there = (self.bytes_of(host, path + '/same') for host in self.hosts)
            self.assertEqual(here, there)
            code, _, answer = other.request('PATCH', path + '/same', {'metadata': {'labels': {'seen': 'yes'}}},
                                            headers={'Content-Type': 'application/merge-patch+json'})
            self.assertEqual(code, 200, answer)
            here, there = (self.bytes_of(host, path + '/same') for host in self.hosts)
            self.assertEqual(here, there)

    def test_leases_of_hosts_that_died_are_collected_by_one_that_starts(self):
        path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

        def lease(name, renewed):
            return {'metadata': {'name': name, 'labels': {'apiserver.kubernetes.io/identity': 'kube-apiserver'}},
                    'spec': {'holderIdentity': name, 'leaseDurationSeconds': 3600,
                             'renewTime': time.strftime('%Y-%m-%dT%H:%M:%S.000000Z', time.gmtime(time.time() - renewed))}}
        for name, renewed in (('apiserver-dead', 3700), ('apiserver-alive', 3000)):
            self.assertEqual(self.hosts[0].request('POST', path, lease(name, renewed))[0], 201)
        other_label = lease('not-a-host', 3700)
        del other_label['metadata']['labels']
        self.assertEqual(self.hosts[0].request('POST', path, other_label)[0], 201)
        with Server('--etcd-servers=' + self.etcd.url, '--service-cluster-ip-range=10.7.0.0/24'):
            self.assertTrue(wait_for(lambda: self.hosts[0].request('GET', path + '/apiserver-dead')[0] == 404))
            for name in ('apiserver-alive', 'not-a-host'):
                self.assertEqual(self.hosts[1].request('GET', path + '/' + name)[0], 200)

    def test_no_increment_is_lost(self):
        self.assertEqual(self.hosts[0].request('POST', CONFIGMAPS, configmap('counter', n='0'))[0], 201)
        failures = []

        def count(host):
            connection = host.connect()
            for _ in range(15):
                while True:
                    code, _, answer = host.request('GET', CONFIGMAPS + '/counter', connection=connection)
                    if code == 200:
                        answer['data']['n'] = str(int(answer['data']['n']) + 1)
                        code, _, answer = host.request('PUT', CONFIGMAPS + '/counter', answer, connection=connection)
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


    def test_a_custom_type_that_is_established_is_served_by_both_hosts(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        hosts = [Server('--etcd-servers=' + etcd.url, '--apiserver-count=2') for _ in range(2)]
        for host in hosts:
            self.addCleanup(host.stop)
        definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
        code, _, made = hosts[0].request('POST', definitions, {
            'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'rounds.example.com'},
            'spec': {'group': 'example.com', 'scope': 'Namespaced', 'names': {'plural': 'rounds', 'kind': 'Round'},
                     'versions': [{'name': 'v1', 'served': True, 'storage': True,
                                   'schema': {'openAPIV3Schema': {'type': 'object'}}}]}})
        self.assertEqual(code, 201, made)

        def since(condition):
            """The time since which it holds; None: it does not hold."""
            status = hosts[0].request('GET', definitions + '/rounds.example.com')[2]['status']
            return {each['type']: each['lastTransitionTime'] for each in status.get('conditions') or [] if each['status'] == 'True'}.get(condition)
        self.assertTrue(wait_for(lambda: since('NamesAccepted')))
        for host in hosts:
            path = '/apis/example.com/v1/namespaces/default/rounds'
            self.assertTrue(wait_for(lambda host=host: host.request('GET', path)[0] == 200), 'names are accepted, and it is not served')
        established = wait_for(lambda: since('Established'))
        self.assertTrue(established)
        # Five seconds, measured with times in whole seconds; a late check is harmless.
        took = [calendar.timegm(time.strptime(at, '%Y-%m-%dT%H:%M:%SZ')) for at in (made['metadata']['creationTimestamp'], established)]
        self.assertGreaterEqual(took[1] - took[0], 4, 'it is established before the other host can serve it')

    def test_lists_of_many_clients_ask_for_the_revision_a_hundred_times_a_second_at_most(self):
        over = threading.Event()
        lists = []

        def read(host):
            connection = host.connect()
            while not over.is_set():
                lists.append(host.request('GET', CONFIGMAPS + '?limit=1', connection=connection)[0])
            connection.close()
        before, begun = self.etcd.ranges(), time.monotonic()
        readers = [threading.Thread(target=read, args=(self.hosts[0],)) for _ in range(8)]
        for reader in readers:
            reader.start()
        time.sleep(2)
        over.set()
        for reader in readers:
            reader.join()
        asked, took = self.etcd.ranges() - before, time.monotonic() - begun
        self.assertEqual(set(lists), {200})
        # Requests of this host; the other host and background work also send requests.
        self.assertLessEqual(asked, took * 100 + 16 + took * 20, len(lists))


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class Flags(unittest.TestCase):
    def test_a_resource_may_be_kept_by_other_servers(self):
        etcd, other = Etcd().start(), Etcd().start()
        self.addCleanup(etcd.stop)
        self.addCleanup(other.stop)
        with Server('--etcd-servers=' + etcd.url, '--etcd-servers-overrides=/events#' + other.url) as server:
            event = {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e'}, 'reason': 'R', 'type': 'Normal',
                     'involvedObject': {'kind': 'Pod', 'namespace': 'default', 'name': 'p'}}
            self.assertEqual(server.request('POST', EVENTS, event)[0], 201)
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
            self.assertEqual(other.keys('/registry/events/default/'), ['/registry/events/default/e'])
            self.assertEqual(etcd.keys('/registry/events/'), [])
            self.assertIn('/registry/configmaps/default/a', etcd.keys('/registry/configmaps/'))
            self.assertFalse([key for key in other.keys('/registry/') if not key.startswith('/registry/events/')])
            _, _, listed = server.request('GET', EVENTS)
            self.assertEqual([item['metadata']['name'] for item in listed['items']], ['e'])
            watching = server.connect()
            watching.request('GET', EVENTS + '?watch=1&timeoutSeconds=60&resourceVersion=' + listed['metadata']['resourceVersion'])
            stream = watching.getresponse()
            event['metadata']['name'] = 'f'
            self.assertEqual(server.request('POST', EVENTS, event)[0], 201)
            self.assertEqual(json.loads(stream.readline())['object']['metadata']['name'], 'f')
            watching.close()
            verbose = server.request('GET', '/readyz?verbose')[2]
            for check in ('etcd', 'etcd-readiness', 'etcd-override-0', 'etcd-override-readiness-0'):
                self.assertIn('[+]%s ok' % check, verbose)
            metrics = server.request('GET', '/metrics')[2]
            # For the first caller.
            for series in ('apiserver_storage_size_bytes{storage_cluster_id="etcd-1"}',
                           'apiserver_storage_db_total_size_in_bytes{endpoint="%s"}' % other.url):
                size = re.search('^' + re.escape(series) + r' (\S+)$', metrics, re.M)
                self.assertGreater(float(size[1]) if size else -1, 0, series)
            other.kill()
            self.assertEqual(server.request('GET', '/readyz/etcd-override-0')[0], 500)
            self.assertEqual(server.request('GET', '/readyz/etcd')[0], 200)
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('b'))[0], 201)

    def test_what_a_server_within_the_server_keeps_is_not_moved(self):
        etcd, other = Etcd().start(), Etcd().start()
        self.addCleanup(etcd.stop)
        self.addCleanup(other.stop)
        kept = ('apiextensions.k8s.io/customresourcedefinitions', 'apiregistration.k8s.io/apiservices', 'overrides.example.com/things')
        moved = ('coordination.k8s.io/*', '/configmaps')
        overrides = ','.join('%s#%s' % (name, other.url) for name in kept + moved)
        with Server('--etcd-servers=' + etcd.url, '--etcd-servers-overrides=' + overrides) as server:
            versions = [{'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object'}}}]
            definition = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition',
                          'metadata': {'name': 'things.overrides.example.com'},
                          'spec': {'group': 'overrides.example.com', 'scope': 'Namespaced', 'versions': versions,
                                   'names': {'kind': 'Thing', 'plural': 'things'}}}
            self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)[0], 201)
            things = '/apis/overrides.example.com/v1/namespaces/default/things'
            self.assertTrue(wait_for(lambda: server.request('GET', things)[0] == 200))
            thing = {'apiVersion': 'overrides.example.com/v1', 'kind': 'Thing', 'metadata': {'name': 'a'}}
            self.assertEqual(server.request('POST', things, thing)[0], 201)
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
            lease = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'a'}}
            self.assertEqual(server.request('POST', '/apis/coordination.k8s.io/v1/namespaces/default/leases', lease)[0], 201)
            for prefix in ('/registry/overrides.example.com/things/', '/registry/apiregistration.k8s.io/apiservices/',
                           '/registry/apiextensions.k8s.io/customresourcedefinitions/'):
                self.assertTrue(etcd.keys(prefix), prefix)
            self.assertEqual({key.split('/')[2] for key in other.keys('/registry/')}, {'configmaps', 'leases'})
            lines = [line for line in server.text().splitlines() if 'has no effect' in line]
            for name in kept:
                self.assertEqual(sum(name + ' has no effect' in line for line in lines), 1, lines)
            self.assertEqual(len(lines), len(kept), lines)

    def test_a_store_of_single_resources_that_is_held_takes_no_writes(self):
        etcd, other = Etcd().start(), Etcd().start()
        self.addCleanup(etcd.stop)
        self.addCleanup(other.stop)
        with Server('--etcd-servers=' + etcd.url, '--etcd-servers-overrides=/configmaps#' + other.url) as server:
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
            mark = json.dumps({'kind': 'leaving', 'other': 'etcd:http://new'})
            other.put('/registry.backplane/hold', mark)
            code, _, refused = server.request('POST', CONFIGMAPS, configmap('b'))
            self.assertEqual((code, refused['message']), (503, 'the store takes no writes: it is being moved to etcd:http://new'))
            self.assertEqual(server.request('GET', CONFIGMAPS + '/a')[0], 200)
            self.assertEqual(server.request('POST', '/api/v1/namespaces', {'metadata': {'name': 'elsewhere'}})[0], 201)

    def test_overrides_that_cannot_be_kept_make_startup_fail(self):
        for value, text in (('/services#http://127.0.0.1:1', 'services are written together'), ('events', 'must be of format'),
                            ('/events#ftp://x:1', 'ftp://x:1')):
            server = Server('--etcd-servers=http://127.0.0.1:1', '--etcd-servers-overrides=' + value, wait=False)
            self.addCleanup(server.stop)
            self.assertEqual(server.process.wait(60), 1)
            self.assertIn(text, server.text())

    def test_a_file_with_the_wrong_content_makes_startup_fail(self):
        with tempfile.NamedTemporaryFile('w', suffix='.key') as key:
            key.write('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')
            key.flush()
            server = Server('--etcd-servers=http://127.0.0.1:1', '--etcd-cafile=' + key.name, wait=False)
            self.addCleanup(server.stop)
            self.assertEqual(server.process.wait(60), 1)
            self.assertIn('--etcd-cafile: "%s" holds "PRIVATE KEY" where certificates should be' % key.name, server.text())

    def test_what_a_store_is_asked_for_is_counted(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url) as server:
            def value(series):
                found = re.search('^' + re.escape(series) + r' (\S+)$', server.request('GET', '/metrics')[2], re.M)
                return float(found[1]) if found else 0

            def of(name, resource='configmaps', **more):
                labels = dict(more, group='', resource=resource)
                if 'operation' in labels:
                    return value('%s{operation="%s",group="",resource="%s"}' % (name, labels['operation'], resource))
                return value('%s{group="",resource="%s"%s}' % (name, resource, ',index=""' if 'index' in labels else ''))
            # The server creates two of its objects after its startup.
            self.assertTrue(wait_for(lambda: of('etcd_requests_total', operation='create') == of('apiserver_storage_events_received_total') == 2))
            made = [of('etcd_requests_total', operation=o) for o in ('create', 'update', 'delete')]
            events = of('apiserver_storage_events_received_total')
            lists = of('apiserver_cache_list_total', index='')
            reads = of('etcd_requests_total', operation='list')
            _, _, first = server.request('POST', CONFIGMAPS, configmap('a', n='0'))
            first['data']['n'] = '1'
            self.assertEqual(server.request('PUT', CONFIGMAPS + '/a', first)[0], 200)
            self.assertEqual(server.request('GET', CONFIGMAPS)[0], 200)
            self.assertEqual(server.request('DELETE', CONFIGMAPS + '/a')[0], 200)
            self.assertEqual([of('etcd_requests_total', operation=o) - before for o, before in zip(('create', 'update', 'delete'), made)],
                             [1, 1, 1])
            self.assertEqual(of('etcd_request_duration_seconds_count', operation='create'), made[0] + 1)
            self.assertEqual(of('etcd_requests_total', operation='list'), reads + 1)
            self.assertTrue(wait_for(lambda: of('apiserver_storage_events_received_total') == events + 3))
            self.assertEqual(of('apiserver_watch_cache_events_dispatched_total'), of('apiserver_watch_cache_events_received_total'))
            self.assertEqual(of('apiserver_cache_list_total', index=''), lists + 1)
            self.assertGreater(value('apiserver_storage_db_total_size_in_bytes{endpoint="%s"}' % etcd.url), 0)
            self.assertGreater(of('apiserver_watch_cache_resource_version'), 1)
            self.assertEqual(of('apiserver_watch_cache_initializations_total'), 1)
            self.assertEqual(of('apiserver_storage_list_total'), 1)
            self.assertGreater(value('apiserver_watch_cache_read_wait_seconds_count{group="",resource="configmaps"}'), 0)

    def test_without_the_watch_cache_every_read_is_the_newest(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        flags = ('--etcd-servers=' + etcd.url,)
        with Server(*flags) as one, Server(*flags, '--watch-cache-sizes=configmaps#0') as other:
            _, _, made = one.request('POST', CONFIGMAPS, configmap('a', n='0'))
            for n in range(1, 50):
                made['data']['n'] = str(n)
                _, _, made = one.request('PUT', CONFIGMAPS + '/a', made)
                self.assertEqual(other.request('GET', CONFIGMAPS + '/a?resourceVersion=0')[2]['data']['n'], str(n))
            def counted(name, operation):
                series = re.search(r'^%s\{operation="%s",group="",resource="configmaps"\} (\S+)$' % (name, operation),
                                   other.request('GET', '/metrics')[2], re.M)
                return float(series[1]) if series else 0
            before, lists, gets = etcd.ranges(), counted('etcd_requests_total', 'list'), counted('etcd_requests_total', 'get')
            for _ in range(5):
                self.assertEqual(other.request('GET', CONFIGMAPS + '?resourceVersion=0')[0], 200)
                self.assertEqual(other.request('GET', CONFIGMAPS + '/a')[0], 200)
            self.assertGreaterEqual(etcd.ranges() - before, 10)
            self.assertEqual(counted('etcd_requests_total', 'list'), lists + 5)
            # More if the store is ahead of the watch: the read then requests progress again.
            self.assertGreaterEqual(counted('etcd_requests_total', 'get'), gets + 5)
            shown = [line for line in other.request('GET', '/metrics')[2].splitlines()
                     if re.match('watch_cache_capacity|apiserver_watch_cache_', line)]
            self.assertFalse([line for line in shown if 'resource="configmaps"' in line])
            self.assertTrue([line for line in shown if 'resource="secrets"' in line])
            etcd.kill()
            self.assertGreaterEqual(other.request('GET', CONFIGMAPS)[0], 500)
            self.assertGreaterEqual(counted('etcd_request_errors_total', 'list'), 1)

    def test_keys_begin_with_the_prefix(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url, '--etcd-prefix=/elsewhere') as server:
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
        self.assertEqual(etcd.keys('/registry/'), [])
        self.assertIn('/elsewhere/configmaps/default/a', etcd.keys('/elsewhere/'))


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class UnreachableEtcd(unittest.TestCase):
    def test_a_host_over_an_etcd_that_is_not_there_starts_and_is_ready_when_it_is(self):
        etcd = Etcd()
        self.addCleanup(etcd.stop)
        server = Server('--etcd-servers=' + etcd.url, wait=False)
        self.addCleanup(server.stop)
        self.assertTrue(wait_for(lambda: 'the store cannot be reached' in server.text() or server.process.poll() is not None), server.text())
        self.assertIsNone(server.process.poll(), server.text())
        server.read_kubeconfig()
        code, _, answer = server.request('GET', '/readyz')
        self.assertEqual(code, 500)
        self.assertIn('[-]etcd failed', answer)
        self.assertIn('[-]poststarthook/start-system-namespaces-controller failed', answer)
        code, _, answer = server.request('POST', CONFIGMAPS, configmap('a'))
        self.assertGreaterEqual(code, 429, answer)
        self.assertEqual(answer['kind'], 'Status')
        self.assertGreaterEqual(server.request('GET', CONFIGMAPS)[0], 429)
        etcd.start()
        self.assertTrue(wait_for(lambda: server.request('GET', '/readyz')[0] == 200), server.text()[-3000:])
        self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
        self.assertEqual(server.request('GET', '/api/v1/namespaces/kube-system')[0], 200)
        self.assertTrue(wait_for(lambda: server.request('GET', SERVICES + '/kubernetes')[0] == 200))
        self.assertEqual(server.terminate(), 0, server.text()[-3000:])

    def test_a_host_that_never_reached_its_store_ends_on_a_signal(self):
        server = Server('--etcd-servers=http://127.0.0.1:1', wait=False)
        self.addCleanup(server.stop)
        self.assertTrue(wait_for(lambda: 'the store cannot be reached' in server.text()), server.text())
        self.assertEqual(server.terminate(), 0, server.text()[-3000:])

    def test_memory_stays_bounded_while_etcd_is_away(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url) as server:
            def resident():
                with open('/proc/%d/statm' % server.process.pid, encoding='ascii') as f:
                    return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

            def write(count):
                connection = server.connect()
                large = configmap('large', text='x' * 100000)
                codes = [server.request('POST', CONFIGMAPS, large, connection=connection)[0] for _ in range(count)]
                connection.close()
                return codes
            etcd.kill()
            write(50)
            before = resident()
            self.assertFalse([code for code in write(500) if code < 429])
            if not is_sanitized():
                self.assertLess(resident() - before, 32 * 1024 * 1024)

    def test_etcd_may_be_stopped_for_five_seconds_under_load(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url) as one, Server('--etcd-servers=' + etcd.url) as other:
            for i in range(4):
                self.assertEqual(one.request('POST', CONFIGMAPS, configmap('c%d' % i, n='0'))[0], 201)
            over, wrong, counts = threading.Event(), [], [0] * 4

            def count(index):
                hosts = [one, other]
                while not over.is_set():
                    host = hosts[counts[index] % 2]
                    code, _, now = host.request('GET', CONFIGMAPS + '/c%d' % index)
                    if code == 200:
                        there = int(now['data']['n'])
                        # Acknowledged writes exist; others may.
                        if there not in (counts[index], counts[index] + 1):
                            wrong.append((index, counts[index], now))
                            return
                        counts[index] = there
                        now['data']['n'] = str(there + 1)
                        code, _, now = host.request('PUT', CONFIGMAPS + '/c%d' % index, now)
                        if code == 200:
                            counts[index] += 1
                    # A cancelled write may have happened after the read.
                    if code not in (200, 409) and code < 429:
                        wrong.append((index, code, now))
                        return
            writers = [threading.Thread(target=count, args=(i,)) for i in range(4)]
            for writer in writers:
                writer.start()
            self.assertTrue(wait_for(lambda: min(counts) >= 3))
            etcd.pause(5)
            before = list(counts)
            self.assertTrue(wait_for(lambda: all(now >= then + 5 for now, then in zip(counts, before))), (before, counts))
            over.set()
            for writer in writers:
                writer.join()
            self.assertEqual(wrong, [])
            for host in (one, other):
                for i in range(4):
                    self.assertGreaterEqual(int(host.request('GET', CONFIGMAPS + '/c%d' % i)[2]['data']['n']), counts[i])

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

        def record(address):
            return Keys(etcd).all('/registry/masterleases/' + address).get('/registry/masterleases/' + address, (None, 0))[0]

        def first_generation(stored):
            return re.sub(rb'\x008[^B]+B', b'\x008\x01B', stored, count=1)
        with Server('--etcd-servers=' + etcd.url, '--advertise-address=192.0.2.1') as one:
            with Server('--etcd-servers=' + etcd.url, '--advertise-address=192.0.2.2') as other:
                self.assertTrue(wait_for(lambda: addresses(one) == ['192.0.2.1', '192.0.2.2']), addresses(one))
                # As kube-apiserver 1.36.3 writes its own, except for the generation, which counts renewals.
                self.assertEqual(first_generation(record('192.0.2.2')), MASTER_LEASE)
                # Both run on one machine, and so have one identity.
                peers = wait_for(lambda: Keys(etcd).all('/registry/peerserverleases/apiserver-'))
                self.assertEqual(len(peers), 1, peers)
                for key, (peer, _) in peers.items():
                    identity = key.rpartition('/')[2].encode()
                    port = one.port, other.port
                    self.assertIn(first_generation(peer), [peer_lease(identity, b'192.0.2.%d' % (n + 1), port[n]) for n in range(2)])
                other.kill()
                # A lease that kube-apiserver has left is removed by the next server, and created again when that one is ready.
                left = MASTER_LEASE.replace(b'192.0.2.2', b'192.0.2.3')
                Keys(etcd).put('/registry/masterleases/192.0.2.3', left)
                with Server('--etcd-servers=' + etcd.url, '--advertise-address=192.0.2.3') as third:
                    self.assertTrue(wait_for(lambda: record('192.0.2.3') not in (None, left)), third.text())
                    self.assertEqual(first_generation(record('192.0.2.3')), left)
            self.assertTrue(wait_for(lambda: addresses(one) == ['192.0.2.1']), addresses(one))

    def test_counted_hosts_write_no_leases_and_remove_only_surplus_entries(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)

        def addresses(host):
            subsets = host.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes')[2].get('subsets') or []
            return [address['ip'] for subset in subsets for address in subset['addresses']]

        def slice_addresses(host):
            endpoints = host.request('GET', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes')[2].get('endpoints') or []
            return [address for endpoint in endpoints for address in endpoint['addresses']]

        def counted(number):
            return Server('--etcd-servers=' + etcd.url, '--advertise-address=192.0.2.%d' % number, '--endpoint-reconciler-type=master-count',
                          '--apiserver-count=2')
        with counted(1) as one:
            with counted(2) as other:
                self.assertTrue(wait_for(lambda: slice_addresses(one) == ['192.0.2.1', '192.0.2.2']), addresses(one))
                self.assertEqual(addresses(one), ['192.0.2.1', '192.0.2.2'])
                self.assertEqual(Keys(etcd).all('/registry/masterleases/'), {})
                other.kill()
            self.assertEqual(addresses(one), ['192.0.2.1', '192.0.2.2'])
            with counted(3) as third:
                # The third server removes the entry of the first. The first one removes the entry of the second, which has stopped and
                # cannot restore it.
                self.assertTrue(wait_for(lambda: slice_addresses(one) == ['192.0.2.1', '192.0.2.3']), addresses(one))
                third.process.terminate()
                self.assertEqual(third.process.wait(30), 0)
            self.assertEqual(addresses(one), ['192.0.2.1'])

    def test_history_that_was_compacted_returns_410(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url, '--etcd-compaction-interval=500ms') as server:
            _, _, made = server.request('POST', CONFIGMAPS, configmap('a', n='0'))
            exact = CONFIGMAPS + '?resourceVersionMatch=Exact&resourceVersion=' + made['metadata']['resourceVersion']
            made['data']['n'] = '1'
            self.assertEqual(server.request('PUT', CONFIGMAPS + '/a', made)[0], 200)
            self.assertTrue(wait_for(lambda: server.request('GET', exact)[0] == 410), 'the old version is still read')

    def test_an_etcd_that_is_made_anew_is_shown_as_it_is(self):
        etcd = Etcd().start()
        self.addCleanup(etcd.stop)
        with Server('--etcd-servers=' + etcd.url) as server:
            def nodes():
                _, _, found = server.request('GET', '/api/v1/nodes')
                return [item['metadata']['name'] for item in found.get('items', ())]
            self.assertEqual(server.request('POST', '/api/v1/nodes', {'metadata': {'name': 'old'}})[0], 201)
            self.assertEqual(nodes(), ['old'])
            etcd.kill()
            shutil.rmtree(os.path.join(etcd.dir, 'data'))
            etcd.start()
            # No request is sent until the new history is as long as the old one was.
            self.assertTrue(wait_for(lambda: 'history has gone back' in server.text()), server.text())
            self.assertTrue(wait_for(lambda: server.request('POST', '/api/v1/nodes', {'metadata': {'name': 'new'}})[0] == 201), server.text())
            self.assertTrue(wait_for(lambda: nodes() == ['new']), nodes())
            # The server creates its objects again.
            self.assertTrue(wait_for(lambda: server.request('GET', '/api/v1/namespaces/default')[0] == 200, 90), server.text())

    def test_flags_that_name_no_etcd_make_startup_fail(self):
        for flag, text in (('--etcd-servers=ftp://x:1', 'etcd-servers'), ('--storage-backend=etcd3', '--etcd-servers')):
            server = Server(flag, wait=False)
            self.addCleanup(server.stop)
            self.assertEqual(server.process.wait(30), 1)
            self.assertIn(text, server.text().splitlines()[-1])


if __name__ == '__main__':
    main()
