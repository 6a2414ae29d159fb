"""Twenty thousand objects: a paged and an unpaged list are equal at one resourceVersion; a watch from there misses nothing; Tables, selectors."""
import concurrent.futures
import json
import threading
import unittest

from harness import Server, configmap, main

COUNT = 20000
BASE = '/api/v1/namespaces/default/configmaps'


class Lists(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

        def fill(worker):
            conn = cls.server.connect()
            for number in range(worker, COUNT, 16):
                body = configmap('c%05d' % number, k='v%d' % number)
                body['metadata']['labels'] = {'mod': str(number % 400)}
                code = cls.server.request('POST', BASE, body, connection=conn)[0]
                assert code == 201, code
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(fill, range(16)))

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def get(self, query):
        code, _, body = self.server.request('GET', BASE + query)
        self.assertEqual(code, 200, body)
        return body

    def test_pages_and_one_piece_are_complete_and_of_one_version(self):
        whole = self.get('')
        names = [i['metadata']['name'] for i in whole['items']]
        self.assertEqual(names, ['c%05d' % i for i in range(COUNT)])
        # The pages must not show writes between them.
        paged, token, versions, remaining = [], '', set(), COUNT
        while True:
            page = self.get('?limit=500' + ('&continue=' + token if token else ''))
            paged += [i['metadata']['name'] for i in page['items']]
            versions.add(page['metadata']['resourceVersion'])
            remaining -= len(page['items'])
            self.server.request('POST', BASE, configmap('between-%05d' % len(paged)))
            token = page['metadata'].get('continue', '')
            if not token:
                break
            self.assertEqual(page['metadata'].get('remainingItemCount'), remaining)
        self.assertEqual(paged, names)
        self.assertEqual(len(versions), 1)
        for name in [i['metadata']['name'] for i in self.get('')['items'] if i['metadata']['name'].startswith('between')]:
            self.server.request('DELETE', BASE + '/' + name)

    def test_a_selector_finds_just_its_own(self):
        self.assertEqual(len(self.get('?labelSelector=mod%3D7')['items']), COUNT // 400)
        self.assertEqual([i['metadata']['name'] for i in self.get('?fieldSelector=metadata.name%3Dc00042')['items']], ['c00042'])

    def test_a_watch_from_a_version_misses_nothing(self):
        self.server.request('POST', '/api/v1/namespaces', {'metadata': {'name': 'watched'}})
        base = BASE.replace('default', 'watched')
        version = self.server.request('GET', base)[2]['metadata']['resourceVersion']
        want = ['w%04d' % i for i in range(500)]

        def write(part):
            conn = self.server.connect()
            for name in part:
                self.server.request('POST', base, configmap(name), connection=conn)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(write, [want[i::8] for i in range(8)]))
        conn = self.server.connect()
        conn.request('GET', base + '?watch=1&resourceVersion=%s&timeoutSeconds=60' % version)
        response = conn.getresponse()
        seen, versions = [], []
        while len(seen) < len(want):
            line = response.readline()
            if not line:
                break
            event = json.loads(line)
            name = event['object']['metadata']['name']
            if event['type'] == 'ADDED' and name.startswith('w'):
                seen.append(name)
            versions.append(int(event['object']['metadata']['resourceVersion']))
        self.assertEqual(sorted(seen), want)
        self.assertEqual(versions, sorted(versions))

    def test_what_has_no_fields_is_not_selected_by_them(self):
        path = '/api/v1/componentstatuses?fieldSelector='
        self.assertEqual([each['metadata']['name'] for each in self.server.request('GET', path + 'metadata.name%3Detcd-0')[2]['items']], ['etcd-0'])
        code, _, answer = self.server.request('GET', path + 'metadata.uid%3Dx')
        self.assertEqual((code, answer['message']), (
            400, '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"'))

    def test_deletecollection_with_a_selector_removes_just_those(self):
        for number in range(20):
            body = configmap('d%02d' % number)
            body['metadata']['labels'] = {'doomed': 'yes'}
            self.server.request('POST', BASE, body)
        code, _, body = self.server.request('DELETE', BASE + '?labelSelector=doomed%3Dyes')
        self.assertEqual((code, len(body['items'])), (200, 20))
        self.assertEqual(self.get('?labelSelector=doomed%3Dyes')['items'], [])
        self.assertEqual(len(self.get('?labelSelector=mod')['items']), COUNT)


if __name__ == '__main__':
    main()
