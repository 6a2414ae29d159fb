"""This server starts with the unchanged argument lists with which other programs start kube-apiserver: kubeadm, k0s, envtest."""
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import unittest
import urllib.request

import harness

ETCD = shutil.which('etcd')

# kubeadm v1.31 to v1.36 (cmd/kubeadm/app/phases/controlplane): the lists of these releases are equal except for requestheader-uid-headers,
# which some clusters add. {pki}: the folder of certificates, {port}, {etcd}: the URL of etcd.
KUBEADM = '''
--advertise-address=127.0.0.1 --allow-privileged=true --authorization-mode=Node,RBAC --client-ca-file={pki}/ca.crt
--enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true --etcd-cafile={pki}/etcd-ca.crt
--etcd-certfile={pki}/apiserver-etcd-client.crt --etcd-keyfile={pki}/apiserver-etcd-client.key --etcd-servers={etcd}
--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt --kubelet-client-key={pki}/apiserver-kubelet-client.key
--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname --proxy-client-cert-file={pki}/front-proxy-client.crt
--proxy-client-key-file={pki}/front-proxy-client.key --requestheader-allowed-names=front-proxy-client
--requestheader-client-ca-file={pki}/front-proxy-ca.crt --requestheader-extra-headers-prefix=X-Remote-Extra-
--requestheader-group-headers=X-Remote-Group --requestheader-username-headers=X-Remote-User --secure-port={port}
--service-account-issuer=https://kubernetes.default.svc.cluster.local --service-account-key-file={pki}/sa.pub
--service-account-signing-key-file={pki}/sa.key --service-cluster-ip-range=10.96.0.0/12 --tls-cert-file={pki}/apiserver.crt
--tls-private-key-file={pki}/apiserver.key'''

# k0s v1.3x (pkg/component/controller/apiserver.go).
K0S = '''
--advertise-address=127.0.0.1 --secure-port={port} --authorization-mode=Node,RBAC --client-ca-file={pki}/ca.crt
--enable-bootstrap-token-auth=true --kubelet-client-certificate={pki}/apiserver-kubelet-client.crt
--kubelet-client-key={pki}/apiserver-kubelet-client.key --kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname
--proxy-client-cert-file={pki}/front-proxy-client.crt --proxy-client-key-file={pki}/front-proxy-client.key
--requestheader-allowed-names=front-proxy-client --requestheader-client-ca-file={pki}/front-proxy-ca.crt --service-account-key-file={pki}/sa.pub
--service-cluster-ip-range=10.96.0.0/12 --tls-min-version=VersionTLS12
--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
--tls-cert-file={pki}/apiserver.crt --tls-private-key-file={pki}/apiserver.key --service-account-signing-key-file={pki}/sa.key
--service-account-issuer=https://kubernetes.default.svc --service-account-jwks-uri=https://kubernetes.default.svc/openid/v1/jwks
--profiling=false --v=1 --kubelet-certificate-authority={pki}/ca.crt --enable-admission-plugins=NodeRestriction
--requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group
--requestheader-username-headers=X-Remote-User --etcd-cafile={pki}/etcd-ca.crt --etcd-certfile={pki}/apiserver-etcd-client.crt
--etcd-keyfile={pki}/apiserver-etcd-client.key --etcd-servers={etcd}'''

# sigs.k8s.io/controller-runtime v0.24 (pkg/internal/testing/controlplane), whose etcd has no TLS; it looks for --insecure-port in --help.
ENVTEST = '''
--allow-privileged=true --authorization-mode=RBAC --bind-address=127.0.0.1 --cert-dir={pki} --client-ca-file={pki}/ca.crt
--disable-admission-plugins=ServiceAccount --etcd-servers={etcd} --secure-port={port} --service-account-issuer=https://127.0.0.1:{port}/
--service-account-key-file={pki}/sa.key --service-account-signing-key-file={pki}/sa.key --service-cluster-ip-range=10.0.0.0/24'''


def openssl(*args):
    subprocess.run(['openssl', *args], check=True, capture_output=True)


def stop(process):
    process.kill()
    process.wait()


class Pki:
    """The certificates and keys that kubeadm makes, in one folder."""

    def __init__(self, path):
        self.path = path
        for ca in ('ca', 'etcd-ca', 'front-proxy-ca'):
            openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=' + ca,
                    '-keyout', self.file(ca + '.key'), '-out', self.file(ca + '.crt'))
        self.issue('apiserver', 'ca', '/CN=kube-apiserver', 'serverAuth')
        self.issue('apiserver-kubelet-client', 'ca', '/O=kubeadm:cluster-admins/CN=kube-apiserver-kubelet-client', 'clientAuth')
        self.issue('admin', 'ca', '/O=system:masters/CN=kubernetes-super-admin', 'clientAuth')
        self.issue('etcd-server', 'etcd-ca', '/CN=etcd', 'serverAuth')
        self.issue('apiserver-etcd-client', 'etcd-ca', '/CN=kube-apiserver-etcd-client', 'clientAuth')
        self.issue('front-proxy-client', 'front-proxy-ca', '/CN=front-proxy-client', 'clientAuth')
        openssl('genrsa', '-out', self.file('sa.key'), '2048')
        openssl('rsa', '-in', self.file('sa.key'), '-pubout', '-out', self.file('sa.pub'))

    def file(self, name):
        return os.path.join(self.path, name)

    def issue(self, name, ca, subject, usage):
        openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', subject,
                '-keyout', self.file(name + '.key'), '-out', self.file(name + '.csr'))
        with open(self.file(name + '.ext'), 'w') as f:
            f.write('extendedKeyUsage=%s\nsubjectAltName=IP:127.0.0.1,DNS:localhost\n' % usage)
        openssl('x509', '-req', '-in', self.file(name + '.csr'), '-CA', self.file(ca + '.crt'), '-CAkey', self.file(ca + '.key'), '-CAcreateserial',
                '-days', '1', '-extfile', self.file(name + '.ext'), '-out', self.file(name + '.crt'))


@unittest.skipIf(ETCD is None, 'etcd is not installed')
class DropIn(unittest.TestCase):
    """The lists are used as they are, without --data-dir, a plugin directory or HOME."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix='backplane-drop-in-')
        cls.pki = Pki(cls.dir)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir, ignore_errors=True)

    def etcd(self, tls):
        url = '%s://127.0.0.1:%d' % ('https' if tls else 'http', harness.free_port())
        peer = 'http://127.0.0.1:%d' % harness.free_port()
        files = ['--cert-file=' + self.pki.file('etcd-server.crt'), '--key-file=' + self.pki.file('etcd-server.key'), '--client-cert-auth',
                 '--trusted-ca-file=' + self.pki.file('etcd-ca.crt')]
        data = tempfile.mkdtemp(prefix='etcd-', dir=self.dir)
        process = subprocess.Popen(
            [ETCD, '--name=test', '--data-dir=' + data, '--listen-client-urls=' + url, '--advertise-client-urls=' + url,
             '--listen-peer-urls=' + peer, '--initial-advertise-peer-urls=' + peer, '--initial-cluster=test=' + peer, *(files if tls else [])],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(stop, process)
        return url

    def start(self, arguments, tls=True):
        """A function that requests a path as the cluster's administrator, of a server that is ready."""
        port = harness.free_port()
        flags = arguments.format(pki=self.dir, port=port, etcd=self.etcd(tls)).split()
        log = open(os.path.join(self.dir, 'log-%d' % port), 'wb')
        process = subprocess.Popen([harness.BINARY, *flags], stdout=log, stderr=subprocess.STDOUT,
                                   env={'PATH': '/usr/bin:/bin', 'XDG_STATE_HOME': os.path.join(self.dir, 'state')}, cwd='/')
        self.addCleanup(stop, process)
        self.addCleanup(log.close)
        context = ssl.create_default_context(cafile=self.pki.file('ca.crt'))
        context.load_cert_chain(self.pki.file('admin.crt'), self.pki.file('admin.key'))

        def get(path):
            with urllib.request.urlopen('https://127.0.0.1:%d%s' % (port, path), context=context, timeout=30) as response:
                return response.read().decode()

        def ready():
            self.assertIsNone(process.poll(), pathlib.Path(log.name).read_text())
            try:
                return get('/readyz') == 'ok'
            except OSError:
                return False
        self.assertTrue(harness.wait_for(ready), pathlib.Path(log.name).read_text())
        return get

    def check(self, get):
        names = {each['metadata']['name'] for each in json.loads(get('/api/v1/namespaces'))['items']}
        self.assertLessEqual({'default', 'kube-system', 'kube-public', 'kube-node-lease'}, names)
        roles = json.loads(get('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin'))
        self.assertEqual(roles['metadata']['labels'], {'kubernetes.io/bootstrapping': 'rbac-defaults'})

    def test_kubeadm(self):
        self.check(self.start(KUBEADM))

    def test_k0s(self):
        self.check(self.start(K0S))

    def test_envtest(self):
        shown = subprocess.run([harness.BINARY, '--help'], capture_output=True, text=True, check=True)
        self.assertNotIn('--insecure-port', shown.stdout + shown.stderr)
        certificate = pathlib.Path(self.pki.file('apiserver.crt'))
        before = certificate.read_text()
        self.check(self.start(ENVTEST, tls=False))
        self.assertEqual(certificate.read_text(), before, 'a certificate of another authority in --cert-dir was replaced')

    def test_two_servers_over_etcd_on_one_machine(self):
        """Regression: both used the default data directory, and the second did not start."""
        for get in (self.start(KUBEADM), self.start(KUBEADM)):
            self.check(get)

    def test_half_a_pair_in_cert_dir_is_refused_and_not_replaced(self):
        """Regression: a certificate without its key was overwritten by a new pair."""
        with tempfile.TemporaryDirectory(dir=self.dir) as folder:
            shutil.copy(self.pki.file('apiserver.crt'), folder)
            ended = subprocess.run([harness.BINARY, '--data-dir', folder + '/data', '--secure-port=0', '--cert-dir', folder],
                                   capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertIn('--cert-dir: %s/apiserver.crt exists without %s/apiserver.key' % (folder, folder), ended.stderr)
            self.assertEqual(os.listdir(folder + '/data/pki') and sorted(os.listdir(folder)), ['apiserver.crt', 'data'])


if __name__ == '__main__':
    harness.main()
