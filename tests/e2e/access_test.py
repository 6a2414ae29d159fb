"""Authentication, authorization and certificates: reviews through the whole chain, approved requests, and the configuration for extension servers."""
import base64
import re
import subprocess
import unittest

from harness import Server, main, wait_for

AUTHENTICATION = '/apis/authentication.k8s.io/v1'
AUTHORIZATION = '/apis/authorization.k8s.io/v1'
REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
TRUST = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
TRACKING = '/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking'


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server('--runtime-config=api/all=true', '--feature-gates=PodCertificateRequest=true')

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def review(self, group, resource, kind, spec):
        code, _, answer = self.server.request('POST', group + '/' + resource,
                                              {'apiVersion': group[len('/apis/'):], 'kind': kind, 'spec': spec})
        self.assertEqual(code, 201, answer)
        return answer['status']

    def test_reviews_name_the_user_of_the_request_and_of_a_token(self):
        user = self.review(AUTHENTICATION, 'selfsubjectreviews', 'SelfSubjectReview', {})['userInfo']
        self.assertIn('system:masters', user['groups'])
        self.assertTrue(user['extra']['authentication.kubernetes.io/credential-id'][0].startswith('X509SHA256='))
        self.assertEqual(self.review(AUTHENTICATION, 'tokenreviews', 'TokenReview', {'token': 'x'}),
                         {'user': {}, 'error': 'invalid bearer token'})

    def test_a_review_has_no_table(self):
        body = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SelfSubjectAccessReview',
                'spec': {'nonResourceAttributes': {'path': '/', 'verb': 'get'}}}
        table = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}
        code, _, answer = self.server.request('POST', AUTHORIZATION + '/selfsubjectaccessreviews', body, table)
        self.assertEqual((code, answer['reason']), (406, 'NotAcceptable'), answer)

    def test_access_reviews(self):
        health = {'nonResourceAttributes': {'path': '/healthz', 'verb': 'get'}}
        pods = {'resourceAttributes': {'verb': 'list', 'resource': 'pods'}}
        self.assertEqual(self.review(AUTHORIZATION, 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', pods), {'allowed': True})
        self.assertEqual(self.review(AUTHORIZATION, 'subjectaccessreviews', 'SubjectAccessReview', dict(pods, user='jane')),
                         {'allowed': False})
        self.assertEqual(self.review(AUTHORIZATION, 'subjectaccessreviews', 'SubjectAccessReview', dict(health, user='jane')),
                         {'allowed': False})
        known = dict(health, user='jane', groups=['system:authenticated'])
        self.assertEqual(self.review(AUTHORIZATION, 'subjectaccessreviews', 'SubjectAccessReview', known),
                         {'allowed': True, 'reason': 'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole '
                                                     '"system:discovery" to Group "system:authenticated"'})
        rules = self.review(AUTHORIZATION, 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', {'namespace': 'default'})
        self.assertEqual(rules['resourceRules'][0], {'verbs': ['*'], 'apiGroups': ['*'], 'resources': ['*']})
        self.assertFalse(rules['incomplete'])

    def test_a_certificate_request_records_its_user_and_is_approved_once(self):
        made = subprocess.run(['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout',
                               '/dev/null', '-subj', '/CN=joe'], capture_output=True, check=True).stdout
        request = {'apiVersion': 'certificates.k8s.io/v1', 'kind': 'CertificateSigningRequest', 'metadata': {'name': 'joe'},
                   'spec': {'request': base64.b64encode(made).decode(), 'signerName': 'example.com/s', 'usages': ['client auth'],
                            'username': 'root'}}
        code, _, created = self.server.request('POST', REQUESTS, request)
        self.assertEqual(code, 201, created)
        self.assertIn('system:masters', created['spec']['groups'])
        self.assertNotEqual(created['spec']['username'], 'root')
        created['status'] = {'conditions': [{'type': 'Approved', 'status': 'True'}]}
        self.assertEqual(self.server.request('PUT', REQUESTS + '/joe/status', created)[0], 422)
        code, _, approved = self.server.request('PUT', REQUESTS + '/joe/approval', created)
        self.assertEqual(code, 200, approved)
        self.assertTrue(approved['status']['conditions'][0]['lastTransitionTime'])
        approved['status']['conditions'].append({'type': 'Denied', 'status': 'True'})
        code, _, refused = self.server.request('PUT', REQUESTS + '/joe/approval', approved)
        self.assertEqual((code, refused['details']['causes'][0]['message']),
                         (422, 'Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'))
        listed = self.server.request('GET', REQUESTS + '?fieldSelector=spec.signerName%3Dexample.com/s')[2]
        self.assertEqual([item['metadata']['name'] for item in listed['items']], ['joe'])

    def test_certificates_with_the_requested_duration_are_counted(self):
        made = subprocess.run(['openssl', 'req', '-new', '-newkey', 'ed25519', '-nodes', '-keyout', '/dev/null', '-subj', '/CN=jim'],
                              capture_output=True, check=True).stdout
        issued = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', '/dev/null', '-subj', '/CN=jim',
                                 '-days', '1'], capture_output=True, check=True).stdout

        def counted():
            text = self.server.request('GET', '/metrics')[2]
            return [re.findall(r'^apiserver_certificates_registry_csr_%s_duration_total\{signerName="other"\} (\d+)$' % name, text, re.M)
                    for name in ('requested', 'honored')]
        self.assertEqual(counted(), [[], []])
        for name, seconds, want in (('day', 86400, [['1'], ['1']]), ('year', 31536000, [['2'], ['1']])):
            request = {'apiVersion': 'certificates.k8s.io/v1', 'kind': 'CertificateSigningRequest', 'metadata': {'name': name},
                       'spec': {'request': base64.b64encode(made).decode(), 'signerName': 'example.com/durations', 'usages': ['client auth'],
                                'expirationSeconds': seconds}}
            code, _, created = self.server.request('POST', REQUESTS, request)
            self.assertEqual(code, 201, created)
            created['status'] = {'certificate': base64.b64encode(issued).decode()}
            path = '%s/%s/status' % (REQUESTS, name)
            self.assertEqual(self.server.request('PUT', path + '?dryRun=All', created)[0], 200)
            code, _, updated = self.server.request('PUT', path, created)
            self.assertEqual(code, 200, updated)
            self.assertEqual(counted(), want)
            self.assertEqual(self.server.request('PUT', path, updated)[0], 200)
            self.assertEqual(counted(), want)

    def test_pod_certificate_requests_are_answered_only_by_users_who_may_sign(self):
        path = '/apis/certificates.k8s.io/v1beta1/namespaces/default/podcertificaterequests'
        stub = subprocess.run(['openssl', 'req', '-new', '-newkey', 'ed25519', '-nodes', '-keyout', '/dev/null', '-subj', '/', '-outform',
                               'DER'], capture_output=True, check=True).stdout
        spec = {'signerName': 'example.com/s', 'podName': 'p', 'podUID': 'a', 'serviceAccountName': 's', 'serviceAccountUID': 'b',
                'nodeName': 'n', 'nodeUID': 'c', 'stubPKCS10Request': base64.b64encode(stub).decode()}
        code, _, made = self.server.request('POST', path, {'apiVersion': 'certificates.k8s.io/v1beta1', 'kind': 'PodCertificateRequest',
                                                           'metadata': {'name': 'p'}, 'spec': spec})
        self.assertEqual(code, 201, made)
        self.assertEqual(made['spec']['maxExpirationSeconds'], 86400)
        made['spec']['podName'] = 'q'
        code, _, refused = self.server.request('PUT', path + '/p', made)
        self.assertEqual(code, 422)
        self.assertIn('spec: Invalid value: {"SignerName":"example.com/s","PodName":"q",', refused['message'])
        made['status'] = {'conditions': [{'type': 'Denied', 'status': 'True', 'reason': 'No', 'message': '',
                                          'lastTransitionTime': '2024-01-01T00:00:00Z'}]}
        code, _, denied = self.server.request('PUT', path + '/p/status', made)
        self.assertEqual(code, 200, denied)
        self.assertEqual(denied['spec']['podName'], 'p')

    def test_the_trust_configuration_of_extension_servers_is_restored(self):
        data = wait_for(lambda: self.server.request('GET', TRUST)[2].get('data'))
        self.assertIn('BEGIN CERTIFICATE', data['client-ca-file'])
        self.assertEqual(self.server.request('DELETE', TRUST)[0], 200)
        self.assertEqual(wait_for(lambda: self.server.request('GET', TRUST)[2].get('data')), data)
        changed = {'data': {'client-ca-file': None, 'mine': 'x'}}
        headers = {'Content-Type': 'application/merge-patch+json'}
        self.assertEqual(self.server.request('PATCH', TRUST, changed, headers=headers)[0], 200)
        self.assertTrue(wait_for(lambda: self.server.request('GET', TRUST)[2]['data'] == data), 'the change is not reverted')
        since = wait_for(lambda: self.server.request('GET', TRACKING)[2].get('data'))['since']
        self.assertRegex(since, r'^\d{4}-\d\d-\d\d$')


if __name__ == '__main__':
    main()
