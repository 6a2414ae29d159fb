"""Client certificates, kubeconfigs and bearer tokens of other users than the admin, for tests."""
import base64
import os
import subprocess

import harness


class Caller:
    """Requests to a harness.Server as one user."""

    def __init__(self, server, certificate=None, token=None):
        self.server, self.token = server, token
        self.tls = server.tls_context(client_certificate=False)
        if certificate:
            self.tls.load_cert_chain(certificate)

    def request(self, method, path, body=None, headers=None):
        send = dict(headers or {})
        if self.token:
            send['Authorization'] = 'Bearer ' + self.token
        connection = harness.http.client.HTTPSConnection('127.0.0.1', self.server.port, context=self.tls, timeout=30)
        try:
            return self.server.request(method, path, body, send, connection=connection)
        finally:
            connection.close()


def certificate(server, name, groups=(), days=1):
    """The path of a PEM file with a key and a certificate that the server's own CA has signed."""
    pki = os.path.join(server.dir, 'data', 'pki')
    path = os.path.join(server.dir, 'client-%s' % name.replace(':', '-'))
    subject = ''.join('/O=' + group for group in groups) + '/CN=' + name
    run = lambda *args: subprocess.run(['openssl', *args], check=True, capture_output=True)
    run('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', path + '.key', '-out', path + '.csr',
        '-subj', subject)
    with open(path + '.ext', 'w') as f:
        f.write('extendedKeyUsage=clientAuth\n')
    run('x509', '-req', '-in', path + '.csr', '-CA', os.path.join(pki, 'ca.crt'), '-CAkey', os.path.join(pki, 'ca.key'), '-days', str(days),
        '-extfile', path + '.ext', '-set_serial', str(abs(hash(name)) + 1), '-out', path + '.crt')
    with open(path + '.pem', 'wb') as out:
        for part in ('.crt', '.key'):
            with open(path + part, 'rb') as f:
                out.write(f.read())
    return path + '.pem'


def kubeconfig(server, name, certificate_path=None, token=None):
    """The path of a kubeconfig of that user."""
    with open(server.kubeconfig) as f:
        authority = harness.re.search(r'certificate-authority-data: (\S+)', f.read())[1]
    user = {}
    if certificate_path:
        with open(certificate_path, 'rb') as f:
            data = base64.b64encode(f.read()).decode()
        user = {'client-certificate-data': data, 'client-key-data': data}
    if token:
        user = {'token': token}
    path = os.path.join(server.dir, 'kubeconfig-%s' % name.replace(':', '-'))
    with open(path, 'w') as f:
        harness.json.dump({
            'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c', 'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u'}}],
            'clusters': [{'name': 'c', 'cluster': {'server': 'https://127.0.0.1:%d' % server.port, 'certificate-authority-data': authority}}],
            'users': [{'name': 'u', 'user': user}]}, f)
    return path
