"""Flags of the store: lifetime of events and history, size limit of objects, finalizers of the garbage collector."""
import json
import resource
import threading
import time
import unittest

from harness import Server, configmap, main

CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
EVENTS = '/api/v1/namespaces/default/events'
PATIENCE = 60  # the time limit in seconds for an expected event


def wait_until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class LostEvents(unittest.TestCase):
    event = {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e', 'namespace': 'default'}, 'reason': 'Test',
             'involvedObject': {'kind': 'Pod', 'namespace': 'default', 'name': 'p'}}

    def test_an_event_with_a_negative_ttl_is_accepted_and_expires(self):
        with Server('--event-ttl=-1s') as server:
            self.assertEqual(server.request('POST', EVENTS, self.event)[0], 201)
            self.assertTrue(wait_until(lambda: server.request('GET', EVENTS + '/e')[0] == 404), 'the event is still there')

    def test_an_expired_event_is_deleted_and_watches_report_it(self):
        with Server('--event-ttl=2s') as server:
            code, _, made = server.request('POST', EVENTS, self.event)
            self.assertEqual(code, 201, made)
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('stays'))[0], 201)
            seen = []

            def follow():
                version = made['metadata']['resourceVersion']
                seen.extend(server.events(EVENTS + '?watch=1&resourceVersion=' + version, 1))
            watcher = threading.Thread(target=follow, daemon=True)
            watcher.start()
            self.assertTrue(wait_until(lambda: server.request('GET', EVENTS + '/e')[0] == 404), 'the event is still there')
            self.assertEqual(server.request('GET', CONFIGMAPS + '/stays')[0], 200)
            watcher.join()
            self.assertEqual(seen[0]['type'], 'DELETED', seen)


class History(unittest.TestCase):
    def test_what_is_older_than_two_intervals_is_forgotten(self):
        with Server('--etcd-compaction-interval=3s') as server:  # the first read precedes the second one
            _, _, made = server.request('POST', CONFIGMAPS, configmap('a', n='0'))
            exact = CONFIGMAPS + '?resourceVersionMatch=Exact&resourceVersion=' + made['metadata']['resourceVersion']
            self.assertEqual(server.request('GET', exact)[0], 200)
            made['data']['n'] = '1'
            self.assertEqual(server.request('PUT', CONFIGMAPS + '/a', made)[0], 200)
            self.assertTrue(wait_until(lambda: server.request('GET', exact)[0] == 410), 'the old version is still read')
            code, _, expired = server.request('GET', exact)
            self.assertEqual((code, expired['reason']), (410, 'Expired'))
            self.assertEqual(server.request('GET', CONFIGMAPS + '/a')[2]['data'], {'n': '1'})


class Size(unittest.TestCase):
    def test_an_object_over_one_and_a_half_mebibytes_is_refused_with_etcds_message(self):
        def pod(size):
            return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'},
                    'spec': {'containers': [{'name': 'c', 'image': 'i', 'env': [{'name': 'A', 'value': 'x' * size}]}]}}
        with Server() as server:
            pods = '/api/v1/namespaces/default/pods'
            code, _, answer = server.request('POST', pods, pod(2_000_000))
            self.assertEqual(code, 500, answer)
            self.assertEqual(answer['message'], 'etcdserver: request is too large')
            self.assertNotIn('reason', answer)
            code, _, made = server.request('POST', pods, pod(1_000_000))
            self.assertEqual(code, 201)
            made['metadata']['annotations'] = {'small': 'change'}
            self.assertEqual(server.request('PUT', pods + '/p', made)[0], 200)

    def test_an_object_that_is_too_large_with_its_managers_is_stored_without_them(self):
        def many(count, **more):
            return dict(configmap('m', **{'%0250d' % n: '' for n in range(count)}), **more)
        with Server() as server:
            code, _, made = server.request('POST', CONFIGMAPS, many(4000))
            self.assertEqual((code, 'managedFields' in made['metadata'], len(made['data'])), (201, False, 4000))
            code, _, put = server.request('PUT', CONFIGMAPS + '/m', many(4001))
            self.assertEqual((code, 'managedFields' in put['metadata'], len(put['data'])), (200, False, 4001))
            for verb, name, body, type in (('PUT', 'put', many(4000, metadata={'name': 'put'}), 'application/json'),
                                           ('PATCH', 'patched', {'data': many(4000)['data']}, 'application/merge-patch+json')):
                code, _, small = server.request('POST', CONFIGMAPS, configmap(name, a='b'))
                self.assertIn('managedFields', small['metadata'])
                code, _, large = server.request(verb, CONFIGMAPS + '/' + name, body, {'Content-Type': type})
                self.assertEqual((code, 'managedFields' in large['metadata']), (200, False))
            code, _, patched = server.request('PATCH', CONFIGMAPS + '/m', {'data': {'small': 'change'}}, {'Content-Type': 'application/merge-patch+json'})
            self.assertEqual((code, 'managedFields' in patched['metadata'], patched['data']['small']), (200, False, 'change'))
            made = many(4000, metadata={'generateName': 'g-'})
            code, _, generated = server.request('POST', CONFIGMAPS, made)
            self.assertEqual((code, 'managedFields' in generated['metadata']), (201, False))
            code, _, answer = server.request('PATCH', CONFIGMAPS + '/applied?fieldManager=f', json.dumps(dict(many(4000), metadata={'name': 'applied'})),
                                             {'Content-Type': 'application/apply-patch+yaml'})
            self.assertEqual((code, answer['message']), (500, 'etcdserver: request is too large'))


class Files(unittest.TestCase):
    def test_a_file_that_may_not_grow_fails_writes_and_not_the_server(self):
        with Server() as server:
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('before'))[0], 201)
            pid = server.process.pid
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1 << 20, hard))
            stored = []
            for i in range(200):
                name = 'n%d' % i
                code, _, answer = server.request('POST', CONFIGMAPS, configmap(name, pad='x' * 20000))
                if code != 201:
                    break
                stored.append(name)
            self.assertEqual(code, 500, answer)
            self.assertIn('File too large', answer['message'])
            self.assertEqual(server.request('GET', CONFIGMAPS + '/before')[0], 200)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
            self.assertTrue(wait_until(lambda: server.request('POST', CONFIGMAPS, configmap('after'))[0] == 201), 'no write is taken')
            names = {item['metadata']['name'] for item in server.request('GET', CONFIGMAPS)[2]['items']}
            self.assertLessEqual({'before', 'after', *stored}, names)


class Collector(unittest.TestCase):
    def test_orphaning_does_not_wait_if_the_garbage_collector_is_disabled(self):
        orphan = {'kind': 'DeleteOptions', 'apiVersion': 'v1', 'propagationPolicy': 'Orphan'}
        for flag, code in (('--enable-garbage-collector=false', 404), ('--enable-garbage-collector=true', 200)):
            with self.subTest(flag), Server(flag) as server:
                self.assertEqual(server.request('POST', CONFIGMAPS, configmap('a'))[0], 201)
                self.assertEqual(server.request('DELETE', CONFIGMAPS + '/a', orphan)[0], 200)
                self.assertEqual(server.request('GET', CONFIGMAPS + '/a')[0], code)


if __name__ == '__main__':
    main()
