"""`backplane plugin test` against kube-apiserver and the built server: its checks are those that kube-apiserver passes."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import harness  # noqa: E402
from kube_apiserver import SideBySide  # noqa: E402

GROUP = 'checks.example.com'
DEFINITION = {
    'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'gauges.' + GROUP},
    'spec': {'group': GROUP, 'scope': 'Cluster', 'names': {'plural': 'gauges', 'singular': 'gauge', 'kind': 'Gauge'}, 'versions': [{
        'name': 'v1', 'served': True, 'storage': True,
        'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {
            'spec': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}}},
            'status': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}}}}}},
        'subresources': {'status': {}, 'scale': {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas'}}}]}}
SAMPLES = """apiVersion: checks.example.com/v1
kind: Gauge
metadata: {name: sample}
spec: {replicas: 1}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: sample}
spec:
  replicas: 1
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: i}]}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: sample}
spec: {holderIdentity: a}
"""
# Tests of functions that kube-apiserver leaves to kube-controller-manager, or does not support over etcd 3.4.
KNOWN = ('objects go with their namespace', 'watch list: it has the existing objects',
         'watch list: a bookmark marks the end of the existing objects')


class PluginChecks(SideBySide):
    maxDiff = None

    def failed(self, server):
        """The failed checks, each with the observed value."""
        status, _, answer = server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', DEFINITION)
        self.assertEqual(status, 201, answer)
        self.assertTrue(harness.wait_for(lambda: server.request('GET', '/apis/%s/v1/gauges' % GROUP)[0] == 200))
        self.assertTrue(harness.wait_for(lambda: '/apis/%s/v1/gauges/{name}' % GROUP in str(server.request('GET', '/openapi/v3/apis/%s/v1' % GROUP)[2])))
        with tempfile.TemporaryDirectory() as folder:
            samples, kubeconfig = os.path.join(folder, 'samples.yaml'), os.path.join(folder, 'kubeconfig')
            with open(samples, 'w', encoding='utf-8') as file:
                file.write(SAMPLES)
            with open(kubeconfig, 'w', encoding='utf-8') as file:
                file.write(self.pki.kubeconfig(server.port))
            done = subprocess.run([harness.BINARY, 'plugin', 'test', '--kubeconfig', kubeconfig, '--sample', samples, '--verbose',
                                   '--group', GROUP, '--group', 'apps', '--group', 'coordination.k8s.io'],
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        lines = done.stdout.splitlines()
        self.assertGreater(sum(line.startswith('ok ') for line in lines), 600, done.stdout[-3000:])
        return ['\n'.join(lines[i:i + 2]) for i, line in enumerate(lines)
                if line.startswith('FAILED') and not (server.name == 'kube-apiserver' and line.endswith(KNOWN))]

    def test_both_servers_pass(self):
        for server in self.servers:
            with self.subTest(server=server.name):
                self.assertEqual(self.failed(server), [])


if __name__ == '__main__':
    unittest.main()
