"""Tokens of service accounts: users, lifetimes and bound objects; and related objects that the server maintains."""
import base64
import json
import os
import subprocess
import tempfile
import time
import unittest

from harness import Server

ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'


def token_request(**spec):
    return {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': spec}


def parts(token):
    """Header and claims."""
    def part(text):
        return json.loads(base64.urlsafe_b64decode(text + '=' * (-len(text) % 4)))
    return tuple(part(text) for text in token.split('.')[:2])


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        assert cls.server.request('POST', ACCOUNTS, {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'sa'}})[0] == 201

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def ask(self, account='sa', **spec):
        return self.server.request('POST', '%s/%s/token' % (ACCOUNTS, account), token_request(**spec))

    def test_the_default_time_of_a_token_is_a_field_of_its_client(self):
        code, _, answer = self.ask()
        self.assertEqual((code, answer['spec']['expirationSeconds']), (201, 3600))
        fields = answer['metadata']['managedFields'][0]['fieldsV1']['f:spec']
        self.assertIn('f:expirationSeconds', fields)

    def test_a_token_contains_its_account(self):
        code, _, answer = self.ask(expirationSeconds=600)
        self.assertEqual(code, 201, answer)
        uid = self.server.request('GET', ACCOUNTS + '/sa')[2]['metadata']['uid']
        self.assertEqual(answer['metadata']['uid'], uid)
        self.assertEqual(answer['spec'], {'audiences': ['https://kubernetes'], 'expirationSeconds': 600, 'boundObjectRef': None})
        header, claims = parts(answer['status']['token'])
        self.assertEqual(header['alg'], 'ES256')
        self.assertEqual(claims['sub'], 'system:serviceaccount:default:sa')
        self.assertEqual(claims['iss'], 'https://kubernetes')
        self.assertEqual(claims['aud'], ['https://kubernetes'])
        self.assertEqual(claims['exp'] - claims['iat'], 600)
        self.assertEqual(claims['kubernetes.io'], {'namespace': 'default', 'serviceaccount': {'name': 'sa', 'uid': uid}})
        ends = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(claims['exp']))
        self.assertEqual(answer['status']['expirationTimestamp'], ends)

    def test_the_request_is_checked(self):
        def message(account='sa', **spec):
            return self.ask(account, **spec)[2]['message']
        self.assertEqual(message(expirationSeconds=5), 'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: '
                         'may not specify a duration less than 10 minutes')
        self.assertEqual(message('none'), 'serviceaccounts "none" not found')
        self.assertEqual(message(boundObjectRef={'kind': 'Pod', 'apiVersion': 'v1', 'name': 'none'}), 'pods "none" not found')
        self.assertEqual(message(boundObjectRef={'kind': 'ConfigMap', 'apiVersion': 'v1', 'name': 'a'}),
                         'cannot bind token to object of type /v1, Kind=ConfigMap')
        self.assertEqual(self.server.request('GET', ACCOUNTS + '/sa/token')[0], 405)

    def test_tokens_are_bound_to_objects(self):
        pod = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'},
               'spec': {'serviceAccountName': 'sa', 'nodeName': 'gone', 'containers': [{'name': 'c', 'image': 'i'}]}}
        uid = self.server.request('POST', '/api/v1/namespaces/default/pods', pod)[2]['metadata']['uid']
        reference = {'kind': 'Pod', 'apiVersion': 'v1', 'name': 'p'}
        claims = parts(self.ask(boundObjectRef=reference)[2]['status']['token'])[1]
        self.assertEqual(claims['kubernetes.io']['pod'], {'name': 'p', 'uid': uid})
        self.assertEqual(claims['kubernetes.io']['node'], {'name': 'gone'})
        self.assertEqual(self.ask(boundObjectRef=dict(reference, uid='other'))[0], 409)
        self.assertEqual(self.ask('default', boundObjectRef=reference)[0], 404)
#Tokens for kubelets last a year, and have the time at which they should be renewed.
        claims = parts(self.ask(boundObjectRef=reference, expirationSeconds=3607)[2]['status']['token'])[1]
        self.assertEqual(claims['exp'] - claims['iat'], 365 * 24 * 3600)
        self.assertEqual(claims['kubernetes.io']['warnafter'] - claims['iat'], 3607)

    def test_system_priority_classes_are_there(self):
        items = self.server.request('GET', '/apis/scheduling.k8s.io/v1/priorityclasses')[2]['items']
        self.assertEqual({item['metadata']['name']: (item['value'], item['preemptionPolicy']) for item in items},
                         {'system-node-critical': (2000001000, 'PreemptLowerPriority'), 'system-cluster-critical': (2000000000, 'PreemptLowerPriority')})
        self.assertIn('poststarthook/scheduling/bootstrap-system-priority-classes ok', self.server.request('GET', '/readyz?verbose')[2])
        code, _, answer = self.server.request('DELETE', '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical')
        self.assertEqual((code, answer['message']), (403, 'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a '
                                                          'system priority class and cannot be deleted'))

    def test_components_are_asked(self):
        code, headers, answer = self.server.request('GET', '/api/v1/componentstatuses')
        self.assertEqual((code, answer['kind'], answer['metadata']), (200, 'ComponentStatusList', {}))
        self.assertIn('v1 ComponentStatus is deprecated in v1.19+', headers['Warning'])
        found = {item['metadata']['name']: item['conditions'][0] for item in answer['items']}
        self.assertEqual(found['etcd-0'], {'type': 'Healthy', 'status': 'True', 'message': 'ok'})
        self.assertEqual(set(found), {'etcd-0', 'controller-manager', 'scheduler'})
        self.assertEqual(self.server.request('GET', '/api/v1/componentstatuses/etcd-0')[2]['conditions'][0], found['etcd-0'])
        self.assertEqual(self.server.request('GET', '/api/v1/componentstatuses/none')[2]['message'], 'componentstatus "none" not found')


class Keys(unittest.TestCase):
    def test_a_key_that_is_given_signs(self):
        with tempfile.TemporaryDirectory() as directory:
            key = os.path.join(directory, 'sa.key')
            subprocess.run(['openssl', 'genrsa', '-out', key, '2048'], check=True, capture_output=True)
            flags = ['--service-account-signing-key-file=' + key, '--service-account-issuer=https://one', '--service-account-issuer=https://two',
                     '--service-account-max-token-expiration=1h']
            with Server(*flags) as server:
                server.request('POST', ACCOUNTS, {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'sa'}})
                code, headers, answer = server.request('POST', ACCOUNTS + '/sa/token', token_request(expirationSeconds=7200))
                self.assertEqual(code, 201, answer)
                self.assertEqual(headers['Warning'], '299 - "requested expiration of 7200 seconds shortened to 3600 seconds"')
                header, claims = parts(answer['status']['token'])
                self.assertEqual((header['alg'], claims['iss'], claims['aud']), ('RS256', 'https://one', ['https://one', 'https://two']))
                self.verify(answer['status']['token'], key, directory)
                self.check_published(server, header)

    def check_published(self, server, header):
        code, headers, document = server.request('GET', '/.well-known/openid-configuration')
        self.assertEqual((code, headers['Content-Type'], headers['Cache-Control']), (200, 'application/json', 'public, max-age=3600'))
        self.assertEqual(document, {'issuer': 'https://one', 'jwks_uri': 'https://127.0.0.1:%d/openid/v1/jwks' % server.port,
                                    'response_types_supported': ['id_token'], 'subject_types_supported': ['public'],
                                    'id_token_signing_alg_values_supported': ['RS256']})
        code, headers, keys = server.request('GET', '/openid/v1/jwks')
        self.assertEqual((code, headers['Content-Type'], headers['Cache-Control']), (200, 'application/jwk-set+json', 'public, max-age=3600'))
        self.assertEqual([(key['kid'], key['alg'], key['kty'], key['use'], key['e']) for key in keys['keys']],
                         [(header['kid'], 'RS256', 'RSA', 'sig', 'AQAB')])
        self.assertEqual(server.request('POST', '/openid/v1/jwks', '{}')[0], 405)

    def test_the_keys_of_every_key_file_are_published(self):
        with tempfile.TemporaryDirectory() as directory:
            paths = [os.path.join(directory, name) for name in ('signing.key', 'old.key', 'old.pub')]
            for path in paths[:2]:
                subprocess.run(['openssl', 'genrsa', '-out', path, '2048'], check=True, capture_output=True)
            subprocess.run(['openssl', 'rsa', '-in', paths[1], '-pubout', '-out', paths[2]], check=True, capture_output=True)
            flags = ['--service-account-signing-key-file=' + paths[0], '--service-account-issuer=https://one']
            files = ['--service-account-key-file=' + paths[2], '--service-account-key-file=' + paths[0]]
            with Server(*flags) as server:
                signing = [key['n'] for key in server.request('GET', '/openid/v1/jwks')[2]['keys']]
            with Server(*flags, *files) as server:
                keys = [key['n'] for key in server.request('GET', '/openid/v1/jwks')[2]['keys']]
                self.assertEqual(len(keys), 2)
                self.assertEqual(keys[1:], signing)
            # The key that signs is published only if a file says so, as with kube-apiserver.
            with Server(*flags, files[0]) as server:
                self.assertEqual([key['n'] for key in server.request('GET', '/openid/v1/jwks')[2]['keys']], keys[:1])

    def test_an_issuer_that_is_no_url_publishes_nothing(self):
        with Server('--service-account-issuer=kubernetes') as server:
            self.assertEqual(server.request('GET', '/openid/v1/jwks')[0], 404)
            self.assertEqual(server.request('GET', '/.well-known/openid-configuration')[0], 404)

    def verify(self, token, key, directory):
        text, _, signature = token.rpartition('.')
        names = [os.path.join(directory, name) for name in ('text', 'signature', 'public')]
        for name, data in zip(names, (text.encode(), base64.urlsafe_b64decode(signature + '=' * (-len(signature) % 4)))):
            with open(name, 'wb') as file:
                file.write(data)
        subprocess.run(['openssl', 'rsa', '-in', key, '-pubout', '-out', names[2]], check=True, capture_output=True)
        subprocess.run(['openssl', 'dgst', '-sha256', '-verify', names[2], '-signature', names[1], names[0]], check=True, capture_output=True)


if __name__ == '__main__':
    unittest.main()
