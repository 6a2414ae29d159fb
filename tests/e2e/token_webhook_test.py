"""Tokens that a webhook reviews: both versions, audiences, the cache, and webhooks that hang, die or return rubbish."""
import json
import os
import socket
import tempfile
import threading
import time
import unittest

from harness import Server, main
from openid_provider import TlsServer, reply
from openid_test import refused, review, with_token


class Webhook(TlsServer):
    """`answers`: what is returned for a token: a status, bytes, or a function of the handler."""

    def __init__(self):
        self.answers, self.calls, self.headers = {}, [], []
        self.lock = threading.Lock()
        super().__init__(self.answer)

    def answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers['Content-Length'])))
        with self.lock:
            self.calls.append(body)
            self.headers.append(dict(handler.headers))
        answer = self.answers.get(body['spec']['token'], {})
        if callable(answer):
            return answer(handler)
        if isinstance(answer, bytes):
            return reply(handler, 200, answer)
        return reply(handler, 200, {'apiVersion': body['apiVersion'], 'kind': 'TokenReview', 'status': answer})

    def count(self, token):
        with self.lock:
            return sum(call['spec']['token'] == token for call in self.calls)

    def kubeconfig(self, url=None):
        path = os.path.join(self.folder, 'webhook.kubeconfig')
        config = {'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',
                  'clusters': [{'name': 'k', 'cluster': {'server': (url or self.url) + '/review', 'certificate-authority': self.folder + '/ca.crt'}}],
                  'users': [{'name': 'u', 'user': {'token': 'webhook-secret'}}],
                  'contexts': [{'name': 'c', 'context': {'cluster': 'k', 'user': 'u'}}]}
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(config, f)
        return path


def user(name, **more):
    return dict({'authenticated': True, 'user': {'username': name}}, **more)


class TokenWebhook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.webhook = Webhook()
        cls.server = Server('--authentication-token-webhook-config-file=' + cls.webhook.kubeconfig(),
                            '--authentication-token-webhook-version=v1')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.webhook.stop()

    def error(self, token):
        status = review(self.server, token)
        self.assertNotIn('authenticated', status)
        return status['error']

    def test_a_user_is_taken_over(self):
        self.webhook.answers['good'] = {'authenticated': True, 'user': {'username': 'jane', 'uid': '7', 'groups': ['a'], 'extra': {'k': ['v']}}}
        status = review(self.server, 'good')
        self.assertEqual(status['user'], {'username': 'jane', 'uid': '7', 'groups': ['a', 'system:authenticated'], 'extra': {'k': ['v']}})
        self.assertEqual(with_token(self.server, 'good'), 200)
        self.assertEqual(with_token(self.server, 'good', '/api/v1/nodes'), 403)
        call = self.webhook.calls[0]
        self.assertEqual((call['apiVersion'], call['kind']), ('authentication.k8s.io/v1', 'TokenReview'))
        self.assertEqual(call['spec']['audiences'], ['https://kubernetes'])
        headers = {name.lower(): value for name, value in self.webhook.headers[0].items()}
        self.assertEqual(headers['authorization'], 'Bearer webhook-secret')
        self.assertNotIn('webhook-secret', self.server.text())

    def test_answers_are_cached_and_errors_are_not(self):
        self.webhook.answers['cached'] = user('joe')
        self.webhook.answers['unknown'] = {}
        self.webhook.answers['bad'] = {'error': 'out of order'}
        for token, calls in (('cached', 1), ('unknown', 1), ('bad', 3)):
            for _ in range(3):
                review(self.server, token)
            self.assertEqual(self.webhook.count(token), calls, token)
        self.assertEqual(self.error('unknown'), 'invalid bearer token')
        self.assertIn('out of order', self.error('bad'))
        self.assertEqual(with_token(self.server, 'unknown'), 401)

    def test_requests_with_the_same_token_share_a_call(self):
        release = threading.Event()

        def slow(handler):
            release.wait(20)
            reply(handler, 200, {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'status': user('slow')})
        self.webhook.answers['shared'] = slow
        codes = []
        threads = [threading.Thread(target=lambda: codes.append(with_token(self.server, 'shared'))) for _ in range(8)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        while self.webhook.count('shared') == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        release.set()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [200] * 8)
        self.assertEqual(self.webhook.count('shared'), 1)

    def test_audiences(self):
        self.webhook.answers['other'] = user('jane', audiences=['other'])
        self.assertEqual(with_token(self.server, 'other'), 401)
        self.assertEqual(review(self.server, 'other', ['other', 'x'])['audiences'], ['other'])
        self.webhook.answers['silent'] = user('jane')
        self.assertEqual(review(self.server, 'silent')['audiences'], ['https://kubernetes'])
        self.assertNotIn('authenticated', review(self.server, 'silent', ['x']))

    def test_an_invalid_response_is_an_error_of_this_token_only(self):
        head = b'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","status":'
        for n, body in enumerate((b'', b'no json', b'[]', b'{"apiVersion":"v1","kind":"Pod"}', head + b'{"authenticated":"yes"}}',
                                  head.replace(b'/v1"', b'/v1beta1"') + b'{"authenticated":true,"user":{"username":"x"}}}',
                                  head + b'{"authenticated":true,"user":{"username":["x"]}}}', b'{' * 100000, b'x' * 5_000_000)):
            token = 'rubbish%d' % n
            self.webhook.answers[token] = body
            self.assertEqual(with_token(self.server, token), 401, body[:100])
            self.assertTrue(self.error(token))
        self.webhook.answers['fine'] = user('joe')
        self.assertEqual(with_token(self.server, 'fine'), 200)

    def test_a_reserved_name_is_refused(self):
        self.webhook.answers['reserved'] = user('system:apiserver')
        self.assertEqual(with_token(self.server, 'reserved'), 401)

    def test_an_overloaded_webhook_is_called_again(self):
        tries = []

        def second_time(handler):
            tries.append(1)
            if len(tries) == 1:
                return reply(handler, 429, {}, [('Retry-After', '1')])
            return reply(handler, 200, {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'status': user('late')})
        self.webhook.answers['busy'] = second_time
        self.assertEqual(with_token(self.server, 'busy'), 200)
        self.assertEqual(len(tries), 2)
        self.webhook.answers['forbidden'] = lambda handler: reply(handler, 403, {})
        self.assertEqual(with_token(self.server, 'forbidden'), 401)
        self.assertEqual(self.webhook.count('forbidden'), 1, 'other errors are not repeated')

    def test_a_connection_that_ends_is_an_error(self):
        def die(handler):
            # close() alone leaves the socket open as long as the handler's files refer to it.
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
        self.webhook.answers['dies'] = die
        self.assertEqual(with_token(self.server, 'dies'), 401)
        self.assertTrue(self.error('dies'))

    def test_a_webhook_that_hangs_blocks_only_its_own_requests(self):
        release = threading.Event()
        self.webhook.answers['hangs'] = lambda handler: release.wait(120)
        result = []
        # The client waits longer than the look-up may take.
        hanging = threading.Thread(target=lambda: result.append(with_token(self.server, 'hangs', timeout=90)))
        hanging.start()
        deadline = time.monotonic() + 20
        while self.webhook.count('hangs') == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        self.webhook.answers['quick'] = user('joe')
        self.assertEqual(with_token(self.server, 'quick'), 200)
        self.assertEqual(self.server.request('GET', '/version')[0], 200)
        self.assertEqual(result, [])
        hanging.join(100)
        release.set()
        self.assertEqual(result, [401], 'a look-up ends after 30 seconds')


class Versions(unittest.TestCase):
    def test_v1beta1_is_the_default_and_no_cache_is_possible(self):
        webhook = Webhook()
        server = Server('--authentication-token-webhook-config-file=' + webhook.kubeconfig(), '--authentication-token-webhook-cache-ttl=0s')
        try:
            webhook.answers['t'] = user('jane')
            self.assertEqual(review(server, 't')['user']['username'], 'jane')
            self.assertEqual(webhook.calls[0]['apiVersion'], 'authentication.k8s.io/v1beta1')
            webhook.answers['u'] = {}
            self.assertEqual([with_token(server, 'u') for _ in range(2)], [401, 401])
            self.assertEqual(webhook.count('u'), 2)
        finally:
            server.stop()
            webhook.stop()

    def test_a_webhook_that_is_not_there(self):
        webhook = Webhook()
        webhook.stop()
        server = Server('--authentication-token-webhook-config-file=' + webhook.kubeconfig())
        try:
            self.assertEqual(with_token(server, 't'), 401)
            self.assertIn('Failed to make webhook authenticator request', server.text())
            self.assertEqual(server.request('GET', '/readyz')[0], 200)
        finally:
            server.stop()

    def test_what_cannot_work_refuses_to_start(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'empty')
            open(path, 'w', encoding='utf-8').close()
            refused('--authentication-token-webhook-config-file=' + path)
        self.assertIn('/none', refused('--authentication-token-webhook-config-file=/none'))
        webhook = Webhook()
        webhook.stop()
        text = refused('--authentication-token-webhook-config-file=' + webhook.kubeconfig(), '--authentication-token-webhook-version=v2')
        self.assertIn('unsupported authentication webhook version', text)


if __name__ == '__main__':
    main()
