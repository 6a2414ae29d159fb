"""A node joins like with kubeadm: a bootstrap token, the signed cluster-info, a certificate request that kube-controller-manager approves and
signs, and the node's own certificate.  kube-controller-manager also fills aggregated roles, whose rules take effect at once, and removes
expired tokens.  It runs under its own certificate, each of its controllers under its service account."""
import base64
import datetime
import hashlib
import hmac
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../e2e'))
import harness  # noqa: E402
import identities  # noqa: E402
import clients  # noqa: E402

SECONDS = 180
RBAC = 'rbac.authorization.k8s.io'
RBAC_PATH = '/apis/%s/v1/' % RBAC
CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
SECRETS = '/api/v1/namespaces/kube-system/secrets'
CLUSTER_INFO = '/api/v1/namespaces/kube-public/configmaps/cluster-info'
GROUP = 'system:bootstrappers:kubeadm:default-node-token'
TOKEN = 'abcdef.0123456789abcdef'


def binding(name, to, *groups, namespace=None, kind='ClusterRole', user=None):
    subjects = [{'apiGroup': RBAC, 'kind': 'Group', 'name': group} for group in groups] + ([{'apiGroup': RBAC, 'kind': 'User', 'name': user}]
        if user else [])
    return ('namespaces/%s/rolebindings' % namespace if namespace else 'clusterrolebindings', {
        'apiVersion': RBAC + '/v1', 'kind': 'RoleBinding' if namespace else 'ClusterRoleBinding', 'metadata': {'name': name},
        'roleRef': {'apiGroup': RBAC, 'kind': kind, 'name': to}, 'subjects': subjects})


# What kubeadm init creates.
KUBEADM = [
    binding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', GROUP),
    binding('kubeadm:node-autoapprove-bootstrap', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient', GROUP),
    binding('kubeadm:node-autoapprove-certificate-rotation', 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    'system:nodes'),
    ('namespaces/kube-public/roles', {'apiVersion': RBAC + '/v1', 'kind': 'Role', 'metadata': {'name': 'kubeadm:bootstrap-signer-clusterinfo'},
    'rules': [
        {'verbs': ['get'], 'apiGroups': [''], 'resources': ['configmaps'], 'resourceNames': ['cluster-info']}]}),
    binding('kubeadm:bootstrap-signer-clusterinfo', 'kubeadm:bootstrap-signer-clusterinfo', namespace='kube-public', kind='Role',
    user='system:anonymous')]


def token_secret(token, **data):
    identity, secret = token.split('.')
    values = {'token-id': identity, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', 'usage-bootstrap-signing': 'true',
              'auth-extra-groups': GROUP, **{key.replace('_', '-'): value for key, value in data.items()}}
    return {'apiVersion': 'v1', 'kind': 'Secret', 'type': 'bootstrap.kubernetes.io/token', 'metadata': {'name': 'bootstrap-token-' + identity},
            'stringData': values}


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip('=')


class Bootstrap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            program = clients.build(('kube-controller-manager',))['kube-controller-manager']
        except clients.Missing as why:
            raise unittest.SkipTest('kube-controller-manager cannot be built: %s' % why)
        cls.server = server = harness.Server('--authorization-mode=Node,RBAC', '--enable-bootstrap-token-auth')
        cls.addClassCleanup(server.stop)
        for path, item in KUBEADM:
            code, _, answer = server.request('POST', RBAC_PATH + path, item)
            assert code == 201, answer
        pki = os.path.join(server.dir, 'data', 'pki')
        config = identities.kubeconfig(server, 'kcm', identities.certificate(server, 'system:kube-controller-manager'))
        cls.manager = clients.Program(
            program, server, '--use-service-account-credentials', '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
            '--cluster-signing-cert-file=%s/ca.crt' % pki, '--cluster-signing-key-file=%s/ca.key' % pki, '--root-ca-file=%s/ca.crt' % pki,
            kubeconfig=config)
        cls.addClassCleanup(cls.manager.stop)

    def create(self, path, item, caller=None):
        code, _, answer = (caller or self.server).request('POST', path, item)
        self.assertEqual(code, 201, answer)
        return answer

    def wait(self, what, holds):
        found = harness.wait_for(holds, SECONDS)
        self.assertTrue(found, '%s\n%s' % (what, self.manager.text()[-4000:]))
        return found

    def caller(self, token):
        return identities.Caller(self.server, token=token)

    def test_1_cluster_info_is_signed_and_readable_by_anonymous(self):
        self.create(SECRETS, token_secret(TOKEN))
        with open(self.server.kubeconfig, encoding='utf-8') as f:
            authority = harness.re.search(r'certificate-authority-data: (\S+)', f.read())[1]
        config = json.dumps({'apiVersion': 'v1', 'kind': 'Config', 'clusters': [
            {'name': '', 'cluster': {'server': 'https://127.0.0.1:%d' % self.server.port, 'certificate-authority-data': authority}}]})
        self.create(CLUSTER_INFO.rsplit('/', 1)[0], {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'cluster-info'},
            'data': {'kubeconfig': config}})

        def anonymous():
            code, _, answer = self.server.request('GET', CLUSTER_INFO, client_certificate=False)
            return code == 200 and answer['data'].get('jws-kubeconfig-abcdef') and answer['data']
        data = self.wait('the signature of cluster-info', anonymous)
        head, body, signature = data['jws-kubeconfig-abcdef'].split('.')
        self.assertEqual(body, '')
        signed = '%s.%s' % (head, b64(data['kubeconfig'].encode()))
        self.assertEqual(signature, b64(hmac.new(TOKEN.split('.')[1].encode(), signed.encode(), hashlib.sha256).digest()))
        self.assertEqual(self.server.request('GET', CLUSTER_INFO.rsplit('/', 1)[0], client_certificate=False)[0], 403)

    def signing_request(self, name, common_name, groups=('system:nodes',)):
        path = os.path.join(self.server.dir, name)
        subprocess.run(['openssl', 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', path + '.key',
            '-out', path + '.csr',
                        '-subj', ''.join('/O=' + group for group in groups) + '/CN=' + common_name], check=True, capture_output=True)
        with open(path + '.csr', 'rb') as f:
            pem = base64.b64encode(f.read()).decode()
        return {'apiVersion': 'certificates.k8s.io/v1', 'kind': 'CertificateSigningRequest', 'metadata': {'name': name}, 'spec': {
            'request': pem, 'signerName': 'kubernetes.io/kube-apiserver-client-kubelet', 'usages': ['digital signature', 'client auth']}}

    def issued(self, name, caller):
        """The path of the certificate and key once the request has been signed."""
        def certificate():
            code, _, answer = caller.request('GET', CSRS + '/' + name)
            return code == 200 and answer.get('status', {}).get('certificate') and answer
        answer = self.wait('the certificate of ' + name, certificate)
        self.assertEqual([c['type'] for c in answer['status']['conditions']], ['Approved'])
        path = os.path.join(self.server.dir, name)
        with open(path + '.key', 'rb') as key, open(path + '.pem', 'wb') as out:
            out.write(base64.b64decode(answer['status']['certificate']) + key.read())
        return path + '.pem'

    def test_2_a_node_joins_and_renews_its_certificate(self):
        joining = self.caller(TOKEN)
        code, _, answer = joining.request('GET', '/api/v1/nodes')
        self.assertEqual((code, answer['message']),
            (403, 'nodes is forbidden: User "system:bootstrap:abcdef" cannot list resource "nodes" in API group "" at the cluster scope'))
        made = self.create(CSRS, self.signing_request('join', 'system:node:joined'), joining)
        self.assertEqual((made['spec']['username'], made['spec']['groups']), ('system:bootstrap:abcdef',
            ['system:bootstrappers', GROUP, 'system:authenticated']))
        node = identities.Caller(self.server, self.issued('join', joining))
        self.create('/api/v1/nodes', {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': 'joined'}}, node)
        self.create('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', {
            'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'metadata': {'name': 'joined'}, 'spec': {'holderIdentity': 'joined'}}, node)
        self.assertEqual(node.request('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Djoined')[0], 200)
        self.assertEqual(node.request('GET', '/api/v1/nodes/other')[0], 403)
        self.create(CSRS, self.signing_request('renew', 'system:node:joined'), node)
        renewed = identities.Caller(self.server, self.issued('renew', node))
        self.assertEqual(renewed.request('GET', '/api/v1/nodes/joined')[0], 200)

    def test_3_requests_for_nodes_that_the_user_may_not_make_are_not_approved(self):
        joining = self.caller(TOKEN)
        self.create(CSRS, self.signing_request('admin', 'joe', ('system:masters',)), joining)
        self.create(CSRS, self.signing_request('later', 'system:node:later'), joining)
        self.issued('later', joining)  # the controller has handled the former request by now
        status = joining.request('GET', CSRS + '/admin')[2]['status']
        self.assertEqual(status, {})

    def test_4_a_token_ends_with_its_time_and_its_secret(self):
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=20)
        self.create(SECRETS, token_secret('expire.0123456789abcdef', expiration=soon.strftime('%Y-%m-%dT%H:%M:%SZ')))
        self.create(SECRETS, token_secret('remove.0123456789abcdef'))
        version = lambda token: self.caller(token).request('GET', '/version')[0]
        for token in ('expire.0123456789abcdef', 'remove.0123456789abcdef'):
            self.assertEqual(version(token), 200)
        self.assertEqual(version('remove.0123456789abcdee'), 401)
        self.assertEqual(self.server.request('DELETE', SECRETS + '/bootstrap-token-remove')[0], 200)
        self.wait('the end of a removed token', lambda: version('remove.0123456789abcdef') == 401)
        self.wait('the end of an expired token', lambda: version('expire.0123456789abcdef') == 401)
        self.wait('the removal of its secret', lambda: self.server.request('GET', SECRETS + '/bootstrap-token-expire')[0] == 404)

    def test_5_aggregated_roles(self):
        rule = {'verbs': ['list'], 'apiGroups': ['example.com'], 'resources': ['things']}
        self.create(RBAC_PATH + 'clusterroles', {'apiVersion': RBAC + '/v1', 'kind': 'ClusterRole', 'metadata': {'name': 'all-things'}, 'rules': [],
                                                 'aggregationRule': {'clusterRoleSelectors': [{'matchLabels': {'things': 'yes'}}]}})
        for user, role in (('thing-reader', 'all-things'), ('viewer', 'view')):
            self.create(RBAC_PATH + 'clusterrolebindings', binding(user, role, user=user)[1])

        def allowed(user):
            review = {'apiVersion': 'authorization.k8s.io/v1', 'kind': 'SubjectAccessReview', 'spec': {'user': user, 'resourceAttributes': {
                'verb': 'list', 'group': 'example.com', 'resource': 'things'}}}
            return self.server.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)[2]['status']['allowed']
        self.assertFalse(allowed('thing-reader') or allowed('viewer'))
        role = {'apiVersion': RBAC + '/v1', 'kind': 'ClusterRole', 'rules': [rule],
                'metadata': {'name': 'some-things', 'labels': {'things': 'yes', RBAC + '/aggregate-to-view': 'true'}}}
        self.create(RBAC_PATH + 'clusterroles', role)
        for user in ('thing-reader', 'viewer'):
            self.wait('the rules of ' + user, lambda user=user: allowed(user))
        for name in ('all-things', 'view', 'edit', 'admin'):  # view is aggregated to edit, edit to admin
            self.wait('the rules of ' + name, lambda name=name: rule in self.server.request('GET', RBAC_PATH + 'clusterroles/' + name)[2]['rules'])
        self.assertEqual(self.server.request('DELETE', RBAC_PATH + 'clusterroles/some-things')[0], 200)
        for user in ('thing-reader', 'viewer'):
            self.wait('the end of the rules of ' + user, lambda user=user: not allowed(user))

    def test_6_its_controllers_were_refused_nothing(self):
        forbidden = [line for line in self.manager.text().splitlines() if 'orbidden' in line and ' cannot ' in line]
        self.assertEqual(forbidden, [])


if __name__ == '__main__':
    harness.main()
