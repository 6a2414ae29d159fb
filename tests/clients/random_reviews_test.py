"""A real kube-apiserver and the built server get the same random requests: token requests, token reviews, certificate requests and their
conditions, access reviews, impersonation. Most requests are invalid: the responses are equal, including their texts. SEED selects another run."""
import base64
import json
import os
import random
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rights_tables as tables  # noqa: E402
import rights_users as users  # noqa: E402
from rights_nodes import named  # noqa: E402
from rights_servers import RightsSideBySide, differences  # noqa: E402
from recordings_test import scrub  # noqa: E402

ROWS = 150
ADMIN = 'kubernetes-admin'
AUTHENTICATION = 'authentication.k8s.io/v1'
CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
OWN = 'https://kubernetes.default.svc.cluster.local'
TOKENS = [users.token('nobody'), users.token(ADMIN), 'x', '', 'a.b', 'a.b.c', 'eyJhbGciOiJub25lIn0.e30.', 'eyJhbGciOiJSUzI1NiJ9.e30.AAAA',
    'x' * 5000,
          users.token('nobody') + ' x', users.token('nobody') + '\n', '\t' + users.token('nobody') + 'x', 'abcdef.0123456789abcdef', '..',
          'Bearer x', None, 5]
IMPERSONATED = ('alice', 'bob', '', 'system:node:n1', 'system:node:', 'system:serviceaccount:work:default', 'system:serviceaccount:work:',
                'system:serviceaccount::x', 'system:serviceaccount:work:Bad_Name', 'system:anonymous', ADMIN, 'system:node:n1:x', 'a b', '%41',
                ' alice ')
GROUPS = ('dev', 'ops', 'system:masters', 'system:authenticated', 'system:unauthenticated', '', 'system:nodes', 'a,b', 'dev ')


def request_pem(subject, *more):
    return subprocess.run(['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null',
        '-subj',
                           subject, *more], capture_output=True, check=True).stdout


def without_none(members):
    return {key: value for key, value in members.items() if value is not None}


class Rows:
    """Requests by kind, from one seed."""

    def __init__(self, seed, certificate):
        self.random, self.certificate, self.number = random.Random(seed), certificate, 0
        self.requests = [request_pem('/CN=joe'), request_pem('/O=system:nodes/CN=system:node:n1'),
            request_pem('/CN=joe', '-addext', 'subjectAltName=DNS:a.b'),
                         b'', b'nope', self.pem('CERTIFICATE REQUEST', b'123'), self.pem('CERTIFICATE', b'123')]

    def pick(self, *values):
        return self.random.choice(values)

    def some(self, make, most):
        return [make() for _ in range(self.random.randint(0, most))]

    @staticmethod
    def pem(kind, der):
        return b'-----BEGIN %s-----\n%s\n-----END %s-----\n' % (kind.encode(), base64.b64encode(der), kind.encode())

    def token_request(self):
        reference = without_none({'kind': self.pick('Pod', 'Secret', 'Node', 'ConfigMap', '', 'pod', None), 'uid': self.pick(None, None, '', 'x'),
                                  'apiVersion': self.pick('v1', 'v1', '', 'v2', 'apps/v1', None),
                                  'name': self.pick('one', 'two', 'used', 'n1', 'missing', '')})
        spec = {'audiences': self.pick(None, ['a'], ['a', 'b'], [], [''], ['a', 'a'], 'x'), 'boundObjectRef': self.pick(None, reference),
                'expirationSeconds': self.pick(None, 600, 599, 0, -1, 3600, 4294967296, 4294967297, '600', 2**40)}
        body = {'apiVersion': self.pick(*[AUTHENTICATION] * 5, 'v1', 'authentication.k8s.io/v1beta1'), 'spec': without_none(spec),
                'kind': self.pick(*['TokenRequest'] * 6, 'TokenReview', 'ServiceAccount')}
        if self.pick(True, False, False):
            body['metadata'] = without_none({'name': self.pick(None, 'runner', 'x'), 'namespace': self.pick(None, 'work', 'other'),
                'uid': self.pick(None, 'x')})
        account = self.pick('runner', 'runner', 'default', 'missing', 'Bad')
        return ADMIN, ('POST', tables.WORK + 'serviceaccounts/%s/token' % account + self.pick('', '', '?dryRun=All', '?fieldValidation=Strict'),
            body), ()

    def token_review(self):
        spec = {'token': self.pick(*TOKENS), 'audiences': self.pick(None, None, [], ['a'], [OWN], ['a', OWN], [''])}
        body = named(self.pick(*[AUTHENTICATION] * 4, 'authentication.k8s.io/v1beta1'), 'TokenReview', self.pick('', 'x'), spec=without_none(spec))
        if spec['token'] == 5:  # the types of versions that are not served are skipped
            body['apiVersion'] = AUTHENTICATION
        if self.pick(True, False, False):
            body['status'] = {'authenticated': True, 'user': {'username': 'evil'}, 'audiences': ['evil']}
        return ADMIN, ('POST', '/apis/authentication.k8s.io/v1/tokenreviews' + self.pick('', '?dryRun=All'), body), ()

    def condition(self):
        return without_none({'type': self.pick('Approved', 'Denied', 'Failed', 'Other', '', None), 'reason': self.pick('r', None),
                             'status': self.pick('True', 'True', 'False', 'Unknown', 'x', '', None),
                             'lastUpdateTime': self.pick(None, '2020-01-01T00:00:00Z')})

    def certificate_request(self):
        self.number += 1
        spec = {'request': base64.b64encode(self.pick(*self.requests)).decode(), 'usages': self.pick(['client auth'], [], None, ['x'],
            ['any', 'any']),
                'signerName': self.pick('example.com/s', 'kubernetes.io/kube-apiserver-client', 'kubernetes.io/legacy-unknown', '', 'a', 'a/b/c',
                'example.com/',
                                        'Example.com/s', 'x.com/' + 'a' * 600, None, 'example.com/a_b', 'example.com/a..b', 'example/s'),
                'expirationSeconds': self.pick(None, None, 600, 599, 0, -1, 3600), 'username': self.pick(None, 'evil'),
                'groups': self.pick(None, ['a'])}
        body = named('certificates.k8s.io/v1', 'CertificateSigningRequest', self.pick(*['r%d' % self.number] * 4, 'Bad Name', ''),
            spec=without_none(spec))
        return self.pick(ADMIN, ADMIN, 'nobody'), ('POST', CSRS + self.pick('', '?dryRun=All'), body), ()

    def verdict(self):
        status = {'conditions': self.some(self.condition, 3)}
        if self.pick(True, False):
            status['certificate'] = base64.b64encode(self.pick(self.certificate, b'x', b'', self.certificate * 2, b'junk\n' + self.certificate,
                                                               self.requests[0], self.pem('CERTIFICATE', b'123'))).decode()
        name = self.pick('open', 'approved', 'missing')
        body = named('certificates.k8s.io/v1', 'CertificateSigningRequest', name, status=status, spec={
            'request': base64.b64encode(self.requests[0]).decode(), 'signerName': 'example.com/s', 'usages': ['client auth']})
        return self.pick(ADMIN, ADMIN, 'approver'), ('PUT', '%s/%s%s?dryRun=All' % (CSRS, name, self.pick('/approval', '/status', '')), body), ()

    def selector(self):
        requirement = {'key': self.pick('a', '', 'spec.nodeName', 'A B'), 'operator': self.pick('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', ''),
                       'values': self.pick(None, [], ['n1'], ['a', 'b'], ['%%'])}
        return without_none({'rawSelector': self.pick(None, 'a=b', 'a', 'a in (b', '!a', 'spec.nodeName=n1', ''),
                             'requirements': self.pick(None, [], [without_none(requirement)])})

    def access_review(self):
        kind = self.pick('SubjectAccessReview', 'SelfSubjectAccessReview', 'LocalSubjectAccessReview')
        attributes = {'namespace': self.pick(None, 'work', ''), 'verb': self.pick('get', 'list', '*', '', None),
            'group': self.pick(None, '', 'apps', '*'),
                      'resource': self.pick('pods', 'nodes', '*', '', 'secrets'), 'subresource': self.pick(None, 'log', '*'),
                      'name': self.pick(None, 'one'),
                      'fieldSelector': self.pick(None, self.selector()), 'labelSelector': self.pick(None, None, self.selector())}
        spec = {'resourceAttributes': self.pick(None, *[without_none(attributes)] * 4),
                'nonResourceAttributes': self.pick(None, None, None, without_none({'path': self.pick('/x', '', '*', None),
                'verb': self.pick('get', '', None)}))}
        if kind != 'SelfSubjectAccessReview':
            spec.update(user=self.pick('nobody', 'system:node:n1', 'view-everywhere', '', None), uid=self.pick(None, 'u'),
                        groups=self.pick(None, ['system:nodes'], ['system:masters'], [''], []),
                        extra=self.pick(None, {'a': ['b']}, {'': ['x']}, {'A': None}))
        path = tables.REVIEWS + ('namespaces/%s/' % self.pick('work', 'other') if kind[0] == 'L' else '') + kind.lower() + 's'
        body = {'apiVersion': self.pick(*['authorization.k8s.io/v1'] * 9, 'authorization.k8s.io/v1beta1'), 'kind': kind, 'spec': without_none(spec),
                'metadata': self.pick({}, {}, {'namespace': 'work'}, {'name': 'x'})}
        return self.pick(ADMIN, 'nobody'), ('POST', path + self.pick('', '?dryRun=All'), body), ()

    def impersonation(self):
        headers = [('Impersonate-User', self.pick('alice', 'bob', *IMPERSONATED))] if self.pick(True, True, True, False) else []
        headers += self.some(lambda: ('Impersonate-Group', self.pick(*GROUPS)), 3) + self.pick([], [],
            [('Impersonate-Uid', self.pick('u1', '', 'x y'))])
        extras = ('Scopes', 'example.com%2fScopes', 'A%2', '', 'a%20b', 'authentication.kubernetes.io%2fnode-name', 'x_y')
        # One error only, because several are checked in random order.
        headers += self.pick([], [('Impersonate-Extra-' + self.pick(*extras), self.pick('view', 'edit', '', 'n1'))])
        self.random.shuffle(headers)
        rows = [*tables.IMPERSONATED, ('POST', tables.WORK + 'pods?dryRun=All', {}), ('GET', '/api/v1/nodes/n1', None),
            ('DELETE', tables.WORK + 'pods/none', None)]
        return self.pick(*tables.IMPERSONATORS), self.pick(*rows), headers


class RandomReviews(RightsSideBySide):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(cls.pki.client, 'rb') as file:
            cls.rows = Rows(os.environ.get('SEED', '1'), file.read())
        _, (_, _, body), _ = cls.rows.verdict()
        for server in cls.servers:
            for name in ('open', 'approved'):
                code, _, made = server.request('POST', CSRS, dict(body, metadata={'name': name}, status={}))
                assert code == 201, made
            made['status'] = {'conditions': [{'type': 'Approved', 'status': 'True', 'reason': 'r', 'message': 'm'}]}
            assert server.request('PUT', CSRS + '/approved/approval', made)[0] == 200

    @staticmethod
    def compared(answer):
        """All of a refusal and of a review; of a token its status, of several bindings that allow a request none."""
        body = scrub(answer.body)
        if answer.status < 300 and isinstance(body, dict):
            if 'Review' not in body.get('kind', ''):
                body = {'kind': body.get('kind')}
            elif body.get('status', {}).get('reason', '').startswith('RBAC: allowed by'):
                body['status']['reason'] = 'RBAC: allowed by'
        return {'status': answer.status, 'body': body if answer.status >= 300 or isinstance(body, dict) else None}

    def test_token_requests(self):
        self.compare([self.rows.token_request() for _ in range(ROWS)])

    def test_token_reviews(self):
        self.compare([self.rows.token_review() for _ in range(ROWS)])

    def test_certificate_requests(self):
        self.compare([self.rows.certificate_request() for _ in range(ROWS)])

    def test_verdicts(self):
        self.compare([self.rows.verdict() for _ in range(ROWS)])

    def test_access_reviews(self):
        self.compare([self.rows.access_review() for _ in range(ROWS)])

    def test_impersonation(self):
        self.compare([self.rows.impersonation() for _ in range(ROWS)])


if __name__ == '__main__':
    unittest.main(verbosity=2)
