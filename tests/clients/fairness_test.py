"""Priority and fairness compared with kube-apiserver: classification of requests, refusals, and reports."""
import http.client
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kube_apiserver import Requests, SideBySide, harness, openssl  # noqa: E402

GROUP = '/apis/flowcontrol.apiserver.k8s.io/v1'
LEVEL_UID, SCHEMA_UID = 'X-Kubernetes-Pf-Prioritylevel-Uid', 'X-Kubernetes-Pf-Flowschema-Uid'
EVERYTHING = {'resourceRules': [{'verbs': ['*'], 'apiGroups': ['*'], 'resources': ['*'], 'namespaces': ['*'], 'clusterScope': True}],
              'nonResourceRules': [{'verbs': ['*'], 'nonResourceURLs': ['*']}]}
# Metrics that this server does not have, or has in another form.
NOT_MEASURED = {'demand_seats', 'priority_level_request_utilization', 'priority_level_seat_utilization', 'read_vs_write_current_requests',
                'dispatch_r', 'latest_s', 'next_s_bounds', 'next_discounted_s_bounds', 'watch_count_samples',
                # Hidden since 1.32: a kube-apiserver that was built without its version, as the tests build it, shows them anyway.
                'request_concurrency_in_use', 'request_concurrency_limit'}


def level(name, response):
    return {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'PriorityLevelConfiguration', 'metadata': {'name': name},
            'spec': {'type': 'Limited', 'limited': {'nominalConcurrencyShares': 1, 'lendablePercent': 0, 'borrowingLimitPercent': 0,
                                                    'limitResponse': response}}}


def schema(name, user, precedence=50):
    return {'apiVersion': 'flowcontrol.apiserver.k8s.io/v1', 'kind': 'FlowSchema', 'metadata': {'name': name},
            'spec': {'priorityLevelConfiguration': {'name': name}, 'matchingPrecedence': precedence, 'distinguisherMethod': {'type': 'ByUser'},
                     'rules': [dict(EVERYTHING, subjects=[{'kind': 'User', 'user': {'name': user}}])]}}


class User(Requests):
    """A user outside system:masters."""

    def __init__(self, pki, port, name):
        super().__init__(pki, port)
        self.name, self.pki = name, pki

        def path(ending):
            return os.path.join(pki.dir, name + ending)
        if not os.path.exists(path('.crt')):
            openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', path('.key'), '-out', path('.csr'), '-subj', '/O=dev/CN=' + name)
            openssl('x509', '-req', '-in', path('.csr'), '-CA', pki.ca, '-CAkey', pki.dir + '/ca.key', '-CAcreateserial', '-out',
                    path('.crt'), '-days', '2')
        self.context.load_cert_chain(path('.crt'), path('.key'))

    def raw(self, *args, **kwargs):
        try:
            return super().raw(*args, **kwargs)
        finally:
            self.connection.close()
            self.connection = None

    def hang(self):
        """A request that runs until the connection is closed, because its body is never sent."""
        connection = self.connect()
        connection.putrequest('POST', '/api/v1/namespaces/default/configmaps')
        connection.putheader('Content-Type', 'application/json')
        connection.putheader('Content-Length', '100')
        connection.endheaders(b'{')
        return connection


class Fairness(SideBySide):
    # Sixty seats for all: one for a level with one share.
    flags = ('--max-requests-inflight=40', '--max-mutating-requests-inflight=20', '--authorization-mode=AlwaysAllow')

    def names(self, server, headers):
        """Level and schema by the names of their objects."""
        uids = {}
        for resource in ('prioritylevelconfigurations', 'flowschemas'):
            for item in server.request('GET', GROUP + '/' + resource)[2]['items']:
                uids[item['metadata']['uid']] = item['metadata']['name']
        return [uids.get(headers[name], headers[name]) if name in headers else None for name in (LEVEL_UID, SCHEMA_UID)]

    def both(self, look):
        """Each server's result; the first is the expected one."""
        right, ours = (look(server) for server in self.servers)
        self.assertEqual(ours, right)
        return ours

    def test_every_answer_says_where_its_request_was_sorted(self):
        requests = [('GET', '/api/v1/namespaces/default', None), ('GET', '/api/v1/namespaces', None), ('GET', '/api/v1/namespaces/none', None),
                    ('GET', '/nothing', None), ('GET', '/healthz', None), ('GET', '/readyz/ping', None), ('GET', '/version', None),
                    ('GET', '/apis', None), ('GET', '/openapi/v3', None), ('POST', '/api/v1/namespaces/default/configmaps', {}),
                    ('GET', '/api/v1/pods?watch=1&timeoutSeconds=1', None), ('GET', '/api/v1/pods?watch=1&resourceVersion=x', None),
                    ('GET', '/api/v1/namespaces/default/pods/none/log', None), ('GET', '/apis/none.example.com/v1/things', None),
                    ('DELETE', '/api/v1/namespaces/default/pods/none', None), ('PUT', '/metrics', None)]
        for who in ('admin', 'jane'):
            def look(server):
                asked = server if who == 'admin' else User(self.pki, server.port, who)
                answers = []
                for method, path, body in requests:
                    status, headers, _ = asked.raw(method, path, None if body is None else json.dumps(body),
                                                   {'Content-Type': 'application/json'})
                    answers.append((method, path, status, self.names(server, headers)))
                return answers
            self.both(look)

    def refusal(self, server, response):
        for resource, body in (('prioritylevelconfigurations', level('few', response)), ('flowschemas', schema('few', 'few'))):
            self.assertEqual(server.request('POST', GROUP + '/' + resource, body)[0], 201)
        few, other = (User(self.pki, server.port, name) for name in ('few', 'other'))
        try:
            self.assertTrue(harness.wait_for(lambda: self.names(server, few.raw('GET', '/version')[1]) == ['few', 'few']))
            hung = few.hang()
            self.assertTrue(harness.wait_for(lambda: 'few' in executing(server)), 'it has not begun')
            status, headers, body = few.raw('GET', '/version')
            served = [asked.raw('GET', '/version')[0] for asked in (server, other)]
            hung.close()
            self.assertTrue(harness.wait_for(lambda: few.raw('GET', '/version')[0] == 200))
            kept = {name: headers.get(name) for name in ('Retry-After', 'Content-Type', 'X-Content-Type-Options', 'Content-Length')}
            return status, kept, body, self.names(server, headers), served
        finally:
            server.request('DELETE', GROUP + '/flowschemas/few')
            server.request('DELETE', GROUP + '/prioritylevelconfigurations/few')

    # The last one by name: the metrics of its priority level remain.
    def test_without_a_seat_a_request_gets_a_retry_after(self):
        status, headers, body, names, served = self.both(lambda server: self.refusal(server, {'type': 'Reject'}))
        self.assertEqual((status, headers['Retry-After'], names, served), (429, '1', ['few', 'few'], [200, 200]))
        self.assertEqual(body, b'Too many requests, please try again later.\n')

    def test_seats_are_divided_alike(self):
        wanted = ('nominal_limit_seats', 'lower_limit_seats', 'upper_limit_seats')
        self.both(lambda server: sorted(line for line in flowcontrol(server) if line.startswith(tuple('apiserver_flowcontrol_' + w for w in wanted))))

    def test_what_is_measured_has_the_same_names_and_labels(self):
        def shapes(server):
            User(self.pki, server.port, 'jane').raw('GET', '/api/v1/pods?limit=1')
            found = set()
            for line in flowcontrol(server):
                name, labels = re.match(r'apiserver_flowcontrol_(\w+)(?:\{(.*)\})? ', line).groups()
                found.add((re.sub('_(bucket|sum|count)$', '', name), tuple(sorted(re.findall(r'(\w+)="', labels or '')))))
            return found
        right, ours = (shapes(server) for server in self.servers)
        self.assertEqual(ours - right, set())
        self.assertEqual({name for name, _ in right - ours} - NOT_MEASURED, set())

    def test_the_hook_stands_at_its_place(self):
        right, ours = (re.findall(r'\[\+\](\S+) ok', server.request('GET', '/readyz?verbose')[2]) for server in self.servers)
        self.assertIn('poststarthook/priority-and-fairness-filter', ours)
        self.assertEqual([name for name in right if name in ours], [name for name in ours if name in right])

    def test_dumps_have_the_same_columns(self):
        for dump in ('dump_priority_levels', 'dump_queues', 'dump_requests'):
            def look(server):
                lines = server.raw('GET', '/debug/api_priority_and_fairness/' + dump)[2].decode().splitlines()
                rows = sorted(line for line in lines[1:] if line.startswith('leader-election,'))
                return [column.strip() for column in lines[0].split(',')], len(rows), rows[:1]
            with self.subTest(dump=dump):
                self.both(look)


def flowcontrol(server):
    return [line for line in server.raw('GET', '/metrics')[2].decode().splitlines() if line.startswith('apiserver_flowcontrol_')]


def executing(server):
    """Levels in which something runs."""
    text = '\n'.join(flowcontrol(server))
    return [name for name, count in re.findall(r'current_executing_requests\{.*priority_level="([^"]+)"\} (\d+)', text) if count != '0']


del SideBySide
if __name__ == '__main__':
    unittest.main()
