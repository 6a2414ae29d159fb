"""Encryption of stored objects: stored values, their readers, changed and lost keys, KMS plugins, reencrypt."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import stored_values
from etcd_keys import Keys
from etcd_test import ETCD, Etcd
from harness import BINARY, PLUGINS, Server, START_SECONDS, configmap, main, wait_for
from kms_plugin import KmsPlugin

SECRETS = '/api/v1/namespaces/default/secrets'
CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
NEEDLE = 'needle-in-the-store-4711'
KEY = {name: bytes(range(n, n + 32)) for n, name in enumerate(('k1', 'k2', 'k3'))}
IGNORE = '?ignoreStoreReadErrorWithClusterBreakingPotential=true'
GATE = '--feature-gates=AllowUnsafeMalformedObjectDeletion=true'


def secret(name, value=NEEDLE):
    return {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': name}, 'data': {'a': base64.b64encode(value.encode()).decode()}}


def keyed(algorithm, *names):
    return {algorithm: {'keys': [{'name': name, 'secret': base64.b64encode(KEY[name]).decode()} for name in names]}}


IDENTITY = {'identity': {}}


class Encrypted(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='backplane-encryption-')
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.file = os.path.join(self.dir, 'encryption.yaml')
        self.data = os.path.join(self.dir, 'server')
        os.mkdir(self.data)

    def configure(self, *entries):
        """Each entry: resources, providers.  The file is replaced at once."""
        document = {'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'EncryptionConfiguration',
                    'resources': [{'resources': resources, 'providers': providers} for resources, providers in entries]}
        with open(self.file + '.next', 'w') as f:
            json.dump(document, f)
        os.rename(self.file + '.next', self.file)

    def start(self, *flags, **options):
        server = Server('--encryption-provider-config=' + self.file, *flags, **options)
        self.addCleanup(server.stop)
        return server

    def refusal(self, *flags):
        done = subprocess.run([BINARY, '--data-dir', os.path.join(self.dir, 'refused'), '--plugin-dir', PLUGINS, '--secure-port', '0',
                               '--encryption-provider-config=' + self.file, *flags], capture_output=True, text=True, timeout=START_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stdout + done.stderr

    @staticmethod
    def metric(server, name, **labels):
        """The sum of the series with these labels."""
        total = 0
        for line in server.request('GET', '/metrics')[2].splitlines():
            found = re.match(re.escape(name) + r'(?:\{(.*)\})? (\S+)$', line)
            if found and all('%s="%s"' % pair in (found[1] or '') for pair in labels.items()):
                total += float(found[2])
        return total


class Startup(Encrypted):
    def test_a_file_that_is_wrong_makes_startup_fail(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1'), {}]))
        self.assertIn('error while parsing file: resources[0].providers[1]: Invalid value: ', self.refusal())
        self.configure((['*.'], [IDENTITY]), (['secrets'], [IDENTITY]))
        self.assertIn('error while building transformers: resource "secrets" is masked by earlier rule "*."', self.refusal())
        self.configure((['secrets'], [{'kms': {'name': 'old', 'endpoint': 'unix:///x'}}]))
        self.assertIn('Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.', self.refusal())
        os.unlink(self.file)
        self.assertIn('error while parsing file: error while loading file: error reading encryption provider configuration file "%s"' % self.file, self.refusal())

    def test_errors_contain_no_secret_of_the_file(self):
        self.configure((['secrets'], [dict(keyed('aesgcm', 'k1'), **IDENTITY)]))
        message = self.refusal()
        self.assertIn('more than one provider specified in a single element', message)
        self.assertNotIn(base64.b64encode(KEY['k1']).decode(), message)

    def test_without_the_plugin_the_server_does_not_start(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1')]))
        self.assertIn('the plugin encryption does not run', self.refusal('--disable-plugin=encryption'))


class EmbeddedStore(Encrypted):
    def files_with(self, folder, text):
        found = []
        for where, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(where, name), 'rb') as f:
                    if text in f.read():
                        found.append(name)
        return found

    def test_no_file_of_the_store_holds_the_plain_text(self):
        encoded = base64.b64encode(NEEDLE.encode())
        self.configure((['secrets'], [keyed('secretbox', 'k1'), IDENTITY]), (['widgets.example.com'], [keyed('aesgcm', 'k2')]))
        server = self.start(data_dir=self.data)
        definition = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'widgets.example.com'},
                      'spec': {'group': 'example.com', 'scope': 'Namespaced', 'names': {'plural': 'widgets', 'kind': 'Widget'},
                               'versions': [{'name': 'v1', 'served': True, 'storage': True,
                                             'schema': {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}}]}}
        self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)[0], 201)
        widget = {'apiVersion': 'example.com/v1', 'kind': 'Widget', 'metadata': {'name': 'w'}, 'spec': NEEDLE}
        self.assertTrue(wait_for(lambda: server.request('POST', '/apis/example.com/v1/namespaces/default/widgets', widget)[0] == 201))
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        self.assertEqual(server.request('POST', CONFIGMAPS, configmap('plain', a='straw-in-the-store'))[0], 201)
        self.assertEqual(server.terminate(), 0)
        store = os.path.join(self.data, 'data')
        self.assertTrue(self.files_with(store, b'straw-in-the-store'), 'the search would find what is not encrypted')
        self.assertEqual(self.files_with(store, encoded), [])
        self.assertEqual(self.files_with(store, NEEDLE.encode()), [])
        again = self.start(data_dir=self.data)
        self.assertEqual(again.request('GET', SECRETS + '/a')[2]['data']['a'], encoded.decode())
        self.assertEqual(wait_for(lambda: again.request('GET', '/apis/example.com/v1/namespaces/default/widgets/w')[2].get('spec')), NEEDLE)
        self.assertGreater(self.metric(again, 'apiserver_storage_transformation_operations_total', resource='secrets',
                                       transformation_type='from_storage', transformer_prefix='k8s:enc:secretbox:v1:', status='OK'), 0)

    def test_a_lost_key_is_an_error_of_its_objects_alone(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1')]))
        server = self.start(data_dir=self.data)
        self.assertEqual(server.request('POST', SECRETS, secret('old'))[0], 201)
        server.terminate()
        self.configure((['secrets'], [keyed('aesgcm', 'k2')]))
        server = self.start(data_dir=self.data)
        self.assertEqual(server.request('POST', SECRETS, secret('new'))[0], 201)
        code, _, refused = server.request('GET', SECRETS + '/old')
        self.assertEqual((code, refused['message']), (500, 'unable to transform key "/registry/secrets/default/old": '
                                                           'no matching key was found for the provided AES transformer'))
        code, headers, listed = server.request('GET', SECRETS)
        self.assertEqual((code, [item['metadata']['name'] for item in listed['items']]), (200, ['new']))
        self.assertIn('/registry/secrets/default/old', headers['Warning'])
        self.assertEqual(server.request('DELETE', SECRETS + '/old')[0], 500)
        server.terminate()
        server = self.start(GATE, data_dir=self.data)
        self.assertEqual(server.request('GET', SECRETS)[2]['reason'], 'StorageReadError')
        code, _, removed = server.request('DELETE', SECRETS + '/old' + IGNORE)
        self.assertEqual((code, removed['status']), (200, 'Success'))
        self.assertEqual([item['metadata']['name'] for item in server.request('GET', SECRETS)[2]['items']], ['new'])


@unittest.skipUnless(ETCD, 'this machine has no etcd (package etcd-server)')
class InEtcd(Encrypted):
    def setUp(self):
        super().setUp()
        self.etcd = Etcd().start()
        self.addCleanup(self.etcd.stop)
        self.keys = Keys(self.etcd)

    def serve(self, *flags):
        return self.start('--etcd-servers=' + self.etcd.url, *flags)

    def stored(self, name, prefix='/registry/secrets/default/'):
        return self.keys.all(prefix)[prefix + name][0]

    def test_values_are_those_of_kube_apiserver(self):
        for algorithm, (prefix, seal, opened) in stored_values.PROVIDERS.items():
            with self.subTest(algorithm):
                self.configure((['secrets'], [keyed(algorithm, 'k1')]))
                with Server('--encryption-provider-config=' + self.file, '--etcd-servers=' + self.etcd.url) as server:
                    name = 'made-' + algorithm
                    self.assertEqual(server.request('POST', SECRETS, secret(name))[0], 201)
                    place = ('/registry/secrets/default/' + name).encode()
                    value = self.stored(name)
                    self.assertTrue(value.startswith((prefix + 'k1:').encode()), value[:40])
                    self.assertIn(NEEDLE.encode(), opened(KEY['k1'], value[len(prefix) + 3:], place))
                    # Values that another server has written are readable.
                    given = json.dumps(secret('given-' + algorithm)).encode() + b'\n'
                    place = '/registry/secrets/default/given-' + algorithm
                    self.keys.put(place, (prefix + 'k1:').encode() + seal(KEY['k1'], given, place.encode()))
                    read = wait_for(lambda: server.request('GET', SECRETS + '/given-' + algorithm)[2].get('data'))
                    self.assertEqual(read, {'a': base64.b64encode(NEEDLE.encode()).decode()})
                    server.terminate()
                for key in self.keys.all('/registry/secrets/'):
                    self.keys.remove(key)

    def test_a_value_is_bound_to_its_place(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1')]))
        server = self.serve()
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        self.keys.put('/registry/secrets/default/b', self.stored('a'))
        code = wait_for(lambda: server.request('GET', SECRETS + '/b')[0] == 500)
        self.assertTrue(code)
        self.assertEqual(server.request('GET', SECRETS + '/b')[2]['message'],
                         'unable to transform key "/registry/secrets/default/b": cipher: message authentication failed')
        self.assertEqual(server.request('GET', SECRETS + '/a')[0], 200)

    def test_another_prefix_of_etcd_is_part_of_the_place(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1')]))
        server = self.serve('--etcd-prefix=/other')
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        value = self.keys.all('/other/secrets/')['/other/secrets/default/a'][0]
        self.assertIn(NEEDLE.encode(), stored_values.gcm_open(KEY['k1'], value[len('k8s:enc:aesgcm:v1:k1:'):], b'/other/secrets/default/a'))

    def test_an_update_without_a_change_writes_with_the_current_key(self):
        self.configure((['secrets'], [IDENTITY]))
        with Server('--etcd-servers=' + self.etcd.url) as plain:
            self.assertEqual(plain.request('POST', SECRETS, secret('a'))[0], 201)
            plain.terminate()
        self.assertIn(NEEDLE.encode(), self.stored('a'))
        self.configure((['secrets'], [keyed('aescbc', 'k1'), IDENTITY]))
        server = self.serve()
        found = server.request('GET', SECRETS + '/a')[2]
        code, _, updated = server.request('PUT', SECRETS + '/a', found)
        self.assertEqual(code, 200)
        self.assertNotEqual(updated['metadata']['resourceVersion'], found['metadata']['resourceVersion'])
        self.assertTrue(self.stored('a').startswith(b'k8s:enc:aescbc:v1:k1:'))
        # The values are current now, so nothing is written.
        code, _, unchanged = server.request('PUT', SECRETS + '/a', updated)
        self.assertEqual((code, unchanged['metadata']['resourceVersion']), (200, updated['metadata']['resourceVersion']))

    def test_encrypted_values_without_a_configuration_are_errors(self):
        self.configure((['secrets'], [keyed('aescbc', 'k1')]))
        with Server('--encryption-provider-config=' + self.file, '--etcd-servers=' + self.etcd.url) as server:
            self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
            server.terminate()
        with Server('--etcd-servers=' + self.etcd.url) as plain:
            code, _, refused = plain.request('GET', SECRETS + '/a')
            self.assertEqual((code, refused['message']),
                             (500, 'unable to transform key "/registry/secrets/default/a": identity transformer tried to read encrypted data'))

    def test_reencrypt_writes_what_is_stored_with_another_key(self):
        self.configure((['secrets'], [keyed('aescbc', 'k1'), IDENTITY]))
        server = self.serve('--encryption-provider-config-automatic-reload=true')
        for i in range(25):
            self.assertEqual(server.request('POST', SECRETS, secret('s-%d' % i))[0], 201)
            self.assertEqual(server.request('POST', CONFIGMAPS, configmap('c-%d' % i))[0], 201)
        self.configure((['secrets', 'configmaps'], [keyed('secretbox', 'k2'), keyed('aescbc', 'k1'), IDENTITY]))
        self.assertTrue(wait_for(lambda: self.metric(server, 'apiserver_encryption_config_controller_automatic_reloads_total', status='success')))
        progress = os.path.join(self.dir, 'progress.json')
        command = [BINARY, 'store', 'reencrypt', '--kubeconfig', server.kubeconfig, '--progress-file', progress, '--page-size', '10']
        # The state after a run that was interrupted after the first page of secrets, its last resource.
        page = server.request('GET', SECRETS.replace('/namespaces/default', '') + '?limit=10')[2]
        with open(self.file, 'rb') as f:
            digest = 'sha256:' + subprocess.run(['sha256sum'], input=f.read(), capture_output=True, check=True).stdout.decode().split()[0]
        with open(progress, 'w') as f:
            json.dump({'server': 'https://127.0.0.1:%d' % server.port, 'configuration': digest, 'done': ['configmaps'], 'resource': 'secrets',
                       'continue': page['metadata']['continue']}, f)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r'completed an interrupted run: 1 resources, 15 objects, 15 written, 0 failed')
        self.assertFalse(os.path.exists(progress))
        values = {key: value[:21] for key, (value, _) in self.keys.all('/registry/secrets/default/').items()}
        old = [key for key, value in values.items() if value.startswith(b'k8s:enc:aescbc:v1:k1:')]
        self.assertEqual(len(old), 10)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('secrets: objects=25 written=10 failed=0', done.stderr)
        for prefix in ('/registry/secrets/', '/registry/configmaps/'):
            for key, (value, _) in self.keys.all(prefix).items():
                self.assertTrue(value.startswith(b'k8s:enc:secretbox:v1:k2:'), key)
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertRegex(done.stdout, r'^2 resources, \d+ objects, 0 written, 0 failed')

    def test_reencrypt_of_a_server_that_does_not_encrypt(self):
        with Server('--etcd-servers=' + self.etcd.url) as plain:
            done = subprocess.run([BINARY, 'store', 'reencrypt', '--kubeconfig', plain.kubeconfig, '--progress-file', ''], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn('runs without --encryption-provider-config', done.stderr)


class Reload(Encrypted):
    RELOADS = 'apiserver_encryption_config_controller_automatic_reloads_total'

    def test_a_changed_file_takes_effect_and_a_wrong_one_does_not(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1')]))
        server = self.start('--encryption-provider-config-automatic-reload=true')
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        first = re.search(r'last_config_info\{.*hash="(sha256:\w+)"\}', server.request('GET', '/metrics')[2])[1]
        with open(self.file, 'w') as f:
            f.write('kind: EncryptionConfiguration\n')
        self.assertTrue(wait_for(lambda: self.metric(server, self.RELOADS, status='failure')))
        self.assertEqual(server.request('POST', SECRETS, secret('b'))[0], 201)
        self.configure((['secrets'], [keyed('aesgcm', 'k2', 'k1')]))
        self.assertTrue(wait_for(lambda: self.metric(server, self.RELOADS, status='success')))
        metrics = server.request('GET', '/metrics')[2]
        second = re.search(r'last_config_info\{.*hash="(sha256:\w+)"\}', metrics)[1]
        self.assertNotEqual(first, second)
        self.assertEqual(metrics.count('last_config_info{'), 1)
        found = server.request('GET', SECRETS + '/a')[2]
        updated = server.request('PUT', SECRETS + '/a', found)[2]
        self.assertNotEqual(found['metadata']['resourceVersion'], updated['metadata']['resourceVersion'])
        self.assertIn('[+]kms-providers ok', server.request('GET', '/healthz?verbose')[2])
        self.assertNotIn('kms-providers', server.request('GET', '/livez?verbose')[2])

    def test_a_kms_plugin_that_is_not_there_keeps_the_configuration(self):
        self.configure((['secrets'], [keyed('aesgcm', 'k1')]))
        server = self.start('--encryption-provider-config-automatic-reload=true')
        path = os.path.join(self.dir, 'kms.sock')
        kms = {'kms': {'apiVersion': 'v2', 'name': 'test', 'endpoint': 'unix://' + path, 'timeout': '500ms'}}
        self.configure((['secrets'], [kms, keyed('aesgcm', 'k1')]))
        self.assertTrue(wait_for(lambda: self.metric(server, self.RELOADS, status='failure')))
        self.assertIn('health check for new transformers failed', server.text())
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        # Once the key exists, the change takes effect without another change of the file.
        plugin = KmsPlugin(path)
        self.addCleanup(plugin.die)
        self.assertTrue(wait_for(lambda: self.metric(server, self.RELOADS, status='success')))
        self.assertEqual(server.request('POST', SECRETS, secret('b'))[0], 201)
        self.assertEqual(self.metric(server, 'apiserver_storage_transformation_operations_total', resource='secrets', transformation_type='to_storage',
                                     transformer_prefix='k8s:enc:kms:v2:test:', status='OK'), 1)


class Kms(Encrypted):
    def setUp(self):
        super().setUp()
        self.plugin = KmsPlugin(os.path.join(self.dir, 'kms.sock'))
        self.addCleanup(self.plugin.die)
        self.configure((['secrets'], [{'kms': {'apiVersion': 'v2', 'name': 'test', 'endpoint': self.plugin.endpoint, 'timeout': '1s'}}, IDENTITY]))

    def writes(self, server, status='OK'):
        return self.metric(server, 'apiserver_storage_transformation_operations_total', resource='secrets', transformation_type='to_storage',
                           transformer_prefix='k8s:enc:kms:v2:test:', status=status)

    def healthy(self, server):
        return server.request('GET', '/healthz/kms-providers')[0] == 200

    def test_one_key_for_all_writes_and_one_call_for_all_reads(self):
        server = self.start(data_dir=self.data)
        for i in range(5):
            self.assertEqual(server.request('POST', SECRETS, secret('s-%d' % i))[0], 201)
        self.assertEqual((self.plugin.count('Encrypt'), self.plugin.count('Decrypt')), (1, 0))
        self.assertEqual(self.writes(server), 5)
        self.assertTrue(self.healthy(server))
        server.terminate()
        again = self.start(data_dir=self.data)
        self.assertEqual(len(again.request('GET', SECRETS)[2]['items']), 5)
        self.assertEqual((self.plugin.count('Encrypt'), self.plugin.count('Decrypt')), (2, 1))
        metrics = again.request('GET', '/metrics')[2]
        for name in ('apiserver_envelope_encryption_kms_operations_latency_seconds_count{provider_name="test",method_name="/v2.KeyManagementService/Decrypt",'
                     'grpc_status_code="OK"} 1', 'apiserver_storage_envelope_transformation_cache_misses_total 1',
                     'apiserver_envelope_encryption_dek_source_cache_size{provider_name="test"} 2'):
            self.assertIn(name, metrics)
        self.assertIn('apiserver_envelope_encryption_key_id_hash_total{transformation_type="from_storage"', metrics)
        self.assertIn('apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds{provider_name="test"', metrics)
        self.assertNotIn('key-1', metrics)

    def test_a_changed_key_id_is_used_and_rewrites(self):
        server = self.start(data_dir=self.data)
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        self.plugin.key_id = 'key-2'
        # A health check calls the plugin if its last response is too old.
        self.assertTrue(wait_for(lambda: self.healthy(server) and self.plugin.count('Encrypt') == 2))
        found = server.request('GET', SECRETS + '/a')[2]
        updated = server.request('PUT', SECRETS + '/a', found)[2]
        self.assertNotEqual(found['metadata']['resourceVersion'], updated['metadata']['resourceVersion'])

    def test_a_plugin_that_dies_or_hangs_stops_neither_reads_nor_writes_for_a_while(self):
        server = self.start(data_dir=self.data)
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        for way in ('die', 'hang', 'rubbish', 'fail'):
            with self.subTest(way):
                if way == 'die':
                    self.plugin.die()
                self.plugin.mode = way
                self.assertTrue(wait_for(lambda: not self.healthy(server)))
                self.assertEqual(server.request('GET', '/livez')[0], 200)
                self.assertEqual(server.request('POST', SECRETS, secret('by-' + way))[0], 201)
                self.assertEqual(server.request('GET', SECRETS + '/a')[0], 200)
                self.plugin.mode = 'ok'
                if way == 'die':
                    self.plugin.start()
                self.assertTrue(wait_for(lambda: self.healthy(server)))

    def test_a_server_that_starts_before_its_plugin_waits_with_its_secrets(self):
        server = self.start(data_dir=self.data)
        self.assertEqual(server.request('POST', SECRETS, secret('a'))[0], 201)
        self.assertEqual(server.request('POST', CONFIGMAPS, configmap('c'))[0], 201)
        server.terminate()
        self.plugin.die()
        again = self.start(data_dir=self.data, wait=False)
        self.assertTrue(wait_for(lambda: 'loading failed prefix=/registry/secrets/' in again.text()))
        self.assertTrue(wait_for(lambda: os.path.exists(again.kubeconfig)))
        again.read_kubeconfig()

        def answer(path):
            try:
                return again.request('GET', path)
            except OSError:
                return None
        refused = wait_for(lambda: answer(SECRETS))
        self.assertIn(refused[0], (429, 500), refused)  # never a list without the secret
        self.plugin.start()
        listed = wait_for(lambda: answer(SECRETS)[0] == 200 and answer(SECRETS)[2])
        self.assertEqual([item['metadata']['name'] for item in listed['items']], ['a'])

    def test_a_key_that_the_plugin_has_lost_is_an_error_of_its_objects_until_it_is_back(self):
        server = self.start(data_dir=self.data)
        self.assertEqual(server.request('POST', SECRETS, secret('old'))[0], 201)
        server.terminate()
        self.plugin.key_id = 'key-2'
        self.plugin.lost = {'key-1'}
        again = self.start(data_dir=self.data)
        self.assertEqual(again.request('POST', SECRETS, secret('new'))[0], 201)
        code, _, refused = again.request('GET', SECRETS + '/old')
        self.assertEqual((code, refused['message']), (500, 'unable to transform key "/registry/secrets/default/old": failed to decrypt DEK, error: '
                                                           'rpc error: code = NotFound desc = the test says so'))
        self.assertEqual(again.request('GET', SECRETS + '/new')[0], 200)
        self.plugin.lost = set()
        self.assertTrue(wait_for(lambda: again.request('GET', SECRETS + '/old')[0] == 200))


if __name__ == '__main__':
    main()
