"""Flags keep what they promise or end the start; what they say shows in logs and metrics."""
import json
import os
import re
import tempfile
import unittest

from harness import Server, main

KUBEADM = ('--advertise-address=10.1.2.3 --allow-privileged=true --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction '
           '--enable-bootstrap-token-auth=true --etcd-cafile=/pki/etcd/ca.crt --etcd-certfile=/pki/etcd.crt --etcd-keyfile=/pki/etcd.key '
           '--etcd-servers=https://127.0.0.1:2379 --kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname '
           '--requestheader-allowed-names=front-proxy-client --requestheader-extra-headers-prefix=X-Remote-Extra- '
           '--requestheader-group-headers=X-Remote-Group --requestheader-username-headers=X-Remote-User '
           '--service-account-issuer=https://kubernetes.default.svc.cluster.local --service-cluster-ip-range=10.96.0.0/12').split()


class Promises(unittest.TestCase):
    def refusal(self, *flags):
        with Server(*flags, wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            lines = [line for line in server.text().splitlines() if line.startswith('Error: ')]
            self.assertEqual(len(lines), 1, server.text())
            return lines[0]

    def test_a_kubeadm_manifest_is_told_in_one_line_what_to_leave_out_and_starts_without_it(self):
        line = self.refusal(*KUBEADM)
        named = re.findall(r'--[a-z-]+', line)
        self.assertEqual(named, ['--authorization-mode', '--enable-admission-plugins', '--etcd-servers', '--etcd-cafile', '--etcd-certfile',
                                 '--etcd-keyfile'], line)
        with Server(*[flag for flag in KUBEADM if flag.split('=')[0] not in named]) as server:
            self.assertIn('flags that are accepted and have no effect yet: --enable-bootstrap-token-auth', server.text())

    def test_a_promise_of_protection_that_nobody_keeps_ends_the_start(self):
        self.assertIn('--encryption-provider-config (objects are not encrypted at rest)', self.refusal('--encryption-provider-config=/x'))
        self.assertIn('--audit-policy-file (nothing is audited)', self.refusal('--audit-policy-file=/x'))
        self.assertIn('--storage-backend "etcd3" is not offered', self.refusal('--storage-backend=etcd3'))
        self.assertIn('enable-admission-plugins plugin "Nonsense" is unknown', self.refusal('--enable-admission-plugins=Nonsense'))

    def test_a_file_that_is_not_what_its_flag_says_ends_the_start(self):
        with tempfile.NamedTemporaryFile() as f:
            f.write(b'nothing')
            f.flush()
            self.assertIn('--proxy-client-cert-file: "%s" holds no PEM certificate' % f.name, self.refusal('--proxy-client-cert-file=' + f.name))
        self.assertIn('open /absent: no such file or directory', self.refusal('--service-account-key-file=/absent'))


class Shown(unittest.TestCase):
    def test_attributes_of_json_lines_are_members(self):
        with Server('--logging-format=json') as server:
            lines = [json.loads(line) for line in server.text().splitlines() if line.startswith('{')]
            serving = [line for line in lines if line['msg'] == 'serving']
            self.assertEqual(len(serving), 1, server.text())
            self.assertEqual(serving[0]['data-dir'], os.path.join(server.dir, 'data'))
            self.assertTrue(serving[0]['url'].startswith('https://'))
            settings = [line for line in lines if line['msg'] == 'Process settings']
            self.assertEqual(settings[0]['pid'], server.process.pid)

    def requests(self, server):
        text = server.request('GET', '/metrics')[2]
        return sum(int(n) for n in re.findall(r'^apiserver_request_total\{.*verb="LIST".*\} (\d+)', text, re.M))

    def test_metrics_are_reset_by_those_who_may_profile(self):
        with Server() as server:
            for _ in range(3):
                server.request('GET', '/api/v1/namespaces')
            self.assertGreaterEqual(self.requests(server), 3)
            self.assertEqual(server.request('DELETE', '/metrics')[::2], (200, 'metrics reset\n'))
            self.assertLess(self.requests(server), 3)
        with Server('--profiling=false') as server:
            self.assertIn('apiserver_request_total', server.request('DELETE', '/metrics')[2])

    def test_a_gate_that_switches_nothing_is_not_reported_as_on(self):
        with Server('--feature-gates=MutatingAdmissionPolicy=true,APIResponseCompression=false') as server:
            text = server.request('GET', '/metrics')[2]
            on = dict(re.findall(r'^kubernetes_feature_enabled\{name="(\w+)",.*\} (\d)', text, re.M))
            self.assertEqual((on['MutatingAdmissionPolicy'], on['APIResponseCompression'], on['OpenAPIEnums']), ('0', '0', '1'))
            self.assertIn('feature gates that have no effect here, whatever they are set to: MutatingAdmissionPolicy', server.text())


if __name__ == '__main__':
    main()
