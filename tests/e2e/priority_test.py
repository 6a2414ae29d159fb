"""Flow schemas and priority levels: those that the server maintains, and their effect on requests."""
import http.client
import os
import re
import ssl
import subprocess
import tempfile
import threading
import unittest

from harness import Server, configmap, wait_for

GROUP = '/apis/flowcontrol.apiserver.k8s.io/v1'
SCHEMAS = GROUP + '/flowschemas'
LEVELS = GROUP + '/prioritylevelconfigurations'
AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec'


class PriorityAndFairness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.TemporaryDirectory(prefix='backplane-test-')
        cls.server = Server(data_dir=cls.data.name)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.data.cleanup()

    def get(self, path):
        code, _, answer = self.server.request('GET', path)
        return answer if code == 200 else None

    def merge(self, path, patch):
        return self.server.request('PATCH', path, patch, headers={'Content-Type': 'application/merge-patch+json'})

    def test_a_ready_server_has_them_all(self):
        schemas = {item['metadata']['name']: item['spec']['matchingPrecedence'] for item in self.get(SCHEMAS)['items']}
        self.assertEqual(schemas, {
            'exempt': 1, 'probes': 2, 'system-leader-election': 100, 'system-node-high': 400, 'system-nodes': 500,
            'kube-controller-manager': 800, 'kube-scheduler': 800, 'kube-system-service-accounts': 900, 'service-accounts': 9000,
            'global-default': 9900, 'catch-all': 10000})
        levels = {item['metadata']['name']: item['spec'].get('limited', item['spec'].get('exempt')) for item in self.get(LEVELS)['items']}
        self.assertEqual({name: (level['nominalConcurrencyShares'], level['lendablePercent']) for name, level in levels.items()}, {
            'exempt': (0, 0), 'catch-all': (5, 0), 'system': (30, 33), 'node-high': (40, 25), 'leader-election': (10, 0),
            'workload-high': (40, 50), 'workload-low': (100, 90), 'global-default': (20, 50)})

    def test_their_hooks_are_in_readyz(self):
        ready = self.server.request('GET', '/readyz?verbose')[2]
        for hook in ('priority-and-fairness-config-producer', 'priority-and-fairness-config-consumer', 'priority-and-fairness-filter'):
            self.assertIn('[+]poststarthook/%s ok' % hook, ready)

    def test_what_is_removed_comes_back(self):
        for path in (SCHEMAS + '/service-accounts', SCHEMAS + '/catch-all', LEVELS + '/catch-all'):
            old = self.get(path)
            self.assertEqual(self.server.request('DELETE', path)[0], 200)
            back = wait_for(lambda: self.get(path))
            self.assertNotEqual(back['metadata']['uid'], old['metadata']['uid'])
            self.assertEqual(back['spec'], old['spec'])
            self.assertEqual(back['metadata']['annotations'], {AUTO_UPDATE: 'true'})

    def test_mandatory_ones_cannot_be_changed(self):
        code, _, answer = self.merge(SCHEMAS + '/catch-all', {'spec': {'matchingPrecedence': 9000}})
        self.assertEqual(code, 422)
        self.assertIn("spec of 'catch-all' must equal the fixed value", answer['message'])
        code, _, answer = self.merge(LEVELS + '/exempt', {'spec': {'exempt': {'nominalConcurrencyShares': 3}}})
        self.assertEqual(code, 200, answer)
        self.assertEqual(answer['spec']['exempt']['nominalConcurrencyShares'], 3)

    def test_suggested_ones_are_restored_unless_an_annotation_forbids_it(self):
        path = LEVELS + '/workload-low'

        def shares():
            return self.get(path)['spec']['limited']['nominalConcurrencyShares']

        self.assertEqual(self.merge(path, {'spec': {'limited': {'nominalConcurrencyShares': 7}}})[0], 200)
        self.assertTrue(wait_for(lambda: shares() == 100))
        mine = {'metadata': {'annotations': {AUTO_UPDATE: 'false'}}, 'spec': {'limited': {'nominalConcurrencyShares': 7}}}
        self.assertEqual(self.merge(path, mine)[0], 200)
        # Objects that are restored after they were examined once.
        self.assertEqual(self.merge(LEVELS + '/system', {'spec': {'limited': {'nominalConcurrencyShares': 7}}})[0], 200)
        self.assertTrue(wait_for(lambda: self.get(LEVELS + '/system')['spec']['limited']['nominalConcurrencyShares'] == 30))
        self.assertEqual(shares(), 7)
        self.server.stop()
        type(self).server = Server(data_dir=self.data.name)
        self.assertEqual(shares(), 7)

    def test_a_schema_says_whether_its_level_exists(self):
        schema = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'FlowSchema', 'metadata': {'name': 'mine'},
                  'spec': {'priorityLevelConfiguration': {'name': 'mine'}}}
        self.assertEqual(self.server.request('POST', SCHEMAS, schema)[0], 201)

        def missing():
            conditions = self.get(SCHEMAS + '/mine')['status'].get('conditions', [])
            return [c['status'] for c in conditions if c['type'] == 'Dangling']

        self.assertTrue(wait_for(lambda: missing() == ['True']))
        level = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'PriorityLevelConfiguration', 'metadata': {'name': 'mine'},
                 'spec': {'type': 'Limited', 'limited': {'limitResponse': {'type': 'Reject'}}}}
        self.assertEqual(self.server.request('POST', LEVELS, level)[0], 201)
        self.assertTrue(wait_for(lambda: missing() == ['False']))
        self.assertEqual(self.server.request('DELETE', LEVELS + '/mine')[0], 200)
        self.assertTrue(wait_for(lambda: missing() == ['True']))

    def test_a_table_of_schemas_is_sorted_by_precedence(self):
        table = self.server.request('GET', SCHEMAS, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'})[2]
        numbers = [row['cells'][2] for row in table['rows']]
        self.assertEqual((numbers, table['rows'][0]['cells'][0], table['rows'][-1]['cells'][0]), (sorted(numbers), 'exempt', 'catch-all'))

    def test_what_an_older_version_delivered_goes(self):
        level = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'PriorityLevelConfiguration',
                 'metadata': {'name': 'of-old', 'annotations': {AUTO_UPDATE: 'true'}},
                 'spec': {'type': 'Limited', 'limited': {'limitResponse': {'type': 'Reject'}}}}
        self.assertEqual(self.server.request('POST', LEVELS, level)[0], 201)
        self.assertTrue(wait_for(lambda: self.get(LEVELS + '/of-old') is None))


class User:
    """A user with a certificate and without privileged groups."""

    def __init__(self, server, name):
        self.server = server
        pki, base = os.path.join(server.dir, 'data/pki'), os.path.join(server.dir, name)
        for command in (['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', base + '.key', '-out',
                         base + '.csr', '-subj', '/O=dev/CN=' + name],
                        ['x509', '-req', '-in', base + '.csr', '-CA', pki + '/ca.crt', '-CAkey', pki + '/ca.key', '-CAcreateserial', '-out',
                         base + '.crt', '-days', '2']):
            subprocess.run(['openssl', *command], check=True, capture_output=True)
        self.tls = ssl.create_default_context(cafile=pki + '/ca.crt')
        self.tls.load_cert_chain(base + '.crt', base + '.key')

    def connect(self):
        return http.client.HTTPSConnection('127.0.0.1', self.server.port, context=self.tls, timeout=60)

    def get(self, path='/version', connection=None):
        connection = connection or self.connect()
        connection.request('GET', path)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, response.headers, body

    def hang(self):
        """A request that runs until its connection is closed, because its body is never sent."""
        connection = self.connect()
        connection.putrequest('POST', '/api/v1/namespaces/default/configmaps')
        connection.putheader('Content-Type', 'application/json')
        connection.putheader('Content-Length', '100')
        connection.endheaders(b'{')
        return connection

    def watch(self):
        """A watch that has begun."""
        connection = self.connect()
        connection.request('GET', '/api/v1/namespaces?watch=1&timeoutSeconds=60')
        response = connection.getresponse()
        response.readline()
        return connection


class PriorityOfRequests(unittest.TestCase):
    # Sixty seats: one for a level with one share.
    flags = ('--max-requests-inflight=40', '--max-mutating-requests-inflight=20', '--authorization-mode=AlwaysAllow')

    @classmethod
    def setUpClass(cls):
        cls.data = tempfile.TemporaryDirectory(prefix='backplane-test-')
        cls.server = Server(*cls.flags, data_dir=cls.data.name)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.data.cleanup()

    def setUp(self):
        self.other = User(self.server, 'other')

    def one_seat(self, name, response):
        """A level with one seat for the user of that name alone."""
        level = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'PriorityLevelConfiguration', 'metadata': {'name': name},
                 'spec': {'type': 'Limited', 'limited': {'nominalConcurrencyShares': 1, 'lendablePercent': 0, 'borrowingLimitPercent': 0,
                                                         'limitResponse': response}}}
        schema = {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'FlowSchema', 'metadata': {'name': name},
                  'spec': {'priorityLevelConfiguration': {'name': name}, 'matchingPrecedence': 50,
                           'rules': [{'subjects': [{'kind': 'User', 'user': {'name': name}}],
                                      'resourceRules': [{'verbs': ['*'], 'apiGroups': ['*'], 'resources': ['*'], 'namespaces': ['*'],
                                                         'clusterScope': True}],
                                      'nonResourceRules': [{'verbs': ['*'], 'nonResourceURLs': ['*']}]}]}}
        uids = {}
        for path, body in ((LEVELS, level), (SCHEMAS, schema)):
            code, _, made = self.server.request('POST', path, body)
            self.assertEqual(code, 201, made)
            uids[path] = made['metadata']['uid']
            self.addCleanup(lambda gone=path + '/' + name: self.server.request('DELETE', gone))
        user = User(self.server, name)
        self.assertTrue(wait_for(lambda: user.get()[1]['X-Kubernetes-Pf-Prioritylevel-Uid'] == uids[LEVELS]))
        self.assertEqual(user.get()[1]['X-Kubernetes-Pf-Flowschema-Uid'], uids[SCHEMAS])
        return user

    def measured(self, metric, level):
        """The value of a metric of a level; 0 if absent."""
        text = self.server.request('GET', '/metrics')[2]
        found = re.search(r'^apiserver_flowcontrol_%s\{[^}]*priority_level="%s"[^}]*\} (\d+)' % (metric, level), text, re.M)
        return int(found[1]) if found else 0

    def hang(self, user, name):
        hung = user.hang()
        self.addCleanup(hung.close)
        self.assertTrue(wait_for(lambda: self.measured('current_executing_requests', name) == 1))
        return hung

    def test_only_requests_without_a_seat_are_refused(self):
        user = self.one_seat('few', {'type': 'Reject'})
        hung = self.hang(user, 'few')
        code, headers, body = user.get()
        self.assertEqual((code, body), (429, b'Too many requests, please try again later.\n'))
        self.assertEqual((headers['Retry-After'], headers['Content-Type']), ('1', 'text/plain; charset=utf-8'))
        self.assertEqual((self.other.get()[0], self.server.request('GET', '/version')[0]), (200, 200))
        self.assertEqual(self.measured('rejected_requests_total', 'few'), 1)
        hung.close()
        self.assertTrue(wait_for(lambda: user.get()[0] == 200))

    def test_waiting_requests_are_served_when_a_seat_is_free(self):
        user = self.one_seat('line', {'type': 'Queue', 'queuing': {'queues': 1, 'handSize': 1, 'queueLengthLimit': 1}})
        hung = self.hang(user, 'line')
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(user.get()[0]))
        waiting.start()
        self.assertTrue(wait_for(lambda: self.measured('current_inqueue_requests', 'line') == 1))
        self.assertEqual(user.get()[0], 429, 'the queue is full')
        self.assertIn('line,', self.server.request('GET', '/debug/api_priority_and_fairness/dump_requests')[2])
        self.assertEqual(self.other.get()[0], 200)
        self.assertEqual(answers, [])
        hung.close()
        waiting.join()
        self.assertEqual(answers, [200])

    def test_a_client_that_goes_while_it_waits_leaves_its_place(self):
        user = self.one_seat('gone', {'type': 'Queue', 'queuing': {'queues': 1, 'handSize': 1, 'queueLengthLimit': 1}})
        self.hang(user, 'gone')
        for _ in range(2):
            waiting = user.connect()
            waiting.request('GET', '/version')
            self.assertTrue(wait_for(lambda: self.measured('current_inqueue_requests', 'gone') == 1))
            waiting.close()
            self.assertTrue(wait_for(lambda: self.measured('current_inqueue_requests', 'gone') == 0))

    def test_a_removed_level_serves_its_queued_requests(self):
        user = self.one_seat('leaving', {'type': 'Queue', 'queuing': {'queues': 1, 'handSize': 1, 'queueLengthLimit': 1}})
        hung = self.hang(user, 'leaving')
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(user.get()[0]))
        waiting.start()
        self.assertTrue(wait_for(lambda: self.measured('current_inqueue_requests', 'leaving') == 1))
        for path in (SCHEMAS, LEVELS):
            self.assertEqual(self.server.request('DELETE', path + '/leaving')[0], 200)
        self.assertTrue(wait_for(lambda: user.get()[0] == 200), 'its requests use another priority level')
        hung.close()
        waiting.join()
        self.assertEqual(answers, [200])
        levels = '/debug/api_priority_and_fairness/dump_priority_levels'
        self.assertTrue(wait_for(lambda: 'leaving,' not in self.server.request('GET', levels)[2]))

    def test_a_watch_has_a_seat_until_it_has_begun(self):
        user = self.one_seat('watcher', {'type': 'Reject'})
        watches = []
        for _ in range(3):
            watches.append(wait_for(user.watch))
            self.assertTrue(wait_for(lambda: self.measured('current_executing_requests', 'watcher') == 0))
        self.assertEqual(user.get()[0], 200)
        for watch in watches:
            watch.close()

    def test_nothing_is_lost_when_many_come_at_once(self):
        user = self.one_seat('crowd', {'type': 'Queue', 'queuing': {'queues': 4, 'handSize': 2, 'queueLengthLimit': 2}})
        before = self.measured('dispatched_requests_total', 'crowd')
        codes = []

        def ask(connection):
            for path in ('/version', '/api/v1/namespaces') * 20:
                connection.request('GET', path)
                response = connection.getresponse()
                response.read()
                codes.append(response.status)
            connection.close()
        clients = [threading.Thread(target=ask, args=(user.connect(),)) for _ in range(16)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(len(codes), 16 * 40)
        self.assertEqual(set(codes) - {429}, {200})
        self.assertEqual(self.measured('dispatched_requests_total', 'crowd') - before, codes.count(200))
        for metric in ('current_executing_seats', 'current_inqueue_requests', 'current_inqueue_seats'):
            self.assertEqual(self.measured(metric, 'crowd'), 0, metric)

    def test_a_stopping_server_serves_queued_requests(self):
        cls = type(self)
        user = self.one_seat('last', {'type': 'Queue', 'queuing': {'queues': 1, 'handSize': 1, 'queueLengthLimit': 1}})
        hung = self.hang(user, 'last')
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(user.get()[0]))
        waiting.start()
        self.assertTrue(wait_for(lambda: self.measured('current_inqueue_requests', 'last') == 1))
        cls.server.process.terminate()
        self.assertTrue(wait_for(lambda: 'NotAcceptingNewRequest' in cls.server.text()))
        hung.close()
        waiting.join()
        self.assertEqual((answers, cls.server.process.wait(60)), ([200], 0))
        cls.server = Server(*cls.flags, data_dir=cls.data.name)

    def test_without_it_the_limits_hold(self):
        with Server('--enable-priority-and-fairness=false', '--max-mutating-requests-inflight=1', '--authorization-mode=AlwaysAllow') as server:
            ready = server.request('GET', '/readyz?verbose')[2]
            self.assertIn('[+]poststarthook/max-in-flight-filter ok', ready)
            self.assertNotIn('priority-and-fairness-filter', ready)
            user = User(server, 'few')
            hung = user.hang()

            def changing():
                connection = user.connect()
                connection.request('DELETE', '/api/v1/namespaces/default/configmaps/none')
                response = connection.getresponse()
                response.read()
                connection.close()
                return response
            answer = wait_for(lambda: (lambda response: response if response.status == 429 else None)(changing()))
            self.assertEqual(answer.getheader('Retry-After'), '1')
            self.assertIsNone(answer.getheader('X-Kubernetes-Pf-Flowschema-Uid'))
            self.assertEqual(user.get()[0], 200)
            self.assertEqual(server.request('POST', '/api/v1/namespaces/default/configmaps', configmap('by-admin'))[0], 201)
            hung.close()


if __name__ == '__main__':
    unittest.main()
