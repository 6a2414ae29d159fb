"""Encryption by a KMS plugin of version 1: a key for each write, the cache of keys, and a stopped plugin."""
import os
import unittest

from encryption_test import IDENTITY, SECRETS, Encrypted, secret
from harness import main, wait_for
from kms_plugin import KmsPlugin

GATE = '--feature-gates=KMSv1=true'


class KmsV1(Encrypted):
    def setUp(self):
        super().setUp()
        self.plugin = KmsPlugin(os.path.join(self.dir, 'kms.sock'))
        self.addCleanup(self.plugin.die)
        kms = {'apiVersion': 'v1', 'name': 'old', 'endpoint': self.plugin.endpoint, 'timeout': '1s', 'cachesize': 100}
        self.configure((['secrets'], [{'kms': kms}, IDENTITY]))

    def serve(self, **options):
        return self.start(GATE, data_dir=self.data, **options)

    def counts(self, *methods):
        return tuple(self.plugin.count(method) for method in methods)

    def create(self, server, name):
        return server.request('POST', SECRETS, secret(name))

    def test_each_write_has_a_key_of_its_own_which_a_later_server_decrypts_once(self):
        server = self.serve()
        asked = self.counts('Encrypt', 'Decrypt')
        for i in range(3):
            self.assertEqual(self.create(server, 's-%d' % i)[0], 201)
        # Health checks would encrypt and decrypt too; this test requests none.
        self.assertEqual(self.counts('Encrypt', 'Decrypt'), (asked[0] + 3, asked[1]))
        self.assertEqual(self.counts('Version', 'Status'), (1, 0))
        self.assertEqual(self.metric(server, 'apiserver_storage_transformation_operations_total', resource='secrets',
                                     transformation_type='to_storage', transformer_prefix='k8s:enc:kms:v1:old:', status='OK'), 3)
        server.terminate()
        asked = self.counts('Encrypt', 'Decrypt')
        again = self.serve()
        self.assertEqual([item['data'] for item in again.request('GET', SECRETS)[2]['items']], [secret('a')['data']] * 3)
        self.assertTrue(self.plugin.wait_for_calls('Decrypt', asked[1] + 3))
        self.assertGreater(self.metric(again, 'apiserver_storage_envelope_transformation_cache_misses_total'), 0)
        self.assertGreater(self.metric(again, 'apiserver_envelope_encryption_dek_cache_fill_percent'), 0)

    def test_a_plugin_that_dies_fails_writes_and_the_health_check_and_not_what_is_in_memory(self):
        server = self.serve()
        self.assertEqual(self.create(server, 'a')[0], 201)
        self.assertEqual(server.request('GET', '/healthz/kms-provider-0')[0], 200)
        self.plugin.die()
        self.assertTrue(wait_for(lambda: server.request('GET', '/healthz/kms-provider-0')[0] == 500))
        self.assertEqual(server.request('GET', '/livez')[0], 200)
        code, _, refused = self.create(server, 'b')
        self.assertEqual(code, 500, refused)
        self.assertIn('rpc error: code = DeadlineExceeded desc = context deadline exceeded', refused['message'])
        self.assertEqual(server.request('GET', SECRETS + '/a')[2]['data'], secret('a')['data'])
        self.plugin.start()
        self.assertTrue(wait_for(lambda: self.create(server, 'c')[0] == 201))
        self.assertTrue(wait_for(lambda: server.request('GET', '/healthz/kms-provider-0')[0] == 200))

    def test_a_plugin_of_another_version_is_refused(self):
        self.plugin.V1 = dict(self.plugin.V1, Version=lambda *_: (b'\x0a\x02v2', '0'))
        # The server never becomes ready.
        server = self.serve(wait=False)
        self.assertTrue(wait_for(lambda: 'export KUBECONFIG=' in server.text()))
        server.read_kubeconfig()
        self.assertEqual(server.request('GET', '/readyz')[0], 500)
        code, _, refused = self.create(server, 'a')
        self.assertEqual(code, 500, refused)
        self.assertIn('KMS provider api version v2 is not supported, only v1beta1 is supported now', refused['message'])


if __name__ == '__main__':
    main()
