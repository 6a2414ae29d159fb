"""Service account tokens that another process signs (--service-account-signing-endpoint): a real gRPC server on a Unix socket."""
import os
import shutil
import tempfile
import unittest

from harness import Server, main, wait_for
from openid_provider import Key
from token_signer import TokenSigner
from tokens_test import ACCOUNTS, parts, token_request


class ExternalSigner(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix='backplane-signer-')
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.signer = TokenSigner(os.path.join(self.dir, 'signer.sock'))
        self.addCleanup(self.signer.die)

    def start(self, *flags):
        server = Server('--service-account-signing-endpoint=' + self.signer.path, *flags)
        self.addCleanup(server.stop)
        made = server.request('POST', ACCOUNTS, {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': 'sa'}})
        self.assertEqual(made[0], 201, made)
        return server

    @staticmethod
    def ask(server, **spec):
        return server.request('POST', ACCOUNTS + '/sa/token', token_request(**spec))

    @staticmethod
    def code(server, token):
        return server.request('GET', '/version', client_certificate=False, headers={'Authorization': 'Bearer ' + token})[0]

    def review(self, server, token):
        body = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'spec': {'token': token}}
        return server.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)[2]['status']

    def test_the_process_signs_and_its_keys_verify(self):
        server = self.start()
        code, _, answer = self.ask(server, expirationSeconds=600)
        self.assertEqual(code, 201, answer)
        token = answer['status']['token']
        header, claims = parts(token)
        self.assertEqual(header, {'alg': 'RS256', 'kid': 'first', 'typ': 'JWT'})
        self.assertEqual((claims['sub'], claims['exp'] - claims['iat']), ('system:serviceaccount:default:sa', 600))
        self.assertEqual(self.review(server, token)['user']['username'], 'system:serviceaccount:default:sa')
        self.assertEqual(self.code(server, token), 200)
        forged = Key(self.dir, 'stranger').token(claims, kid='first')
        self.assertNotIn('authenticated', self.review(server, forged))
        self.assertEqual(self.code(server, forged), 401)
        published = server.request('GET', '/openid/v1/jwks')[2]['keys']
        self.assertEqual([key['kid'] for key in published], ['first'])

    def test_a_key_that_the_server_has_not_seen_is_fetched(self):
        server = self.start()
        fetched = self.signer.count('FetchKeys')
        self.signer.keys.insert(0, Key(self.dir, 'second', 'ES256'))
        token = self.ask(server)[2]['status']['token']
        self.assertEqual(parts(token)[0]['kid'], 'second')
        self.assertTrue(self.review(server, token).get('authenticated'))
        self.assertGreater(self.signer.count('FetchKeys'), fetched)

    def test_a_key_outside_discovery_verifies_and_does_not_sign(self):
        old = Key(self.dir, 'old')
        self.signer.keys.append(old)
        self.signer.hidden = {'old'}
        server = self.start()
        self.assertEqual([key['kid'] for key in server.request('GET', '/openid/v1/jwks')[2]['keys']], ['first'])
        claims = parts(self.ask(server)[2]['status']['token'])[1]
        self.assertTrue(self.review(server, old.token(claims)).get('authenticated'))
        self.signer.keys.reverse()
        code, _, refused = self.ask(server)
        self.assertEqual(code, 500, refused)
        self.assertIn('key used for signing JWT (kid: old) is excluded from OIDC discovery docs', refused['message'])

    def test_keys_are_fetched_again_when_the_process_says_so(self):
        self.signer.refresh_seconds = 1
        server = self.start()
        self.signer.keys.append(Key(self.dir, 'later'))
        self.assertTrue(wait_for(lambda: 'later' in [key['kid'] for key in server.request('GET', '/openid/v1/jwks')[2]['keys']]))

    def test_a_process_that_fails_or_dies_fails_the_request_for_a_token_alone(self):
        server = self.start()
        token = self.ask(server)[2]['status']['token']
        self.signer.mode = 'fail'
        code, _, refused = self.ask(server)
        self.assertEqual(code, 500, refused)
        self.assertIn('while signing jwt: rpc error: code = FailedPrecondition desc = the test says so', refused['message'])
        self.signer.mode = 'rubbish'
        self.assertEqual(self.ask(server)[0], 500)
        self.signer.die()
        self.assertTrue(self.review(server, token).get('authenticated'))
        self.signer.mode = 'ok'
        self.signer.start()
        self.assertTrue(wait_for(lambda: self.ask(server)[0] == 201))

    def test_a_longer_validity_than_the_process_signs_makes_startup_fail(self):
        server = Server('--service-account-signing-endpoint=' + self.signer.path, '--service-account-max-token-expiration=3h', wait=False)
        self.addCleanup(server.stop)
        self.assertTrue(wait_for(lambda: server.process.poll() is not None))
        self.assertIn('service-account-max-token-expiration cannot be set longer than the token expiration supported by '
                      'service-account-signing-endpoint', server.text())


if __name__ == '__main__':
    main()
