"""Users of an OpenID provider: by flags and by AuthenticationConfiguration; refused tokens, changed keys, reload."""
import collections
import concurrent.futures
import json
import os
import subprocess
import tempfile
import threading
import time
import unittest

from harness import BINARY, PLUGINS, Server, main, wait_for
from openid_provider import Key, Provider, b64

REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'
HEAD = {'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AuthenticationConfiguration'}


def until(what, seconds=60):
    found = wait_for(what, seconds)
    assert found, 'it never happened'
    return found


def review(server, token, audiences=None):
    """The status of a TokenReview.  The error of a token is that of its authenticator, without that of the server's own token."""
    status = raw_review(server, token, audiences)
    first = '[invalid bearer token, '
    if status.get('error', '').startswith(first):
        status['error'] = status['error'][len(first):-1]
    return status


def raw_review(server, token, audiences=None):
    spec = {'token': token}
    if audiences:
        spec['audiences'] = audiences
    code, _, answer = server.request('POST', REVIEWS, {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview', 'spec': spec})
    assert code == 201, answer
    return answer['status']


def with_token(server, token, path='/version', timeout=30):
    connection = server.connect(client_certificate=False, timeout=timeout)
    try:
        return server.request('GET', path, headers={'Authorization': 'Bearer ' + token}, connection=connection)[0]
    finally:
        connection.close()


def metric(server, name):
    text = server.request('GET', '/metrics')[2]
    return [line for line in text.splitlines() if line.startswith(name + '{') or line.startswith(name + ' ')]


def entry(provider, **more):
    out = {'issuer': {'url': provider.issuer, 'certificateAuthority': provider.ca, 'audiences': ['app']},
           'claimMappings': {'username': {'claim': 'sub', 'prefix': ''}}}
    out.update(more)
    return out


class File:
    """An AuthenticationConfiguration in a file that is replaced in one step."""

    def __init__(self, **config):
        self.path = os.path.join(tempfile.mkdtemp(prefix='backplane-authn-'), 'config.json')
        self.write(**config)

    def write(self, text=None, **config):
        with open(self.path + '.next', 'w', encoding='utf-8') as f:
            f.write(text if text is not None else json.dumps(dict(HEAD, **config)))
        os.rename(self.path + '.next', self.path)


def refused(*flags):
    """The output of a server that must not start."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([BINARY, '--data-dir', folder, '--plugin-dir', PLUGINS, '--secure-port', '0', *flags], capture_output=True,
                              timeout=60, check=False)
    text = (done.stdout + done.stderr).decode()
    assert done.returncode != 0, text
    return text


class Flags(unittest.TestCase):
    """One issuer, by --oidc-* flags."""

    @classmethod
    def setUpClass(cls):
        cls.provider = Provider('/realm')
        cls.server = Server('--oidc-issuer-url=' + cls.provider.issuer, '--oidc-client-id=app', '--oidc-ca-file=' + cls.provider.folder + '/ca.crt',
                            '--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:', '--oidc-required-claim=hd=example.com',
                            '--oidc-signing-algs=RS256,ES256')
        until(lambda: review(cls.server, cls.token()).get('authenticated'))

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.provider.stop()

    @classmethod
    def token(cls, **changes):
        return cls.provider.token(**dict({'hd': 'example.com'}, **changes))

    def error(self, token):
        status = review(self.server, token)
        self.assertNotIn('authenticated', status)
        self.assertEqual(with_token(self.server, token), 401)
        return status['error']

    def test_a_user_has_the_issuer_as_prefix(self):
        token = self.token(groups=['a', 'b'], jti='j1')
        status = review(self.server, token)
        self.assertEqual(status['user']['username'], self.provider.issuer + '#jane')
        self.assertEqual(status['user']['groups'], ['oidc:a', 'oidc:b', 'system:authenticated'])
        self.assertEqual(status['user']['extra'], {'authentication.kubernetes.io/credential-id': ['JTI=j1']})
        self.assertEqual(status['audiences'], ['https://kubernetes'])
        self.assertEqual(with_token(self.server, token), 200)
        self.assertEqual(with_token(self.server, token, '/api/v1/nodes'), 403)

    def test_times(self):
        now = int(time.time())
        self.assertIn('oidc: verify token: oidc: token is expired (Token Expiry: ', self.error(self.token(exp=now - 5)))
        self.assertIn('token is expired (Token Expiry: 0001-01-01', self.error(self.token(exp=None)))
        self.assertIn('before the nbf (not before) time', self.error(self.token(nbf=now + 300)))
        self.assertTrue(review(self.server, self.token(nbf=now + 30))['authenticated'])

    def test_audience_issuer_and_required_claims(self):
        self.assertEqual(self.error(self.token(aud='other')), 'oidc: verify token: oidc: expected audience "app" got ["other"]')
        self.assertEqual(self.error(self.token(iss='https://other.example')), 'invalid bearer token')
        self.assertEqual(self.error(self.token(hd='evil.com')),
                         'oidc: required claim hd value does not match. Got = evil.com, want = example.com')
        self.assertEqual(self.error(self.token(hd=None)), 'oidc: required claim hd not present in ID token')
        self.assertEqual(self.error(self.token(sub=None)), 'oidc: parse username claims "sub": claim not present')

    def test_signatures(self):
        claims = self.provider.claims(hd='example.com')
        key = self.provider.keys[0]
        wrong = 'oidc: verify token: failed to verify signature: failed to verify id token signature'
        self.assertEqual(self.error(Key(self.provider.folder, 'stranger').token(claims, kid='k1')), wrong)
        self.assertEqual(raw_review(self.server, key.token(claims)[:-8])['error'], '[invalid bearer token, %s]' % wrong)
        good = key.token(claims)
        head, body, signature = good.split('.')
        self.assertEqual(self.error('.'.join((head, b64(dict(claims, sub='admin')), signature))), wrong)
        self.assertEqual(self.error('.'.join((head, body, signature[:-8]))), wrong)
        self.assertEqual(self.error('.'.join((head, body, ''))), wrong)
        unsupported = 'oidc: verify token: oidc: id token signed with unsupported algorithm, expected ["RS256" "ES256"] got '
        self.assertEqual(self.error(b64({'alg': 'none'}) + '.' + body + '.'), unsupported + '"none"')
        self.assertEqual(self.error(key.confused_token(claims)), unsupported + '"HS256"')
        self.assertEqual(self.error(key.token(claims, alg='PS256')), unsupported + '"PS256"')
        self.assertEqual(self.error(key.token(claims, alg='ES256')), wrong)
        # A critical extension that the server does not know.
        self.assertIn('failed to verify', self.error(key.token(claims, crit=['b64'], b64=False)))

    def test_tokens_that_are_none(self):
        for token in ('x', 'a.b.c', 'a.b', '..', self.token()[:-300], self.token().split('.')[0] + '.', 'e30.' + b64([]) + '.e30'):
            self.assertEqual(with_token(self.server, token), 401, token)
        large = self.token(pad='x' * 20000)
        self.assertEqual(with_token(self.server, large), 200)
        self.assertEqual(with_token(self.server, large[:-5]), 401)
        self.assertIn('error', review(self.server, 'x' * 2_000_000))
        self.assertIn('error', review(self.server, self.token(pad='x' * 1_000_000)))

    def test_a_key_without_an_id_is_found_among_all(self):
        claims = self.provider.claims(hd='example.com')
        token = self.provider.keys[0].token(claims, kid='')
        self.assertTrue(review(self.server, token)['authenticated'])

    def test_latency_is_counted_by_result(self):
        review(self.server, self.token(n=1))
        review(self.server, self.token(n=1, aud='other'))
        counts = metric(self.server, 'apiserver_authentication_jwt_authenticator_latency_seconds_count')
        self.assertTrue(any('result="success"' in line and 'jwt_issuer_hash="sha256:' in line for line in counts), counts)
        self.assertTrue(any('result="failure"' in line for line in counts), counts)
        info = metric(self.server, 'apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info')
        self.assertEqual(len(info), 1)

    def test_combinations_of_flags(self):
        self.assertIn('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
                      refused('--oidc-issuer-url=https://a.example'))
        self.assertIn('oidc-issuer-url and oidc-client-id must be specified together', refused('--oidc-client-id=a'))
        self.assertIn('URL scheme must be https', refused('--oidc-issuer-url=http://a.example', '--oidc-client-id=a'))
        self.assertIn('oidc: unsupported signing alg: "HS256"',
                      refused('--oidc-issuer-url=https://a.example', '--oidc-client-id=a', '--oidc-signing-algs=HS256'))
        self.assertIn('URL must not overlap with disallowed issuers: [https://sa.example]',
                      refused('--oidc-issuer-url=https://sa.example', '--oidc-client-id=a', '--service-account-issuer=https://sa.example'))


class Rotation(unittest.TestCase):
    """Keys change while the server runs."""

    def test_keys(self):
        provider = Provider()
        server = Server('--oidc-issuer-url=' + provider.issuer, '--oidc-client-id=app', '--oidc-ca-file=' + provider.folder + '/ca.crt')
        try:
            until(lambda: review(server, provider.token()).get('authenticated'))
            fetches = provider.count('/keys')
            self.assertTrue(review(server, provider.token(n=1))['authenticated'])
            self.assertEqual(provider.count('/keys'), fetches, 'cached keys verify without a fetch')
            new = Key(provider.folder, 'k2', 'RS256')
            self.assertIn('failed to verify id token signature', review(server, new.token(provider.claims()))['error'])
            provider.published.append(new)
            self.assertTrue(review(server, new.token(provider.claims()))['authenticated'])
            # The former key is withdrawn: known keys are replaced with the next fetch.
            provider.published = [new]
            self.assertIn('error', review(server, Key(provider.folder, 'k3').token(provider.claims())))
            self.assertIn('failed to verify id token signature', review(server, provider.token(n=2))['error'])
            # The provider is down: known keys stay valid.
            provider.up = False
            self.assertTrue(review(server, new.token(provider.claims(n=3)))['authenticated'])
            self.assertIn('fetching keys oidc: get keys failed: 500 Internal Server Error', review(server, provider.token(n=4))['error'])
            # Many invalid tokens cause only a few fetches.
            fetches, began = provider.count('/keys'), time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda n: review(server, Key.token(provider.keys[0], provider.claims(n=100 + n), kid='unknown')), range(40)))
            self.assertLess(provider.count('/keys') - fetches, 12 + time.monotonic() - began, 'ten at once, then one a second')
            # A genuine token that arrives now waits for the next fetch.
            provider.up = True
            newest = Key(provider.folder, 'k4', 'RS256')
            provider.published.append(newest)
            self.assertTrue(review(server, newest.token(provider.claims(n=200)))['authenticated'])
        finally:
            server.stop()
            provider.stop()

    def test_cached_keys_are_not_fetched_before_they_expire(self):
        provider = Provider()
        provider.cache_control = 'max-age=3600'
        server = Server('--oidc-issuer-url=' + provider.issuer, '--oidc-client-id=app', '--oidc-ca-file=' + provider.folder + '/ca.crt')
        try:
            until(lambda: review(server, provider.token()).get('authenticated'))
            fetches = provider.count('/keys')
            self.assertIn('error', review(server, Key(provider.folder, 'k2').token(provider.claims())))
            self.assertEqual(provider.count('/keys'), fetches)
        finally:
            server.stop()
            provider.stop()


class Configuration(unittest.TestCase):
    """--authentication-config."""

    @classmethod
    def setUpClass(cls):
        cls.one, cls.two = Provider(), Provider('/two')
        cls.ec = Key(cls.one.folder, 'ec', 'ES256')
        cls.one.published.append(cls.ec)
        one = entry(cls.one, claimValidationRules=[{'expression': 'claims.hd in ["a", "b"]', 'message': 'hd must be a or b'}],
                    claimMappings={'username': {'expression': '"one:" + claims.sub'}, 'groups': {'expression': 'claims.roles.split(",")'},
                                   'uid': {'claim': 'id'}, 'extra': [{'key': 'example.org/tenant', 'valueExpression': 'claims.tenant.id'}]},
                    userValidationRules=[{'expression': '!user.groups.exists(g, g.startsWith("system:"))', 'message': 'reserved group'}])
        two = entry(cls.two, claimMappings={'username': {'claim': 'email', 'prefix': 'two:'}, 'groups': {'claim': 'groups', 'prefix': ''}})
        two['issuer'].update(discoveryURL=cls.two.url + '/discovery', audiences=['x', 'app'], audienceMatchPolicy='MatchAny')
        cls.file = File(jwt=[one, two])
        cls.server = Server('--authentication-config=' + cls.file.path)
        until(lambda: review(cls.server, cls.first()).get('authenticated'))
        until(lambda: review(cls.server, cls.two.token(email='a@b', n=time.time())).get('authenticated'))

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.one.stop()
        cls.two.stop()

    @classmethod
    def first(cls, **changes):
        return cls.one.token(**dict({'hd': 'a', 'roles': 'r1,r2', 'id': '7', 'tenant': {'id': 't'}}, **changes))

    def test_expressions_map_claims(self):
        user = review(self.server, self.first())['user']
        self.assertEqual((user['username'], user['uid'], user['extra']), ('one:jane', '7', {'example.org/tenant': ['t']}))
        self.assertEqual(user['groups'], ['r1', 'r2', 'system:authenticated'])

    def test_rules_refuse(self):
        self.assertEqual(review(self.server, self.first(hd='c'))['error'],
                         'oidc: error evaluating claim validation expression: validation expression \'claims.hd in ["a", "b"]\' failed: '
                         'hd must be a or b')
        self.assertEqual(review(self.server, self.first(roles='system:masters'))['error'],
                         'oidc: error evaluating user info validation rule: validation expression '
                         '\'!user.groups.exists(g, g.startsWith("system:"))\' failed: reserved group')
        self.assertIn('no such key: roles', review(self.server, self.first(roles=None))['error'])

    def test_every_algorithm_of_a_published_key_is_accepted(self):
        claims = self.one.claims(hd='a', roles='r', id='7', tenant={'id': 't'})
        self.assertTrue(review(self.server, self.ec.token(claims))['authenticated'])
        self.assertIn('failed to verify id token signature', review(self.server, self.ec.token(claims, kid='k1'))['error'])

    def test_the_issuer_selects_the_entry(self):
        status = review(self.server, self.two.token(email='a@b', groups='g', aud=['y', 'x']))
        self.assertEqual((status['user']['username'], status['user']['groups']), ('two:a@b', ['g', 'system:authenticated']))
        self.assertEqual(review(self.server, self.two.token(email='a@b', email_verified=False))['error'], 'oidc: email not verified')
        self.assertEqual(review(self.server, self.two.token(email='a@b', aud='z'))['error'],
                         'oidc: verify token: oidc: expected audience in ["app" "x"] got ["z"]')
        # A token of one issuer, signed with the key of the other.
        self.assertIn('failed to verify id token signature', review(self.server, self.one.keys[0].token(self.two.claims(email='a')))['error'])

    def test_distributed_claims(self):
        inner = self.two.token(groups=['far'])
        self.two.pages['/groups'] = lambda handler: inner.encode() if handler.headers['Authorization'] == 'Bearer s3cret' else b'no'
        sources = {'s': {'endpoint': self.two.url + '/groups', 'access_token': 's3cret'}}
        status = review(self.server, self.two.token(email='a@b', _claim_names={'groups': 's'}, _claim_sources=sources))
        self.assertEqual(status.get('user', {}).get('groups'), ['far', 'system:authenticated'], status)
        sources['s']['access_token'] = 'wrong'
        error = review(self.server, self.two.token(email='a@b', _claim_names={'groups': 's'}, _claim_sources=sources))['error']
        self.assertIn('oidc: could not expand distributed claims: getting untrusted issuer from endpoint', error)
        self.two.pages['/forged'] = Key(self.two.folder, 'forger').token(self.two.claims(groups=['system:masters']), kid='k1').encode()
        sources['s']['endpoint'] = self.two.url + '/forged'
        error = review(self.server, self.two.token(email='a@b', _claim_names={'groups': 's'}, _claim_sources=sources))['error']
        self.assertIn('verify distributed claim token: failed to verify signature', error)
        self.assertNotIn('s3cret', self.server.text())

    def test_audiences_of_a_review(self):
        self.assertEqual(review(self.server, self.first(n=1), ['https://kubernetes', 'x'])['audiences'], ['https://kubernetes'])
        self.assertNotIn('authenticated', review(self.server, self.first(n=1), ['x']))


class Startup(unittest.TestCase):
    def test_an_issuer_that_is_down_blocks_its_tokens_only(self):
        up, down = Provider(), Provider()
        down.up = False
        file = File(jwt=[entry(down), entry(up)])
        server = Server('--authentication-config=' + file.path)
        try:
            until(lambda: review(server, up.token()).get('authenticated'))
            self.assertEqual(review(server, down.token())['error'], 'oidc: authenticator not initialized')
            self.assertEqual(with_token(server, down.token()), 401)
            self.assertEqual(server.request('GET', '/readyz')[0], 200)
            self.assertIn('initializing plugin: 500 Internal Server Error', server.text())
            down.up = True
            until(lambda: review(server, down.token(n=time.time())).get('authenticated'), 60)
        finally:
            server.stop()
            up.stop()
            down.stop()

    def test_a_discovery_document_of_another_issuer_is_refused(self):
        provider = Provider()
        real = provider.issuer
        provider.issuer = 'https://other.example'
        server = Server('--oidc-issuer-url=' + real, '--oidc-client-id=app', '--oidc-ca-file=' + provider.folder + '/ca.crt')
        try:
            until(lambda: 'oidc: issuer did not match the issuer returned by provider, expected "%s" got "https://other.example"' % real
                     in server.text().replace('\\"', '"'))
        finally:
            server.stop()
            provider.stop()

    def test_a_certificate_of_another_authority_is_refused(self):
        provider, other = Provider(), Provider()
        server = Server('--oidc-issuer-url=' + provider.issuer, '--oidc-client-id=app', '--oidc-ca-file=' + other.folder + '/ca.crt')
        try:
            until(lambda: 'oidc authenticator: initializing plugin: Get' in server.text())
            self.assertEqual(review(server, provider.token())['error'], 'oidc: authenticator not initialized')
            self.assertEqual(provider.count('/keys'), 0)
        finally:
            server.stop()
            provider.stop()
            other.stop()

    def test_invalid_files_refuse_to_start(self):
        def output(text=None, flags=(), **config):
            file = File()
            file.write(text, **config)
            return refused('--authentication-config=' + file.path, *flags).replace('\\"', '"')
        self.assertIn('no such file or directory', refused('--authentication-config=/none'))
        self.assertIn('empty config data', output(''))
        self.assertIn('strict decoding error: unknown field "jwts"', output(jwts=[]))
        self.assertIn('jwt[0].issuer.url: Required value', output(jwt=[{}]))
        issuer = {'url': 'https://a.example', 'audiences': ['app'], 'egressSelectorType': 'cluster'}
        mappings = {'username': {'claim': 'sub', 'prefix': ''}}
        self.assertIn('oidc: egress lookup required with egress selector type "cluster"', output(jwt=[{'issuer': issuer, 'claimMappings': mappings}]))
        self.assertIn('authentication-config file and oidc-* flags are mutually exclusive',
                      output(jwt=[], flags=('--oidc-issuer-url=https://a.example', '--oidc-client-id=a')))
        self.assertIn('--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
                      output(anonymous={'enabled': True}, flags=('--anonymous-auth=true',)))


class Anonymous(unittest.TestCase):
    def test_only_the_listed_paths_need_no_credentials(self):
        file = File(anonymous={'enabled': True, 'conditions': [{'path': '/livez'}, {'path': '/healthz'}]})
        server = Server('--authentication-config=' + file.path)
        try:
            def code(path, **headers):
                return server.request('GET', path, headers=headers, client_certificate=False)[0]
            self.assertEqual([code(path) for path in ('/livez', '/healthz', '/livez?verbose')], [200] * 3)
            self.assertEqual([code(path) for path in ('/readyz', '/version', '/api', '/livez/ping', '/')], [401] * 5)
            self.assertEqual(code('/livez', Authorization='Bearer x'), 401)
            self.assertEqual(server.request('GET', '/readyz')[0], 200)
        finally:
            server.stop()

    def test_it_may_be_off(self):
        file = File(anonymous={'enabled': False})
        server = Server('--authentication-config=' + file.path)
        try:
            self.assertEqual(server.request('GET', '/livez', client_certificate=False)[0], 401)
        finally:
            server.stop()


class Reload(unittest.TestCase):
    RELOADS = 'apiserver_authentication_config_controller_automatic_reloads_total'

    def reloads(self, server, status):
        return sum(float(line.split()[-1]) for line in metric(server, self.RELOADS) if 'status="%s"' % status in line)

    def test_a_changed_file_takes_effect_and_an_invalid_one_does_not(self):
        one, two = Provider(), Provider()
        file = File(jwt=[entry(one)], anonymous={'enabled': True})
        server = Server('--authentication-config=' + file.path)
        try:
            until(lambda: review(server, one.token()).get('authenticated'))
            first = metric(server, 'apiserver_authentication_config_controller_last_config_info')
            self.assertEqual(len(first), 1)
            self.assertRegex(first[0], r'apiserver_id_hash="sha256:[0-9a-f]{64}",hash="sha256:[0-9a-f]{64}"')
            # Invalid syntax, invalid content, a change of an immutable member.
            file.write('apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\ncolor: red\n')
            until(lambda: self.reloads(server, 'failure') == 1)
            self.assertIn('unknown field', server.text())
            self.assertIn(file.path, server.text())
            file.write(jwt=[entry(one, claimMappings={})], anonymous={'enabled': True})
            until(lambda: self.reloads(server, 'failure') == 2)
            self.assertIn('jwt[0].claimMappings.username', server.text())
            file.write(jwt=[entry(one)])
            until(lambda: self.reloads(server, 'failure') == 3)
            self.assertIn('changed from initial configuration file', server.text())
            os.rename(file.path, file.path + '.away')
            until(lambda: self.reloads(server, 'failure') == 4)
            self.assertTrue(review(server, one.token(n=1))['authenticated'])
            self.assertEqual(metric(server, 'apiserver_authentication_config_controller_last_config_info'), first)
            # Valid: another issuer.
            file.write(jwt=[entry(two)], anonymous={'enabled': True})
            until(lambda: self.reloads(server, 'success') == 1)
            self.assertTrue(review(server, two.token())['authenticated'])
            self.assertEqual(review(server, one.token(n=2))['error'], 'invalid bearer token')
            second = metric(server, 'apiserver_authentication_config_controller_last_config_info')
            self.assertEqual(len(second), 1)
            self.assertNotEqual(first, second)
            self.assertEqual(len(metric(server, 'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds')), 2)
            # No issuer is valid, too.
            file.write(jwt=[], anonymous={'enabled': True})
            until(lambda: self.reloads(server, 'success') == 2)
            self.assertEqual(review(server, two.token(n=3))['error'], 'invalid bearer token')
        finally:
            server.stop()
            one.stop()
            two.stop()

    def reload_plugin(self, server):
        connection = server.connect(timeout=120)
        try:
            return server.request('POST', '/plugins/reload', {'name': 'authentication'}, connection=connection)
        finally:
            connection.close()

    def test_a_reload_of_the_plugin_accepts_tokens_throughout(self):
        provider = Provider()
        provider.delay = 0.3
        server = Server('--authentication-config=' + File(jwt=[entry(provider)]).path)
        done, codes = threading.Event(), collections.Counter()

        def ask(thread):
            while not done.is_set():
                codes[with_token(server, provider.token(thread=thread, n=time.time()), '/api')] += 1
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(3)]
        try:
            until(lambda: review(server, provider.token()).get('authenticated'))
            for thread in threads:
                thread.start()
            for count in range(2, 6):
                code, _, answer = self.reload_plugin(server)
                self.assertEqual(code, 200, answer)
                self.assertEqual(provider.count('/.well-known/openid-configuration'), count)
            time.sleep(1)
        finally:
            done.set()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            server.stop()
            provider.stop()
        self.assertEqual(set(codes), {200}, codes)
        self.assertGreater(codes[200], 20)

    def test_a_reload_of_the_plugin_fails_if_an_issuer_is_not_ready(self):
        provider = Provider()
        server = Server('--authentication-config=' + File(jwt=[entry(provider)]).path)
        try:
            until(lambda: review(server, provider.token()).get('authenticated'))
            provider.up = False
            code, _, answer = self.reload_plugin(server)
            self.assertGreaterEqual(code, 400)
            self.assertIn('oidc: authenticator for issuer "%s" is not healthy' % provider.issuer, answer['message'])
            self.assertTrue(review(server, provider.token(n=1))['authenticated'])
        finally:
            server.stop()
            provider.stop()


if __name__ == '__main__':
    main()
