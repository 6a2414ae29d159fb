"""Upstream's end-to-end specs of admission webhooks, admission policies and quotas, as their Go package has them, against the built server with
kube-controller-manager and kube-scheduler.

A pod of the spec's webhook is "run" by the kubelet of the test: it starts agnhost's webhook as a process with the certificates of the pod's
secret, and reports the pod ready at the machine's address. APIMACHINERY_FOCUS selects specs by a regular expression."""
import base64
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import clients  # noqa: E402
import harness  # noqa: E402
from controllers_test import Kubelet, node  # noqa: E402

GROUPS = ('AdmissionWebhook', 'ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy', 'ResourceQuota')
# Excluded: features that are off by default.
SKIPPED = 'Feature:|FeatureGate:'
SECONDS = 1800


def own_address():
    """An address of this machine that is not loopback; endpoints refuse those. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))
        except OSError:
            return None
        address = probe.getsockname()[0]
        return None if address.startswith('127.') else address


class WebhookKubelet(Kubelet):
    """Runs the webhook's container, and only reports other containers as running."""

    def __init__(self, server, program, address):
        super().__init__(server)
        self.program, self.address, self.running = program, address, {}
        self.folder = tempfile.mkdtemp(prefix='backplane-webhook-pods-')

    def say(self, path, pod, address):
        arguments = pod['spec']['containers'][0].get('args') or ['']
        if arguments[0] == 'webhook':
            if path not in self.running:
                self.running[path] = self.start_webhook(pod, arguments)
            if not self.is_ready(pod):
                return
            address = self.address
        super().say(path, pod, address)

    def start_webhook(self, pod, arguments):
        self.stop_webhooks()
        folder = os.path.join(self.folder, pod['metadata']['uid'])
        os.makedirs(folder)
        volume = next(each['secret']['secretName'] for each in pod['spec']['volumes'] if 'secret' in each)
        _, _, secret = self.server.request('GET', '/api/v1/namespaces/%s/secrets/%s' % (pod['metadata']['namespace'], volume))
        for name, data in secret['data'].items():
            with open(os.path.join(folder, name), 'wb') as out:
                out.write(base64.b64decode(data))
        mount = next(each['mountPath'] for each in pod['spec']['containers'][0]['volumeMounts'] if each['mountPath'].startswith('/webhook'))
        own = [re.sub('=' + mount, '=' + folder, each) for each in arguments if not each.startswith('-v')]
        with open(folder + '.log', 'wb') as log:
            return subprocess.Popen([self.program, *own], stdout=log, stderr=subprocess.STDOUT)

    def is_ready(self, pod):
        port = pod['spec']['containers'][0]['ports'][0]['containerPort']
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with socket.create_connection((self.address, port), 5) as plain, context.wrap_socket(plain):
                return True
        except OSError:
            return False

    def stop_webhooks(self):
        """One at a time: the specs' webhooks use one port."""
        for process in self.running.values():
            clients.end(process, 10)

    def end(self):
        super().end()
        self.stop_webhooks()
        shutil.rmtree(self.folder, ignore_errors=True)


class ApiMachinery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        address = own_address()
        if address is None:
            raise unittest.SkipTest('this machine has only loopback addresses, which endpoints cannot have')
        try:
            paths = clients.build(('kube-controller-manager', 'kube-scheduler'))
            cls.program = clients.build_own(os.path.join(HERE, 'apimachinery', 'main.go'))
        except clients.Missing as why:
            raise unittest.SkipTest('the specs of sig-api-machinery cannot be built: %s' % why)
        # No proxy of services runs here: endpoints are called, not cluster IPs.
        cls.server = harness.Server('--enable-aggregator-routing=true', service_accounts=True)
        cls.addClassCleanup(cls.server.stop)
        code, _, answer = cls.server.request('POST', '/api/v1/nodes', node())
        assert code == 201, answer
        cls.kubelet = WebhookKubelet(cls.server, cls.program, address)
        cls.kubelet.start()
        cls.addClassCleanup(cls.kubelet.end)
        for path, flags in ((paths['kube-controller-manager'], ['--node-monitor-grace-period=1h', '--root-ca-file=' + cls.authority()]),
                            (paths['kube-scheduler'], [])):
            cls.addClassCleanup(clients.Program(path, cls.server, *flags).stop)

    @classmethod
    def authority(cls):
        path = os.path.join(cls.server.dir, 'authority.crt')
        with open(cls.server.kubeconfig, encoding='utf-8') as config, open(path, 'wb') as out:
            out.write(base64.b64decode(re.search(r'certificate-authority-data: (\S+)', config.read())[1]))
        return path

    def run_specs(self, focus):
        """{name: state} of the specs."""
        report = os.path.join(self.server.dir, 'report.json')
        done = subprocess.run(
            [self.program, '--kubeconfig=' + self.server.kubeconfig, '--provider=skeleton', '--ginkgo.focus=' + focus, '--ginkgo.skip=' + SKIPPED,
             '--ginkgo.json-report=' + report, '--ginkgo.no-color', '--minStartupPods=0', '--num-nodes=1', '--dump-logs-on-failure=false'],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=SECONDS, check=False)
        if not os.path.exists(report):
            self.fail(done.stdout[-5000:])
        with open(report, encoding='utf-8') as text:
            specs = [spec for suite in json.load(text) for spec in suite['SpecReports'] or [] if spec['State'] != 'skipped' and spec['LeafNodeText']]
        out = {}
        for spec in specs:
            failure = spec.get('Failure', {}).get('Message', '')
            out[spec['LeafNodeText']] = '' if spec['State'] == 'passed' else '%s: %.1500s' % (spec['State'], failure)
        return out

    def check(self, group):
        focus = os.environ.get('APIMACHINERY_FOCUS', r'\[sig-api-machinery\] %s\b' % group)
        ends = self.run_specs(focus)
        failed = {name: why for name, why in ends.items() if why}
        print('%s: %d specs, %d failed' % (group, len(ends), len(failed)), file=sys.stderr)
        self.assertIsNone(self.kubelet.error)
        self.assertEqual(failed, {}, '\n'.join('%s\n  %s' % each for each in failed.items()))
        self.assertGreater(len(ends), 0)


for each_group in GROUPS:
    setattr(ApiMachinery, 'test_' + each_group, lambda self, group=each_group: self.check(group))


if __name__ == '__main__':
    harness.main()
