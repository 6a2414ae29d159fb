"""Quotas under concurrency: many writers on one or two servers never get more than a quota allows, nor less."""
import json
import os
import tempfile
import threading
import time
import unittest

from etcd_test import ETCD, Etcd
from harness import Server, main, namespace, wait_for

ROUNDS = int(os.environ.get('BACKPLANE_QUOTA_ROUNDS', '2'))
WRITERS = 64
LIMIT = 100
WITHOUT_ACCOUNTS = '--disable-admission-plugins=ServiceAccount'
WIDGETS = '/apis/quota.example.com/v1'
CRD = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'widgets.quota.example.com'},
       'spec': {'group': 'quota.example.com', 'scope': 'Namespaced', 'names': {'plural': 'widgets', 'kind': 'Widget'}, 'versions': [
           {'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {
               'type': 'object', 'properties': {'size': {'type': 'integer', 'maximum': 10}}}}}]}}


def pod(name, **requests):
    resources = {'requests': requests} if requests else {}
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name}, 'spec': {'containers': [{'name': 'c', 'image': 'i', 'resources': resources}]}}


def widget(name, size=1):
    return {'apiVersion': 'quota.example.com/v1', 'kind': 'Widget', 'metadata': {'name': name}, 'size': size}


def secret(name):
    return {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}}


class Quotas:
    """For test cases with `servers`."""

    def prepare(self, ns, quota='quota', spec=None, **hard):
        """A namespace with a quota whose status is known to all servers.  No secret is allowed, by which they show that they know it."""
        server = self.servers[0]
        if server.request('GET', '/api/v1/namespaces/' + ns)[0] == 404:
            self.assertEqual(server.request('POST', '/api/v1/namespaces', namespace(ns))[0], 201)
        hard['secrets'] = '0'
        quotas = '/api/v1/namespaces/%s/resourcequotas' % ns
        body = {'apiVersion': 'v1', 'kind': 'ResourceQuota', 'metadata': {'name': quota}, 'spec': dict(spec or {}, hard=hard)}
        code, _, made = server.request('POST', quotas, body)
        self.assertEqual(code, 201, made)
        made['status'] = {'hard': hard, 'used': {name: '0' for name in hard}}
        code, _, answer = server.request('PUT', '%s/%s/status' % (quotas, quota), made)
        self.assertEqual(code, 200, answer)
        for each in self.servers:
            self.wait_known(each, ns, quota)

    def wait_known(self, server, ns, quota):
        def refused():
            code, _, answer = server.request('POST', '/api/v1/namespaces/%s/secrets?dryRun=All' % ns, secret('probe'))
            return code == 403 and 'exceeded quota: ' + quota in answer['message']
        if 'scopes' in self.quota(ns, quota)['spec'] or 'scopeSelector' in self.quota(ns, quota)['spec']:
            return  # it counts no secrets
        self.assertTrue(wait_for(refused))

    def quota(self, ns, name='quota'):
        return self.servers[0].request('GET', '/api/v1/namespaces/%s/resourcequotas/%s' % (ns, name))[2]

    def used(self, ns, name='quota'):
        return self.quota(ns, name)['status']['used']

    def write_all(self, writes):
        """Each of `writes` is a list of (method, path, body), made by one writer.  [(status, answer)] of all."""
        answers = []
        begin = threading.Barrier(len(writes))

        def work(i):
            server = self.servers[i % len(self.servers)]
            connection = server.connect(timeout=120)
            connection.connect()
            begin.wait(60)
            for method, path, body in writes[i]:
                code, _, answer = server.request(method, path, body, connection=connection)
                answers.append((code, answer))
            connection.close()
        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(writes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), sum(len(each) for each in writes))
        return answers

    def count(self, path):
        return len(self.servers[-1].request('GET', path)[2]['items'])

    def check_answers(self, answers, made, what):
        codes = [code for code, _ in answers]
        others = [answer for code, answer in answers if code not in (201, 403, 409, 422)]
        self.assertEqual(others, [])
        self.assertEqual(codes.count(201), made)
        for code, answer in answers:
            if code == 403:
                self.assertIn('exceeded quota: quota, requested: %s=1, used: %s=%d, limited: %s=%d' % (what, what, LIMIT, what, LIMIT), answer['message'])

    def check_rounds(self, prefix, rounds=ROUNDS):
        for number in range(rounds):
            ns = '%s-%d' % (prefix, number)
            self.prepare(ns, pods=str(LIMIT))
            path = '/api/v1/namespaces/%s/pods' % ns
            answers = self.write_all([[('POST', path, pod('p-%d-%d' % (i, n))) for n in range(2)] for i in range(WRITERS)])
            self.check_answers(answers, LIMIT, 'pods')
            self.assertEqual(self.count(path), LIMIT)
            self.assertEqual(self.used(ns)['pods'], str(LIMIT))

    def check_failing_rounds(self, prefix, rounds=ROUNDS):
        """Half of the writes fail after admission: names that are taken, dry runs, values that the definition does not allow."""
        for number in range(rounds):
            ns = '%s-%d' % (prefix, number)
            self.prepare(ns, **{'count/widgets.quota.example.com': str(LIMIT)})
            path = '%s/namespaces/%s/widgets' % (WIDGETS, ns)
            writes = []
            for i in range(WRITERS):
                writes.append([('POST', path, widget('shared-%d' % (i % 8))), ('POST', path + '?dryRun=All', widget('dry-%d' % i)),
                               ('POST', path, widget('own-%d' % i)), ('POST', path, widget('big-%d' % i, 11)), ('POST', path, widget('other-%d' % i))])
            answers = self.write_all(writes)
            made = self.count(path)
            self.assertEqual(made, LIMIT)
            self.assertEqual(self.used(ns)['count/widgets.quota.example.com'], str(made))
            self.assertEqual(sum(1 for code, answer in answers if code == 201 and not answer['metadata']['name'].startswith('dry-')), made)


class OneServer(Quotas, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = [Server(WITHOUT_ACCOUNTS)]
        assert cls.servers[0].request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD)[0] == 201
        assert wait_for(lambda: cls.servers[0].request('GET', WIDGETS + '/widgets')[0] == 200)

    @classmethod
    def tearDownClass(cls):
        cls.servers[0].stop()

    def test_exactly_as_many_as_allowed(self):
        self.check_rounds('one')

    def test_writes_that_fail_later_use_nothing(self):
        self.check_failing_rounds('failing')

    def test_messages(self):
        self.prepare('texts', pods='1', **{'requests.cpu': '2', 'limits.memory': '1Gi'})
        path = '/api/v1/namespaces/texts/pods'
        server = self.servers[0]
        code, _, answer = server.request('POST', path, pod('a'))
        self.assertEqual((code, answer['reason']), (403, 'Forbidden'))
        self.assertEqual(answer['message'], 'pods "a" is forbidden: failed quota: quota: must specify limits.memory for: c; requests.cpu for: c')
        big = pod('a')
        big['spec']['containers'][0]['resources'] = {'requests': {'cpu': '3'}, 'limits': {'memory': '2Gi', 'cpu': '3'}}
        code, _, answer = server.request('POST', path, big)
        self.assertEqual((code, answer['message']), (403, 'pods "a" is forbidden: exceeded quota: quota, requested: limits.memory=2Gi,requests.cpu=3, '
                                                          'used: limits.memory=0,requests.cpu=0, limited: limits.memory=1Gi,requests.cpu=2'))
        self.assertEqual(answer['details'], {'name': 'a', 'kind': 'pods'})
        big['spec']['containers'][0]['resources'] = {'requests': {'cpu': '500m'}, 'limits': {'memory': '512Mi', 'cpu': '1'}}
        self.assertEqual(server.request('POST', path + '?dryRun=All', big)[0], 201)
        self.assertEqual(self.used('texts')['pods'], '0')
        self.assertEqual(server.request('POST', path, big)[0], 201)
        self.assertEqual(self.used('texts'), {'pods': '1', 'requests.cpu': '500m', 'limits.memory': '512Mi', 'secrets': '0'})

    def test_a_quota_without_usage(self):
        self.prepare('unknown', pods='5')
        quota = self.quota('unknown')
        del quota['status']['used']['pods']
        path = '/api/v1/namespaces/unknown'
        self.assertEqual(self.servers[0].request('PUT', path + '/resourcequotas/quota/status', quota)[0], 200)
        message = 'pods "a" is forbidden: status unknown for quota: quota, resources: pods'
        self.assertTrue(wait_for(lambda: self.servers[0].request('POST', path + '/pods?dryRun=All', pod('a'))[2].get('message') == message))

    def test_updates_are_charged_by_their_difference(self):
        self.prepare('grown', **{'services': '5', 'services.nodeports': '2', 'services.loadbalancers': '0'})
        path = '/api/v1/namespaces/grown/services'
        service = {'apiVersion': 'v1', 'kind': 'Service', 'metadata': {'name': 'a'}, 'spec': {'ports': [{'name': 'a', 'port': 1}, {'name': 'b', 'port': 2}]}}
        server = self.servers[0]
        code, _, made = server.request('POST', path, service)
        self.assertEqual(code, 201, made)
        self.assertEqual(self.used('grown')['services.nodeports'], '0')
        made['spec']['type'] = 'NodePort'
        code, _, made = server.request('PUT', path + '/a', made)
        self.assertEqual(code, 200, made)
        self.assertEqual((self.used('grown')['services'], self.used('grown')['services.nodeports']), ('1', '2'))
        made['spec']['ports'].append({'name': 'c', 'port': 3})
        code, _, answer = server.request('PUT', path + '/a', made)
        self.assertEqual(code, 403)
        self.assertIn('exceeded quota: quota, requested: services.nodeports=1, used: services.nodeports=2, limited: services.nodeports=2', answer['message'])
        del made['spec']['ports'][1:]
        self.assertEqual(server.request('PUT', path + '/a', made)[0], 200)
        self.assertEqual(self.used('grown')['services.nodeports'], '2', 'the controller takes it off')

    def test_all_quotas_of_a_namespace_or_none(self):
        self.prepare('several', pods='10')
        self.prepare('several', quota='another', pods='1')
        path = '/api/v1/namespaces/several/pods'
        answers = self.write_all([[('POST', path, pod('p-%d' % i))] for i in range(8)])
        self.assertEqual(sorted(code for code, _ in answers), [201] + [403] * 7)
        self.assertEqual((self.used('several')['pods'], self.used('several', 'another')['pods']), ('1', '1'))

    def test_a_deletion_is_taken_off_by_the_controller(self):
        self.prepare('deleted', pods='1')
        path = '/api/v1/namespaces/deleted/pods'
        server = self.servers[0]
        self.assertEqual(server.request('POST', path, pod('a'))[0], 201)
        self.assertEqual(server.request('DELETE', path + '/a?gracePeriodSeconds=0')[0], 200)
        self.assertEqual(server.request('POST', path, pod('b'))[0], 403)
        quota = self.quota('deleted')
        quota['status']['used']['pods'] = '0'
        self.assertEqual(server.request('PUT', '/api/v1/namespaces/deleted/resourcequotas/quota/status', quota)[0], 200)
        self.assertEqual(server.request('POST', path, pod('b'))[0], 201, 'at once')


class Configured(Quotas, unittest.TestCase):
    def test_limited_resources(self):
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration', 'plugins': [{'name': 'ResourceQuota', 'configuration': {
                'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'ResourceQuotaConfiguration', 'limitedResources': [
                    {'resource': 'pods', 'matchContains': ['requests.cpu'], 'matchScopes': [
                        {'scopeName': 'PriorityClass', 'operator': 'In', 'values': ['system-cluster-critical']}]}]}}]}, file)
            file.flush()
            with Server(WITHOUT_ACCOUNTS, '--admission-control-config-file=' + file.name) as server:
                self.servers = [server]
                path = '/api/v1/namespaces/default/pods'
                self.assertEqual(server.request('POST', path, pod('free'))[0], 201)
                code, _, answer = server.request('POST', path, pod('a', cpu='1'))
                self.assertEqual((code, answer['message']), (403, 'pods "a" is forbidden: insufficient quota to consume: requests.cpu'))
                self.prepare('default', **{'requests.cpu': '2'})
                self.assertEqual(server.request('POST', path, pod('a', cpu='1'))[0], 201)
                critical = pod('b', cpu='1')
                critical['spec'].update({'priorityClassName': 'system-cluster-critical', 'priority': 2000000000})
                code, _, answer = server.request('POST', path, critical)
                self.assertEqual((code, answer['message'], answer.get('reason')), (
                    500, 'insufficient quota to match these scopes: [{PriorityClass In [system-cluster-critical]}]', None))


@unittest.skipUnless(ETCD, 'etcd is not installed')
class TwoServers(Quotas, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.etcd = Etcd().start()
        cls.servers = [Server('--etcd-servers=' + cls.etcd.url, WITHOUT_ACCOUNTS) for _ in range(2)]
        assert cls.servers[0].request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD)[0] == 201
        for server in cls.servers:
            assert wait_for(lambda server=server: server.request('GET', WIDGETS + '/widgets')[0] == 200)

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.stop()
        cls.etcd.stop()

    def test_exactly_as_many_as_allowed(self):
        began = time.monotonic()
        self.check_rounds('two')
        print('%d rounds in %.1f s' % (ROUNDS, time.monotonic() - began))

    def test_writes_that_fail_later_use_nothing(self):
        self.check_failing_rounds('failing')

    def test_both_write_the_status_too(self):
        """A controller that sets the status of the quota runs concurrently with the writers; it overwrites only values that it has read."""
        self.prepare('met', pods='60')
        path = '/api/v1/namespaces/met'
        stopped = threading.Event()

        def touch():
            while not stopped.is_set():
                quota = self.servers[1].request('GET', path + '/resourcequotas/quota')[2]
                quota['metadata'].setdefault('annotations', {})['touched'] = str(time.monotonic())
                self.assertIn(self.servers[1].request('PUT', path + '/resourcequotas/quota', quota)[0], (200, 409))
        toucher = threading.Thread(target=touch)
        toucher.start()
        try:
            answers = self.write_all([[('POST', path + '/pods', pod('p-%d-%d' % (i, n))) for n in range(2)] for i in range(WRITERS)])
        finally:
            stopped.set()
            toucher.join()
        self.assertEqual(sorted({code for code, _ in answers}), [201, 403])
        self.assertEqual(self.count(path + '/pods'), 60)
        self.assertEqual(self.used('met')['pods'], '60')


if __name__ == '__main__':
    main()
