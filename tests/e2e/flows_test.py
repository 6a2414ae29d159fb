"""Tables of common uses of kubectl, with every available kubectl, including Debian's 1.20 (KUBECTLS names others)."""
import concurrent.futures
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest

import flows
import flows_apply
import flows_more
import flows_objects
import flows_workloads
from harness import Served, configmap, kubectls, main, wait_for

ALL = flows_apply.FLOWS + flows_workloads.FLOWS + flows_objects.FLOWS + flows_more.FLOWS
REQUEST = 'apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: "%s"}\nspec: {request: %s, ' \
          'signerName: example.com/flows, usages: [client auth]}\n'


def binaries():
    return os.environ['KUBECTLS'].split(':') if 'KUBECTLS' in os.environ else kubectls()


def keys(folder):
    """A key, a certificate and a request of it, for the flows that need some."""
    def openssl(*args):
        subprocess.run(['openssl', *args], check=True, capture_output=True, cwd=folder)
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'tls.key', '-out', 'tls.crt', '-subj', '/CN=flows', '-days', '2')
    openssl('req', '-new', '-key', 'tls.key', '-subj', '/CN=flows', '-out', 'request.pem')
    return subprocess.run(['base64', '-w0', 'request.pem'], check=True, capture_output=True, text=True, cwd=folder).stdout


class Flows(Served):
    """The suite; one subclass per kubectl binary."""
    binary = None
    prefix = ''

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='backplane-flows-')
        self.addCleanup(self.folder.cleanup)

    def one(self, number, flow, minor, request):
        ns = '%s-%d' % (self.prefix, number)
        folder = os.path.join(self.folder.name, ns)
        os.makedirs(folder)
        for name in ('tls.key', 'tls.crt'):
            os.symlink(os.path.join(self.folder.name, name), os.path.join(folder, name))
        place = flows.Place(self.server, self.binary, minor, ns, folder)
        place.write({'request.yaml': REQUEST % ('{ns}', request), 'other.yaml': REQUEST % ('{ns}-other', request)})
        try:
            flows.run(flow, place)
        except BaseException as error:
            print('FAIL', error, flush=True)
            raise
        print('ok', flow.name, flush=True)

    def test_flows(self):
        minor = flows.minor_of(self.binary)
        wanted = [(n, flow) for n, flow in enumerate(ALL) if flow.since <= minor < flow.until and re.search(os.environ.get('FLOW', ''), flow.name)]
        request = keys(self.folder.name)
        print('kubectl 1.%d, %d flows' % (minor, len(wanted)), flush=True)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ends = [(flow, pool.submit(self.one, n, flow, minor, request)) for n, flow in wanted]
            for flow, end in ends:
                with self.subTest(flow.name):
                    end.result()

    def test_watch_only_shows_what_comes(self):
        self.server.request('POST', '/api/v1/namespaces', {'metadata': {'name': self.prefix + '-w'}})
        path = '/api/v1/namespaces/%s-w/configmaps' % self.prefix
        self.server.request('POST', path, configmap('before'))
        command = [self.binary, '--kubeconfig', self.server.kubeconfig, '-n', self.prefix + '-w', 'get', 'cm', '--watch-only', '--no-headers']
        seen = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, HOME=self.folder.name)) as watch:
            reader = threading.Thread(target=lambda: seen.extend(iter(watch.stdout.readline, '')), daemon=True)
            reader.start()
            number = 0
            deadline = time.monotonic() + 60
            # The start of the watch is not visible: objects are created until one of them shows.
            while not seen and time.monotonic() < deadline:
                number += 1
                self.server.request('POST', path, configmap('n%d' % number))
                time.sleep(0.2)
            first = seen[0].split()[0]
            self.assertRegex(first, r'^n\d+$')
            self.server.request('PATCH', '%s/%s' % (path, first), {'data': {'a': '1'}}, {'Content-Type': 'application/merge-patch+json'})
            self.server.request('DELETE', '%s/%s' % (path, first))
            # The event of the change shows the new number of data, that of the deletion the last one.
            self.assertTrue(wait_for(lambda: [line.split()[1] for line in list(seen) if line.split()[0] == first] == ['0', '1', '1']), seen)
            watch.kill()
            reader.join()


class KubectlIsInstalled(unittest.TestCase):
    def test_there_is_one(self):
        if not binaries():
            self.skipTest('there is no kubectl; clients.kubectl builds one')


for index, path in enumerate(binaries()):
    name = 'Flows%d' % index
    globals()[name] = type(name, (Flows, unittest.TestCase), {'binary': path, 'prefix': 'flow%d' % index})


if __name__ == '__main__':
    main()
