"""Bearer tokens: the authenticated users, and refusals."""
import base64
import json
import os
import subprocess
import tempfile
import time

import unittest

from harness import Server, main, wait_for

CORE = '/api/v1/namespaces/default'
ACCOUNTS = CORE + '/serviceaccounts'
INVALID = 'invalid bearer token'


def encoded(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).decode().rstrip('=')


def claims_of(token):
    part = token.split('.')[1]
    return json.loads(base64.urlsafe_b64decode(part + '=' * (-len(part) % 4)))


def bearer(token):
    return {'Authorization': 'Bearer ' + token}


class Client:
    """Requests of the tests."""
    server = None

    def get(self, headers, path='/version'):
        return self.server.request('GET', path, headers=headers, client_certificate=False)

    def code(self, token):
        return self.get(bearer(token))[0]

    def review(self, token, audiences=None):
        body = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'spec': {'token': token, 'audiences': audiences}}
        code, _, answer = self.server.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)
        self.assertEqual(code, 201, answer)
        return answer['status']

    def make(self, path, kind, name, **more):
        body = dict({'apiVersion': 'v1', 'kind': kind, 'metadata': {'name': name}}, **more)
        code, _, answer = self.server.request('POST', path, body)
        self.assertEqual(code, 201, answer)
        return answer

    def remove(self, path):
        code, _, answer = self.server.request('DELETE', path + '?gracePeriodSeconds=0')
        self.assertIn(code, (200, 202), answer)

    def token(self, account, **spec):
        body = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': spec}
        code, _, answer = self.server.request('POST', '%s/%s/token' % (ACCOUNTS, account), body)
        self.assertEqual(code, 201, answer)
        return answer['status']['token']

    def counter(self, name):
        for line in self.server.request('GET', '/metrics')[2].splitlines():
            if line.startswith(name + ' '):
                return float(line.split()[-1])
        return None


class AccountTokens(Client, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_a_server_without_flags_recognizes_its_tokens(self):
        account = self.make(ACCOUNTS, 'ServiceAccount', 'plain')
        token = self.token('plain')
        self.assertEqual(self.code(token), 200)
        found = self.review(token)
        self.assertEqual(found['user'], {
            'username': 'system:serviceaccount:default:plain', 'uid': account['metadata']['uid'],
            'groups': ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
            'extra': {'authentication.kubernetes.io/credential-id': ['JTI=' + claims_of(token)['jti']]}})
        self.assertEqual((found['authenticated'], found['audiences']), (True, ['https://kubernetes']))
        code, _, refused = self.get(bearer(token), CORE + '/secrets')
        self.assertEqual(code, 403)
        self.assertIn('User "system:serviceaccount:default:plain" cannot list resource "secrets"', refused['message'])
        self.assertIsNotNone(self.counter('serviceaccount_stale_tokens_total'))
        metrics = self.server.request('GET', '/metrics')[2]
        for name in ('request_total{status="hit"}', 'request_total{status="miss"}', 'fetch_total{status="ok"}',
                     'request_duration_seconds_count{status="miss"}', 'active_fetch_count{status="in_flight"} 0'):
            self.assertIn('authentication_token_cache_' + name, metrics)

    def test_other_tokens_are_refused(self):
        self.make(ACCOUNTS, 'ServiceAccount', 'forged')
        token = self.token('forged')
        header, body, signature = token.split('.')
        other = claims_of(token)
        other['sub'] = 'system:serviceaccount:kube-system:admin'
        bad = {'empty signature': '%s.%s.' % (header, body), 'truncated': token[:-6], 'two parts': '%s.%s' % (header, body),
               'no algorithm': '%s.%s.' % (encoded({'alg': 'none'}), body), 'other claims': '%s.%s.%s' % (header, encoded(other), signature),
               'other algorithm': '%s.%s.%s' % (encoded({'alg': 'HS256'}), body, signature), 'text': 'x', 'long': 'a' * 20000 + token,
               'other key id': '%s.%s.%s' % (encoded({'alg': 'ES256', 'kid': 'x'}), body, signature)}
        for what, text in bad.items():
            code, headers, answer = self.get(bearer(text))
            self.assertEqual((code, answer['message'], answer['reason']), (401, 'Unauthorized', 'Unauthorized'), what)
            self.assertNotIn('authenticated', self.review(text), what)
        self.assertEqual(self.review(bad['other key id'])['error'], '[invalid bearer token, invalid signature, no keys found]')
        self.assertEqual(self.review(bad['other claims'])['error'],
                         '[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]')
        self.assertEqual(self.review('x')['error'], INVALID)
        self.assertEqual(self.get({}, '/version?access_token=' + token)[0], self.get({}, '/version')[0], 'the query is not read')
        self.assertEqual(self.get({}, CORE + '/pods?access_token=' + token)[0], self.get({}, CORE + '/pods')[0])

    def test_a_token_is_for_its_audiences(self):
        self.make(ACCOUNTS, 'ServiceAccount', 'vault')
        token = self.token('vault', audiences=['vault', 'db'])
        self.assertEqual(self.code(token), 401)
        self.assertEqual(self.review(token)['error'], '[invalid bearer token, token audiences ["vault" "db"] is invalid for the target '
                         'audiences ["https://kubernetes"]]')
        self.assertEqual(self.review(token, ['x', 'db', 'vault'])['audiences'], ['db', 'vault'])
        self.assertNotIn('authenticated', self.review(token, ['x']))

    def test_a_token_ends_with_its_account(self):
        self.make(ACCOUNTS, 'ServiceAccount', 'gone')
        token = self.token('gone')
        self.remove(ACCOUNTS + '/gone')
        self.assertEqual(self.code(token), 401)
        self.assertEqual(self.review(token)['error'], '[invalid bearer token, serviceaccounts "gone" not found]')
        uid = self.make(ACCOUNTS, 'ServiceAccount', 'gone')['metadata']['uid']
        self.assertEqual(self.code(token), 401)
        self.assertEqual(self.review(token)['error'], '[invalid bearer token, service account UID (%s) does not match claim (%s)]' %
                         (uid, claims_of(token)['kubernetes.io']['serviceaccount']['uid']))

    def bound(self, kind, path, name, **more):
        """A token that is bound to a new object, and the object's uid."""
        uid = self.make(path, kind, name, **more)['metadata']['uid']
        return self.token('bound', boundObjectRef={'kind': kind, 'apiVersion': 'v1', 'name': name}), uid

    def test_a_token_ends_with_the_object_that_it_is_bound_to(self):
        self.make(ACCOUNTS, 'ServiceAccount', 'bound')
        pod = {'spec': {'serviceAccountName': 'bound', 'containers': [{'name': 'c', 'image': 'i'}]}}
        rows = [('Pod', CORE + '/pods', pod), ('Secret', CORE + '/secrets', {}), ('Node', '/api/v1/nodes', {})]
        for kind, path, more in rows:
            word = kind.lower()
            token, uid = self.bound(kind, path, 'b', **more)
            extra = self.review(token)['user']['extra']
            if kind != 'Secret':
                self.assertEqual((extra['authentication.kubernetes.io/%s-name' % word], extra['authentication.kubernetes.io/%s-uid' % word]),
                                 (['b'], [uid]))
            unused = self.token('bound', boundObjectRef={'kind': kind, 'apiVersion': 'v1', 'name': 'b'})
            self.remove(path + '/b')
            self.assertEqual(self.code(unused), 401, kind)
            self.assertEqual(self.review(unused)['error'], '[invalid bearer token, service account token has been invalidated]')
            again = self.make(path, kind, 'b', **more)['metadata']['uid']
            self.assertEqual(self.review(unused)['error'],
                             '[invalid bearer token, %s UID (%s) does not match service account %s ref claim (%s)]' % (word, again, word, uid))
            self.assertTrue(wait_for(lambda: self.code(token) == 401, 30), 'a used token ends with the cache at the latest')

    def test_a_request_for_a_token_may_name_its_account(self):
        uid = self.make(ACCOUNTS, 'ServiceAccount', 'named')['metadata']['uid']

        def ask(**metadata):
            return self.server.request('POST', ACCOUNTS + '/named/token',
                                       {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'metadata': metadata, 'spec': {}})
        self.assertEqual(ask(uid=uid, name='named', namespace='default')[0], 201)
        code, _, answer = ask(uid='x')
        self.assertEqual((code, answer['message']), (409, 'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "named": the UID in '
                                                     'the token request (x) does not match the UID of the service account (%s)' % uid))
        self.assertEqual(ask(name='other')[0], 422)

    def test_a_websocket_has_its_token_in_a_subprotocol(self):
        self.make(ACCOUNTS, 'ServiceAccount', 'socket')
        token = self.token('socket')

        def code(*protocols):
            return self.get({'Connection': 'Upgrade', 'Upgrade': 'websocket', 'Sec-WebSocket-Protocol': ', '.join(protocols)}, CORE + '/secrets')
        prefix = 'base64url.bearer.authorization.k8s.io.'
        answer = code(prefix + encoded(token.encode()), 'v5.channel.k8s.io')
        self.assertEqual(answer[0], 403)
        self.assertIn('system:serviceaccount:default:socket', answer[2]['message'])
        for protocols in ((prefix + encoded(b'x'), 'a'), (prefix + '?', 'a'), (prefix + encoded(token.encode()),),
                          (prefix + encoded(token.encode()), prefix + encoded(token.encode()), 'a')):
            self.assertEqual(code(*protocols)[0], 401, protocols)


class Files(Client, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.keys = [os.path.join(cls.directory.name, name) for name in ('signing.key', 'old.key', 'other.key')]
        for key in cls.keys:
            subprocess.run(['openssl', 'genrsa', '-out', key, '2048'], check=True, capture_output=True)
        users = os.path.join(cls.directory.name, 'users.csv')
        with open(users, 'w', encoding='utf-8') as file:
            file.write('static1,jane,7,"devs,ops"\nstatic2,joe,8\n')
        cls.server = Server('--service-account-signing-key-file=' + cls.keys[0], '--service-account-key-file=' + cls.keys[0],
                            '--service-account-key-file=' + cls.keys[1], '--service-account-issuer=https://new', '--service-account-issuer=https://old',
                            '--token-auth-file=' + users, '--enable-bootstrap-token-auth')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.directory.cleanup()

    def sign(self, claims, key=0, header=None):
        text = encoded(header or {'alg': 'RS256'}) + '.' + encoded(claims)
        signature = subprocess.run(['openssl', 'dgst', '-sha256', '-sign', self.keys[key]], input=text.encode(), check=True,
                                   capture_output=True).stdout
        return text + '.' + encoded(signature)

    def test_a_file_has_tokens_of_users(self):
        self.assertEqual(self.review('static1')['user'], {'username': 'jane', 'uid': '7', 'groups': ['devs', 'ops', 'system:authenticated']})
        self.assertEqual(self.review('static2')['user'], {'username': 'joe', 'uid': '8', 'groups': ['system:authenticated']})
        self.assertEqual([self.code(token) for token in ('static1', 'static2', 'static', 'static12', 'STATIC1')], [200, 200, 401, 401, 401])
        self.assertEqual(self.review('static1', ['vault']).get('error'), INVALID, 'for the API server only')
        self.assertEqual(self.review('static1', ['vault', 'https://old'])['audiences'], ['https://old'])
        code, headers, _ = self.get({'Authorization': 'Bearer  static1'}, CORE + '/pods')
        self.assertIn('contains extra space before the bearer token', headers['Warning'])
        self.assertIn(code, (401, 403))

    def test_a_file_that_cannot_be_used_makes_startup_fail(self):
        path = os.path.join(self.directory.name, 'bad.csv')
        with open(path, 'w', encoding='utf-8') as file:
            file.write('token,user\n')
        server = Server('--token-auth-file=' + path, wait=False)
        try:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('must have at least 3 columns (token, user name, user uid), found 2', server.text())
        finally:
            server.stop()

    def test_every_key_and_issuer_is_accepted(self):
        account = self.make(ACCOUNTS, 'ServiceAccount', 'sa')
        now = int(time.time())
        claims = {'iss': 'https://old', 'sub': 'system:serviceaccount:default:sa', 'aud': ['https://new'], 'exp': now + 600, 'nbf': now, 'iat': now,
                  'kubernetes.io': {'namespace': 'default', 'serviceaccount': {'name': 'sa', 'uid': account['metadata']['uid']}}}
        self.assertEqual(self.code(self.sign(claims)), 200)
        self.assertEqual(self.code(self.sign(claims, key=1)), 200)
        for what, token in {'key': self.sign(claims, key=2), 'issuer': self.sign(dict(claims, iss='https://third')),
                            'expired': self.sign(dict(claims, exp=now - 100)), 'not yet valid': self.sign(dict(claims, nbf=now + 100)),
                            'issued in the future': self.sign(dict(claims, iat=now + 100)), 'audience': self.sign(dict(claims, aud=['x'])),
                            'uid': self.sign(dict(claims, **{'kubernetes.io': {'namespace': 'default', 'serviceaccount': {'name': 'sa', 'uid': 'x'}}})),
                            'account': self.sign(dict(claims, **{'kubernetes.io': {}}))}.items():
            self.assertEqual(self.code(token), 401, what)
        self.assertEqual(self.review(self.sign(dict(claims, exp=now - 100)))['error'], '[invalid bearer token, service account token has expired]')
        stale = self.sign(dict(claims, **{'kubernetes.io': dict(claims['kubernetes.io'], warnafter=now - 50)}))
        before = self.counter('serviceaccount_stale_tokens_total')
        self.assertEqual(self.code(stale), 200)
        self.assertEqual(self.counter('serviceaccount_stale_tokens_total'), before + 1)

    def legacy_secret(self, name, labels=None):
        uid = self.server.request('GET', ACCOUNTS + '/old')[2]['metadata']['uid']
        prefix = 'kubernetes.io/serviceaccount/'
        token = self.sign({'iss': 'kubernetes/serviceaccount', 'sub': 'system:serviceaccount:default:old', prefix + 'namespace': 'default',
                           prefix + 'secret.name': name, prefix + 'service-account.name': 'old', prefix + 'service-account.uid': uid}, key=1)
        metadata = {'name': name, 'labels': labels or {}, 'annotations': {'kubernetes.io/service-account.name': 'old'}}
        self.make(CORE + '/secrets', 'Secret', name, metadata=metadata, type='kubernetes.io/service-account-token',
                  data={'token': base64.b64encode(token.encode()).decode()})
        return token

    def test_tokens_in_secrets_are_tracked(self):
        self.make(ACCOUNTS, 'ServiceAccount', 'old')
        token = self.legacy_secret('manual')
        self.assertEqual(self.code(token), 200)
        labels = self.server.request('GET', CORE + '/secrets/manual')[2]['metadata']['labels']
        self.assertRegex(labels['kubernetes.io/legacy-token-last-used'], r'^\d{4}-\d\d-\d\d$')
        self.assertEqual(self.review(token)['user']['username'], 'system:serviceaccount:default:old')
        invalid = self.legacy_secret('invalid', {'kubernetes.io/legacy-token-invalid-since': '2024-01-01'})
        self.assertEqual(self.code(invalid), 401)
        self.assertIn('has been marked invalid', self.review(invalid)['error'])
        self.assertGreaterEqual(self.counter('serviceaccount_legacy_manual_token_uses_total'), 1)
        self.assertGreaterEqual(self.counter('serviceaccount_invalid_legacy_auto_token_uses_total'), 1)
        unused = self.legacy_secret('deleted')
        self.remove(CORE + '/secrets/deleted')
        self.assertEqual(self.code(unused), 401)
        self.assertEqual(self.review(unused)['error'], '[invalid bearer token, Token has been invalidated]')

    def test_bootstrap_tokens_are_those_of_secrets(self):
        def make(identity, **data):
            values = dict({'token-id': identity, 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true'}, **data)
            self.make('/api/v1/namespaces/kube-system/secrets', 'Secret', 'bootstrap-token-' + identity, type='bootstrap.kubernetes.io/token',
                      data={key: base64.b64encode(value.encode()).decode() for key, value in values.items()})
            return identity + '.0123456789abcdef'
        good = make('abcdef', **{'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token'})
        self.assertEqual(self.review(good)['user'], {'username': 'system:bootstrap:abcdef', 'groups': [
            'system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token', 'system:authenticated']})
        self.assertEqual(self.code(good), 200)
        self.assertEqual(self.code('abcdef.0123456789abcdee'), 401)
        self.assertEqual(self.code(make('expire', expiration='2020-01-01T00:00:00Z')), 401)
        self.assertEqual(self.code(make('signin', **{'usage-bootstrap-authentication': 'false'})), 401)
        unused = make('remove')
        self.remove('/api/v1/namespaces/kube-system/secrets/bootstrap-token-remove')
        self.assertEqual(self.code(unused), 401)


if __name__ == '__main__':
    main()
