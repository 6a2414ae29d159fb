"""Lists whose revision is compacted while a client reads their pages."""
import unittest

from harness import Server, configmap, wait_for

MAPS = '/api/v1/namespaces/default/configmaps'
SECRETS = '/api/v1/namespaces/default/secrets'


class Compaction(unittest.TestCase):
    def test_a_list_ends_with_its_history_and_the_rest_of_it_can_be_had(self):
        with Server('--etcd-compaction-interval=1s') as server:
            for name in 'abcd':
                server.request('POST', MAPS, configmap(name))
            first = server.request('GET', MAPS + '?limit=2')[2]
            token, then = first['metadata']['continue'], first['metadata']['resourceVersion']

            def gone():
                # No object of the kind changes. Other objects do, because otherwise there is nothing to compact.
                server.request('POST', SECRETS, {'metadata': {'generateName': 's-'}})
                code, _, answer = server.request('GET', MAPS + '?limit=1&continue=' + token)
                return answer if code == 410 else None
            answer = wait_for(gone)
            self.assertEqual((answer['reason'], answer['code']), ('Expired', 410))
            self.assertTrue(answer['message'].startswith('The provided continue parameter is too old to display a consistent list result.'))
            # The list continues with the current objects.
            names, token = [], answer['metadata']['continue']
            while token:
                code, _, page = server.request('GET', MAPS + '?limit=1&continue=' + token)
                token = page['metadata'].get('continue', '')
                if code == 200:  # or the history of this revision has also been compacted
                    self.assertNotEqual(page['metadata']['resourceVersion'], then)
                    names += [each['metadata']['name'] for each in page['items']]
            self.assertEqual(names, ['c', 'd'])
            for query in ('resourceVersionMatch=Exact', 'limit=2'):
                code, _, answer = server.request('GET', '%s?%s&resourceVersion=%s' % (MAPS, query, then))
                self.assertEqual((code, answer['message']), (410, 'The resourceVersion for the provided list is too old.'))


if __name__ == '__main__':
    unittest.main()
