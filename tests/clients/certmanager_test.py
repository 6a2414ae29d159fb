"""cert-manager's own admission webhook, built from its Go module, behind a service: its definitions and webhook configurations are those
of its chart, and clients get its refusals and defaults."""
import base64
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import clients  # noqa: E402
import harness  # noqa: E402
from webhook_pods import own_address  # noqa: E402
from real_definitions_test import CRDS, PROJECTS, YAML, documents, module, said  # noqa: E402

NAME = 'cert-manager-webhook'
SERVICE = {'name': NAME, 'namespace': 'cert-manager'}
GROUP = '/apis/cert-manager.io/v1/namespaces/default/'
CHART = 'deploy/charts/cert-manager/templates/webhook-%s-webhook.yaml'
ISSUER = {'name': 'one', 'kind': 'Issuer', 'group': 'cert-manager.io'}


def filled(text, bundle):
    """A configuration of the chart with the chart's values filled in."""
    text = re.sub(r'^.*\{\{.*\n?', '', text, flags=re.M)
    text = text.replace('metadata:\n', 'metadata:\n  name: %s\n' % NAME, 1)
    service = '      service:\n' + ''.join('        %s: %s\n' % each for each in SERVICE.items())
    return text.replace('      service:\n', '      caBundle: %s\n%s' % (bundle, service), 1)


class CertManager(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.address = own_address()
        if cls.address is None:
            raise unittest.SkipTest('this machine has only loopback addresses, which endpoints cannot have')
        path, version, cls.definitions, _ = PROJECTS['cert_manager']
        cls.module = module(path, version)
        try:
            sources = clients.recipe('certmanager') + [os.path.join(HERE, 'certmanager', 'main.go')]
            program = clients.go_build(os.path.join(clients.BUILD_DIR, 'certmanager'), sources, [path + '/certmanager'])['certmanager']
        except clients.Missing as why:
            raise unittest.SkipTest("cert-manager's webhook cannot be built: %s" % why)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        # No proxy of services runs here: endpoints are called, not cluster IPs.
        cls.server = harness.Server('--enable-aggregator-routing=true')
        cls.addClassCleanup(cls.server.stop)
        cls.start_webhook(program)
        cls.install()

    @classmethod
    def start_webhook(cls, program):
        key, certificate = (os.path.join(cls.folder, name) for name in ('webhook.key', 'webhook.crt'))
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-keyout', key, '-out',
                        certificate, '-subj', '/CN=webhook', '-addext', 'subjectAltName=DNS:%(name)s.%(namespace)s.svc' % SERVICE], check=True,
                       capture_output=True)
        with open(certificate, 'rb') as file:
            cls.bundle = base64.b64encode(file.read()).decode()
        cls.port = harness.free_port()
        log = open(os.path.join(cls.folder, 'webhook.log'), 'wb')
        cls.addClassCleanup(log.close)
        process = subprocess.Popen([program, cls.server.kubeconfig, str(cls.port), certificate, key], stdout=log, stderr=subprocess.STDOUT)
        cls.addClassCleanup(clients.end, process, 20)

        def listens():
            try:
                socket.create_connection((cls.address, cls.port), 5).close()
                return True
            except OSError:
                return False
        if not harness.wait_for(listens):
            raise AssertionError('the webhook does not listen')

    @classmethod
    def made(cls, path, body, headers=None):
        code, _, answer = cls.server.request('POST', path, body, headers)
        assert code == 201, (path, answer)
        return answer

    @classmethod
    def install(cls):
        space = '/namespaces/' + SERVICE['namespace']
        cls.made('/api/v1/namespaces', harness.namespace(SERVICE['namespace']))
        cls.made('/api/v1%s/services' % space, {'metadata': {'name': NAME}, 'spec': {'ports': [{'port': 443, 'targetPort': cls.port}]}})
        cls.made('/apis/discovery.k8s.io/v1%s/endpointslices' % space, {
            'metadata': {'name': NAME, 'labels': {'kubernetes.io/service-name': NAME}}, 'addressType': 'IPv4', 'ports': [{'name': '', 'port': cls.port}],
            'endpoints': [{'addresses': [cls.address], 'conditions': {'ready': True}}]})
        for _, text in documents(cls.module, *cls.definitions):
            if said(text, 'kind') == 'CustomResourceDefinition':
                cls.made(CRDS, re.sub(r'^.*\{\{.*$', '', text, flags=re.M).encode(), YAML)
        for kind in ('validating', 'mutating'):
            with open(os.path.join(cls.module, CHART % kind), encoding='utf-8') as file:
                cls.made('/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations' % kind, filled(file.read(), cls.bundle).encode(), YAML)
        # From here on, the webhook validates and reports the errors.
        wrong = cls.issuer('probe', ca={'secretName': 'x'})
        assert harness.wait_for(lambda: cls.server.request('POST', GROUP + 'issuers?dryRun=All', wrong)[0] == 403)

    @staticmethod
    def issuer(name, **spec):
        return {'apiVersion': 'cert-manager.io/v1', 'kind': 'Issuer', 'metadata': {'name': name}, 'spec': dict({'selfSigned': {}}, **spec)}

    def certificate_request(self):
        done = subprocess.run(['openssl', 'req', '-new', '-newkey', 'rsa:2048', '-nodes', '-keyout', os.devnull, '-subj', '/CN=example.com'], check=True,
                              capture_output=True)
        return {'apiVersion': 'cert-manager.io/v1', 'kind': 'CertificateRequest', 'metadata': {'generateName': 'request-'},
                'spec': {'issuerRef': ISSUER, 'request': base64.b64encode(done.stdout).decode()}}

    def test_an_issuer_has_one_type(self):
        self.made(GROUP + 'issuers', self.issuer('one'))
        code, _, answer = self.server.request('POST', GROUP + 'issuers', self.issuer('two', ca={'secretName': 'x'}))
        self.assertEqual((code, answer['reason']), (403, 'Forbidden'), answer)
        self.assertTrue(answer['message'].startswith('admission webhook "webhook.cert-manager.io" denied the request: spec.'), answer)
        self.assertIn('may not specify more than one issuer type', answer['message'])

    def test_a_certificate_lives_longer_than_its_renewal_takes(self):
        body = {'apiVersion': 'cert-manager.io/v1', 'kind': 'Certificate', 'metadata': {'name': 'one'}, 'spec': {'secretName': 'x', 'issuerRef': ISSUER, 'commonName': 'example.com', 'duration': '2h',
                                                      'renewBefore': '3h'}}
        code, _, answer = self.server.request('POST', GROUP + 'certificates', body)
        self.assertEqual(code, 403, answer)
        self.assertIn('spec.renewBefore', answer['message'])
        body['spec']['renewBefore'] = '1h'
        made = self.made(GROUP + 'certificates', body)
        made['spec']['duration'] = '1h'
        self.assertEqual(self.server.request('PUT', GROUP + 'certificates/one', made)[0], 403)

    def test_a_request_names_its_user_and_does_not_change(self):
        made = self.made(GROUP + 'certificaterequests', self.certificate_request())
        self.assertIn('system:masters', made['spec']['groups'])
        self.assertTrue(made['spec']['username'])
        made['spec']['username'] = 'other'
        code, _, answer = self.server.request('PUT', GROUP + 'certificaterequests/' + made['metadata']['name'], made)
        self.assertEqual(code, 403, answer)
        self.assertIn('spec', answer['message'])


if __name__ == '__main__':
    harness.main()
