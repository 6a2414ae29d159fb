"""metrics-server and sample-apiserver, each under its service account with the roles of its manifests, behind APIServices: they read
extension-apiserver-authentication, and authenticate and authorize clients by TokenReviews and SubjectAccessReviews to this server."""
import base64
import os
import subprocess
import sys
import tempfile
import shutil
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import aggregated  # noqa: E402
import clients  # noqa: E402
import harness  # noqa: E402
import identities  # noqa: E402

SECONDS = 180
RBAC = '/apis/rbac.authorization.k8s.io/v1/'
USERS = ('reader', 'nobody')


def module_dir(module, folder):
    """The folder of the module's files, by the recipe in the program's build folder."""
    done = subprocess.run(['go', 'list', '-m', '-f', '{{.Dir}}', module], cwd=os.path.join(clients.BUILD_DIR, folder), env=clients.go_environment(),
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Delegated:
    """One aggregated server; its test cases."""

    @classmethod
    def setUpClass(cls):
        if not harness.kubectls():
            raise unittest.SkipTest('no kubectl on the PATH')
        try:
            program = cls.build()
        except clients.Missing as why:
            raise unittest.SkipTest('%s cannot be built: %s' % (cls.account, why))
        cls.dir = tempfile.mkdtemp(prefix='backplane-delegated-')
        cls.addClassCleanup(shutil.rmtree, cls.dir, ignore_errors=True)
        front = aggregated.Certificates(os.path.join(cls.dir, 'front'))
        backs = aggregated.Certificates(os.path.join(cls.dir, 'backs'))
        proxy = front.issue('proxy', 'front-proxy-client')
        cls.server = harness.Server('--authorization-mode=Node,RBAC', '--proxy-client-cert-file=' + proxy[0], '--proxy-client-key-file=' + proxy[1],
                                    '--requestheader-client-ca-file=' + front.path('ca.crt'), *aggregated.IDENTITY_FLAGS)
        cls.addClassCleanup(cls.server.stop)
        cls.apply_manifests()
        cls.port = harness.free_port()
        certificate, key = backs.issue('back', 'back', '%s.%s.svc' % (cls.service, cls.namespace), 'localhost')
        cls.log_path = os.path.join(cls.dir, 'log')
        token = cls.token(cls.namespace, cls.account)
        config = identities.kubeconfig(cls.server, cls.account, token=token)
        with open(cls.log_path, 'wb') as log:
            cls.process = subprocess.Popen([program, *cls.flags(config), '--secure-port=%d' % cls.port, '--bind-address=127.0.0.1',
                '--tls-cert-file=' + certificate,
                                            '--tls-private-key-file=' + key, '-v=2'], stdout=log, stderr=subprocess.STDOUT,
                                            env=dict(os.environ, HOME=cls.dir))
        cls.addClassCleanup(clients.end, cls.process, 20)
        group, version = cls.group_version
        cls.post('/api/v1/namespaces/%s/services' % cls.namespace, aggregated.external(cls.service))
        cls.post('/apis/apiregistration.k8s.io/v1/apiservices', aggregated.apiservice(
            version, group, cls.namespace, cls.service, cls.port, caBundle=base64.b64encode(backs.bundle()).decode()))
        name = '%s.%s' % (version, group)
        up = harness.wait_for(lambda: (aggregated.available(cls.server, name) or ('',))[0] == 'True', SECONDS)
        assert up, '%s\n%s' % (aggregated.available(cls.server, name), cls.text()[-4000:])
        cls.callers = {name: cls.user(name) for name in USERS}
        cls.post(RBAC + 'clusterroles', {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole', 'metadata': {'name': 'reader'},
            'rules': [
            {'verbs': ['get', 'list'], 'apiGroups': [group], 'resources': ['*']}, {'verbs': ['get'], 'nonResourceURLs': ['/metrics']}]})
        cls.post(RBAC + 'clusterrolebindings', {
            'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRoleBinding', 'metadata': {'name': 'reader'},
            'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': 'reader'},
            'subjects': [{'kind': 'ServiceAccount', 'namespace': 'default', 'name': 'reader'}]})

    @classmethod
    def apply_manifests(cls):
        for path in cls.manifests():
            cls.server.kubectl(harness.kubectls()[0], 'apply', '-f', path)

    @classmethod
    def post(cls, path, item):
        code, _, answer = cls.server.request('POST', path, item)
        assert code == 201, answer
        return answer

    @classmethod
    def token(cls, namespace, account):
        return cls.post('/api/v1/namespaces/%s/serviceaccounts/%s/token' % (namespace, account), {
            'apiVersion': 'authentication.k8s.io/v1', 'kind': 'TokenRequest', 'spec': {}})['status']['token']

    @classmethod
    def user(cls, name):
        cls.post('/api/v1/namespaces/default/serviceaccounts', {'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': name}})
        return identities.Caller(cls.server, token=cls.token('default', name))

    @classmethod
    def text(cls):
        with open(cls.log_path, errors='replace', encoding='utf-8') as f:
            return f.read()

    def direct(self, token, path):
        """The status of a request to the aggregated server itself."""
        context = harness.ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, harness.ssl.CERT_NONE
        connection = harness.http.client.HTTPSConnection('127.0.0.1', self.port, context=context, timeout=60)
        connection.request('GET', path, headers={'Authorization': 'Bearer ' + token} if token else {})
        try:
            return connection.getresponse().status
        finally:
            connection.close()

    def test_users_with_permission_read_through_the_aggregator(self):
        # Its authorizer keeps a refusal for ten seconds.
        found = harness.wait_for(lambda: self.callers['reader'].request('GET', self.path)[0] == 200, SECONDS)
        code, _, answer = self.callers['reader'].request('GET', self.path)
        self.assertTrue(found, '%s %s\n%s' % (code, answer, self.text()[-3000:]))
        self.assertEqual(answer['kind'], self.kind)
        self.assertEqual(self.server.request('GET', self.path)[0], 200, 'an administrator')

    def test_users_without_permission_get_403(self):
        code, _, answer = self.callers['nobody'].request('GET', self.path)
        resource, group = self.path.rsplit('/', 1)[1], self.group_version[0]
        self.assertEqual((code, answer['message']),
            (403, '%s.%s is forbidden: User "system:serviceaccount:default:nobody" cannot list resource "%s" in API group "%s" %s'
                                                     % (resource, group, resource, group, self.scope)))
        code, _, answer = self.server.request('GET', self.path, client_certificate=False)
        self.assertEqual((code, answer['reason']), (403, 'Forbidden'), answer)

    def test_a_token_is_reviewed_in_direct_requests_to_the_server(self):
        self.assertEqual(self.direct(self.callers['nobody'].token, self.path), 403)
        self.assertEqual(self.direct('x', self.path), 401)
        self.assertTrue(harness.wait_for(lambda: self.direct(self.callers['reader'].token, self.path) == 200, SECONDS))

    def test_discovery_by_kubectl(self):
        config = identities.kubeconfig(self.server, 'reader-' + self.account, token=self.callers['reader'].token)
        for binary in harness.kubectls():
            text = self.server.kubectl(binary, '--kubeconfig', config, 'api-resources', '--api-group=' + self.group_version[0], check=False).stdout
            self.assertIn(self.path.rsplit('/', 1)[1], text)

    def test_it_was_refused_nothing_that_its_manifests_allow(self):
        forbidden = [line for line in self.text().splitlines() if 'orbidden' in line
            and 'User "system:serviceaccount:%s:%s" cannot' % (self.namespace, self.account) in line]
        self.assertEqual([line for line in forbidden if not any(each in line for each in self.unneeded)], [])


class MetricsServer(Delegated, unittest.TestCase):
    account, namespace, service = 'metrics-server', 'kube-system', 'metrics-server'
    group_version = ('metrics.k8s.io', 'v1beta1')
    path, kind, scope = '/apis/metrics.k8s.io/v1beta1/nodes', 'NodeMetricsList', 'at the cluster scope'
    unneeded = ()
    build = staticmethod(clients.build_metrics_server)

    @classmethod
    def manifests(cls):
        return [os.path.join(module_dir('sigs.k8s.io/metrics-server', 'metrics'), 'manifests/base/rbac.yaml')]

    @classmethod
    def flags(cls, config):
        return ['--kubeconfig=' + config, '--authentication-kubeconfig=' + config, '--authorization-kubeconfig=' + config,
            '--metric-resolution=15s',
                '--kubelet-insecure-tls']


class SampleApiserver(Delegated, unittest.TestCase):
    account, namespace, service = 'apiserver', 'wardle', 'api'
    group_version = ('wardle.example.com', 'v1alpha1')
    path, kind, scope = '/apis/wardle.example.com/v1alpha1/namespaces/default/flunders', 'FlunderList', 'in the namespace "default"'
    # Its manifests lack the permissions for the resources that only an API server of 1.36 watches.
    unneeded = ('mutatingadmissionpolic',)
    build = staticmethod(clients.build_aggregated)

    @classmethod
    def manifests(cls):
        folder = os.path.join(module_dir('k8s.io/sample-apiserver', 'aggregated'), 'artifacts/example')
        return [os.path.join(folder, name + '.yaml') for name in ('ns', 'sa', 'auth-delegator', 'auth-reader', 'rbac', 'rbac-bind')]

    @classmethod
    def flags(cls, config):
        return ['--store=' + os.path.join(cls.dir, 'store'), '--kubeconfig=' + config, '--authentication-kubeconfig=' + config,
            '--authorization-kubeconfig=' + config]


if __name__ == '__main__':
    unittest.main(verbosity=2)
