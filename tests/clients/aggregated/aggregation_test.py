"""The sample API server of Kubernetes behind an APIService: flunders are created, watched and deleted through this server with kubectl; the
server is killed and restarted under load, without an effect on other requests."""
import base64
import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

for folder in ('..', '../../e2e'):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))
import aggregated  # noqa: E402
import clients  # noqa: E402
import harness  # noqa: E402

GROUP = 'wardle.example.com'
NAME = 'v1alpha1.' + GROUP
FLUNDERS = '/apis/%s/v1alpha1/namespaces/default/flunders' % GROUP
SECONDS = 120


def flunder(name):
    return {'apiVersion': GROUP + '/v1alpha1', 'kind': 'Flunder', 'metadata': {'name': name, 'labels': {'sample': 'true'}},
            'spec': {'reference': 'other'}}


class Sample:
    """The running sample server; every restart uses the same port."""

    def __init__(self, path, server, certificates):
        self.server, self.port = server, harness.free_port()
        certificate, key = certificates.issue('sample', 'sample', 'api.wardle.svc', 'localhost')
        config = ['--kubeconfig=' + server.kubeconfig, '--authentication-kubeconfig=' + server.kubeconfig,
                  '--authorization-kubeconfig=' + server.kubeconfig]
        self.args = [path, '--store=' + os.path.join(server.dir, 'sample-store'), '--bind-address=127.0.0.1', '--secure-port=%d' % self.port,
                     '--tls-cert-file=' + certificate, '--tls-private-key-file=' + key, '-v=2', '--enable-priority-and-fairness=false', *config]
        self.log_path = os.path.join(server.dir, 'sample.log')
        self.process = None

    def start(self):
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(self.args, stdout=log, stderr=subprocess.STDOUT, env=dict(os.environ, HOME=self.server.dir))

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def text(self):
        with open(self.log_path, errors='replace') as f:
            return f.read()


class Aggregation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            path = clients.build_aggregated()
        except clients.Missing as why:
            raise unittest.SkipTest(str(why))
        cls.dir = tempfile.mkdtemp(prefix='backplane-sample-')
        front = aggregated.Certificates(os.path.join(cls.dir, 'front'))
        backs = aggregated.Certificates(os.path.join(cls.dir, 'backs'))
        proxy = front.issue('proxy', 'front-proxy-client')
        cls.server = harness.Server('--proxy-client-cert-file=' + proxy[0], '--proxy-client-key-file=' + proxy[1],
                                    '--requestheader-client-ca-file=' + front.path('ca.crt'), *aggregated.IDENTITY_FLAGS)
        cls.sample = Sample(path, cls.server, backs)
        cls.sample.start()
        made = [cls.server.request('POST', '/api/v1/namespaces', harness.namespace('wardle'))[0],
                cls.server.request('POST', '/api/v1/namespaces/wardle/services', aggregated.external('api'))[0],
                cls.server.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', aggregated.apiservice(
                    'v1alpha1', GROUP, 'wardle', 'api', cls.sample.port, caBundle=base64.b64encode(backs.bundle()).decode()))[0]]
        assert made == [201, 201, 201], made

    @classmethod
    def tearDownClass(cls):
        if hasattr(cls, 'sample'):
            cls.sample.kill()
            cls.server.stop()
            shutil.rmtree(cls.dir)

    def wait_available(self, status):
        found = harness.wait_for(lambda: (aggregated.available(self.server, NAME) or ('',))[0] == status, SECONDS)
        self.assertTrue(found, '%s\n%s' % (aggregated.available(self.server, NAME), self.sample.text()[-3000:]))

    def call(self, method, path, body=None, code=200, headers=None):
        got = self.server.request(method, path, body, headers=headers or {})
        self.assertEqual(got[0], code, '%s\n%s' % (got[2], self.sample.text()[-2000:]))
        return got[2]

    def test_1_flunders_live_like_any_object(self):
        self.wait_available('True')
        watch = self.server.connect(timeout=SECONDS)
        watch.request('GET', FLUNDERS + '?watch=1')
        stream = watch.getresponse()
        self.assertEqual(stream.status, 200)
        for kubectl in harness.kubectls():
            self.server.kubectl(kubectl, 'create', '-f', '-', stdin=str(flunder('one')).replace("'", '"'))
            self.assertIn('"type":"ADDED"', stream.readline().decode())
            self.assertIn('one', self.server.kubectl(kubectl, 'get', 'flunders'))
            self.server.kubectl(kubectl, 'label', 'flunder', 'one', 'tone=soft')
            self.assertIn('"type":"MODIFIED"', stream.readline().decode())
            self.server.kubectl(kubectl, 'delete', 'flunder', 'one')
            self.assertIn('"type":"DELETED"', stream.readline().decode())
        watch.close()

    def test_2_its_discovery_and_schemas_are_this_servers(self):
        self.wait_available('True')
        accept = {'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'}

        def resources():
            for group in self.call('GET', '/apis', headers=accept)['items']:
                for version in group['versions']:
                    if group['metadata']['name'] == GROUP and version['freshness'] == 'Current':
                        return [each['resource'] for each in version['resources']]
            return None
        self.assertIn('flunders', harness.wait_for(resources, SECONDS))
        self.assertTrue(harness.wait_for(lambda: 'apis/%s/v1alpha1' % GROUP in self.call('GET', '/openapi/v3')['paths'], SECONDS))
        document = self.call('GET', '/openapi/v3/apis/%s/v1alpha1' % GROUP)
        self.assertTrue([name for name in document['components']['schemas'] if name.endswith('.Flunder')])

    def test_3_it_knows_the_user_and_this_server_authorizes_the_request(self):
        self.wait_available('True')
        # It authorizes all users except administrators through this server.
        got = self.server.request('GET', FLUNDERS, client_certificate=False)
        self.assertEqual((got[0], got[2].get('reason')), (403, 'Forbidden'), got[2])

    def test_4_killed_under_load_it_is_unavailable_and_other_requests_succeed(self):
        self.wait_available('True')
        over, failures, counts = threading.Event(), [], {'own': 0, 'remote': 0, 'missing': 0}

        def own():
            connection = self.server.connect()
            while not over.is_set():
                code = self.server.request('GET', '/api/v1/namespaces/default/configmaps', connection=connection)[0]
                counts['own'] += 1
                if code != 200:
                    failures.append(code)
            connection.close()

        def remote():
            connection = self.server.connect(timeout=SECONDS)
            while not over.is_set():
                try:
                    code, _, answer = self.server.request('GET', FLUNDERS, connection=connection)
                except (OSError, http.client.HTTPException):
                    # A response in progress is aborted when its server dies.
                    connection.close()
                    counts['missing'] += 1
                    continue
                counts['remote' if code == 200 else 'missing'] += 1
                # A server that has just started refuses this server's certificate until it has read the trusted authorities.
                believed = code != 403 or not any('User "%s"' % name in answer['message'] for name in ('front-proxy-client', 'system:anonymous'))
                if code not in (200, 503) and believed:
                    failures.append((code, answer))
            connection.close()
        threads = [threading.Thread(target=each) for each in (own, own, remote, remote)]
        for thread in threads:
            thread.start()
        try:
            self.assertTrue(harness.wait_for(lambda: counts['remote'] > 20, SECONDS))
            self.sample.kill()
            self.assertTrue(harness.wait_for(lambda: counts['missing'] > 20, SECONDS))
            seen = counts['own']
            self.assertTrue(harness.wait_for(lambda: counts['own'] > seen + 50, SECONDS))
            self.sample.start()
            seen = counts['remote']
            self.assertTrue(harness.wait_for(lambda: counts['remote'] > seen + 20, SECONDS), self.sample.text()[-2000:])
        finally:
            over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        self.wait_available('True')


if __name__ == '__main__':
    unittest.main()
