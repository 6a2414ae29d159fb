"""Users of a real OpenID provider (github.com/oauth2-proxy/mockoidc): ID tokens from its token endpoint, by --oidc-* flags and by
--authentication-config; tokens that have expired, for another client, of a key that is no longer published, of an access and a refresh token."""
import json
import os
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

for folder in ('..', '../../e2e'):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))
import clients  # noqa: E402
import harness  # noqa: E402
import identities  # noqa: E402
import openid_provider  # noqa: E402

WHOAMI = ('/apis/authentication.k8s.io/v1/selfsubjectreviews', {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'SelfSubjectReview'})
REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews'
RBAC = '/apis/rbac.authorization.k8s.io/v1/'
JANE = {'Subject': 'jane', 'Email': 'jane@example.com', 'EmailVerified': True, 'PreferredUsername': 'j.doe', 'Groups': ['dev', 'ops']}
SECONDS = 120


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class MockOidc:
    """The provider's process, and the authorization code flow of an application."""

    def __init__(self, program):
        self.dir = tempfile.mkdtemp(prefix='backplane-oidc-')
        self.ca, certificate, key = openid_provider.certificate(self.dir)
        self.process = subprocess.Popen([program, certificate, key], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        config = json.loads(self.process.stdout.readline())
        self.issuer, self.client, self.secret = config['Issuer'], config['ClientID'], config['ClientSecret']
        tls = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=self.ca))
        self.opener = urllib.request.build_opener(tls, NoRedirect)

    def send(self, command):
        self.process.stdin.write(command + '\n')
        self.process.stdin.flush()
        assert self.process.stdout.readline() == 'ok\n', command

    def tokens(self, user=None, client=None):
        """The response of the token endpoint after the user has signed in."""
        client = client or self.client
        self.send('client ' + client)
        self.send('user ' + json.dumps(user or JANE))
        query = urllib.parse.urlencode({'client_id': client, 'scope': 'openid email profile groups', 'response_type': 'code',
                                        'redirect_uri': 'http://127.0.0.1/callback', 'state': 's', 'nonce': 'n'})
        try:
            self.opener.open(self.issuer + '/authorize?' + query, timeout=60)
        except urllib.error.HTTPError as redirect:
            assert redirect.code == 302, redirect.read()
            code = urllib.parse.parse_qs(urllib.parse.urlparse(redirect.headers['Location']).query)['code'][0]
        form = urllib.parse.urlencode({'client_id': client, 'client_secret': self.secret, 'grant_type': 'authorization_code', 'code': code})
        with self.opener.open(self.issuer + '/token', form.encode(), timeout=60) as answer:
            return json.load(answer)

    def id_token(self, **more):
        return self.tokens(**more)['id_token']

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        clients.end(self.process, 20)


class Oidc:
    """Test cases of one server; flags(provider): its flags for the provider."""
    prefix = None

    @classmethod
    def setUpClass(cls):
        try:
            program = clients.build_oidc()
        except clients.Missing as why:
            raise unittest.SkipTest('mockoidc cannot be built: %s' % why)
        cls.provider = MockOidc(program)
        cls.addClassCleanup(cls.provider.stop)
        cls.server = harness.Server('--authorization-mode=RBAC', *cls.flags(cls.provider))
        cls.addClassCleanup(cls.server.stop)
        token = cls.provider.id_token()
        assert harness.wait_for(lambda: cls.whoami(token)[0] == 201, SECONDS), cls.server.text()[-3000:]

    @classmethod
    def whoami(cls, token):
        code, _, answer = identities.Caller(cls.server, token=token).request('POST', *WHOAMI)
        return code, answer['status']['userInfo'] if code == 201 else answer

    def review(self, token):
        code, _, answer = self.server.request('POST', REVIEWS, {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenReview',
            'spec': {'token': token}})
        self.assertEqual(code, 201, answer)
        return answer['status']

    def refused(self, token, why):
        code, answer = self.whoami(token)
        self.assertEqual((code, answer.get('reason')), (401, 'Unauthorized'), answer)
        status = self.review(token)
        self.assertNotIn('authenticated', status)
        self.assertIn(why, status['error'])

    def test_a_user_and_the_groups_of_a_signed_in_user(self):
        token = self.provider.id_token()
        code, user = self.whoami(token)
        self.assertEqual(code, 201, user)
        self.assertEqual(user['username'], self.prefix + 'jane@example.com')
        self.assertEqual(user['groups'], ['oidc:dev', 'oidc:ops', 'system:authenticated'])
        self.assertEqual(list(user['extra']), ['authentication.kubernetes.io/credential-id'])
        self.assertTrue(self.review(token)['authenticated'])

    def test_roles_are_bound_to_groups_of_the_provider(self):
        name = 'ops-' + type(self).__name__.lower()
        self.assertEqual(self.server.request('POST', RBAC + 'clusterrolebindings', {
            'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRoleBinding', 'metadata': {'name': name},
            'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': 'system:aggregate-to-view'},
            'subjects': [{'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'Group', 'name': 'oidc:ops'}]})[0], 201)
        jane = identities.Caller(self.server, token=self.provider.id_token())
        joe = identities.Caller(self.server, token=self.provider.id_token(user=dict(JANE, Subject='joe', Email='joe@example.com', Groups=['dev'])))
        self.assertTrue(harness.wait_for(lambda: jane.request('GET', '/api/v1/pods')[0] == 200))
        code, _, answer = joe.request('GET', '/api/v1/pods')
        self.assertEqual((code, answer['message']), (403, 'pods is forbidden: User "%sjoe@example.com" cannot list resource "pods" in API group "" '
                                                          'at the cluster scope' % self.prefix))
        self.assertEqual(jane.request('GET', '/api/v1/namespaces/default/secrets')[0], 403)

    def test_kubectl_with_a_token(self):
        for binary in harness.kubectls():
            text = self.server.kubectl(binary, '--kubeconfig', identities.kubeconfig(self.server, 'jane', token=self.provider.id_token()),
                                       'auth', 'can-i', 'create', 'selfsubjectreviews.authentication.k8s.io')
            self.assertEqual(text.strip().splitlines()[-1], 'yes')

    def test_a_token_for_another_client(self):
        self.refused(self.provider.id_token(client='other'),
            'oidc: verify token: oidc: expected audience "%s" got ["other"]' % self.provider.client)

    def test_access_and_refresh_tokens_are_no_id_tokens(self):
        tokens = self.provider.tokens()
        for kind in ('access_token', 'refresh_token'):
            self.refused(tokens[kind], self.no_email)

    def test_a_changed_token(self):
        head, body, signature = self.provider.id_token().split('.')
        other = self.provider.id_token(user=dict(JANE, Email='admin@example.com')).split('.')
        self.refused('.'.join((head, other[1], signature)), 'failed to verify signature: failed to verify id token signature')

    def test_times(self):
        self.provider.send('forward -11m')
        try:
            old = self.provider.id_token()
        finally:
            self.provider.send('forward 11m')
        self.refused(old, 'oidc: verify token: oidc: token is expired (Token Expiry: ')
        self.provider.send('forward 10m')
        try:
            early = self.provider.id_token()
        finally:
            self.provider.send('forward -10m')
        self.refused(early, 'before the nbf (not before) time')

    def test_z_a_new_key(self):
        """Runs last, by its name, because it invalidates tokens of the former key."""
        former = self.provider.id_token()
        self.provider.send('rotate')
        # The published keys are read again when a token names a key that is unknown.
        self.assertTrue(harness.wait_for(lambda: self.whoami(self.provider.id_token())[0] == 201, SECONDS))
        self.assertEqual(self.whoami(self.provider.id_token(user=dict(JANE, Email='new@example.com')))[1]['username'],
            self.prefix + 'new@example.com')
        self.assertIn('failed to verify id token signature', self.review(former + '')['error'])


class Flags(Oidc, unittest.TestCase):
    prefix = 'oidc:'
    no_email = 'oidc: parse username claims "email": claim not present'

    @staticmethod
    def flags(provider):
        return ('--oidc-issuer-url=' + provider.issuer, '--oidc-client-id=' + provider.client, '--oidc-ca-file=' + provider.ca,
            '--oidc-username-claim=email',
                '--oidc-username-prefix=oidc:', '--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:')


class Configuration(Oidc, unittest.TestCase):
    prefix = 'config:'
    no_email = 'oidc: error evaluating'

    def test_an_email_that_is_not_verified(self):
        self.refused(self.provider.id_token(user=dict(JANE, EmailVerified=False)), 'failed: the email must be verified')

    @staticmethod
    def flags(provider):
        path = os.path.join(provider.dir, 'authentication.json')
        with open(provider.ca, encoding='utf-8') as ca, open(path, 'w', encoding='utf-8') as out:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AuthenticationConfiguration', 'jwt': [{
                'issuer': {'url': provider.issuer, 'certificateAuthority': ca.read(), 'audiences': [provider.client]},
                'claimValidationRules': [{'expression': 'claims.?email_verified.orValue(false) == true', 'message': 'the email must be verified'}],
                'claimMappings': {'username': {'expression': '"config:" + claims.email'}, 'groups': {'claim': 'groups', 'prefix': 'oidc:'}},
                'userValidationRules': [{'expression': '!user.username.startsWith("system:")', 'message': 'no system users'}]}]}, out)
        return ('--authentication-config=' + path,)


if __name__ == '__main__':
    unittest.main(verbosity=2)
