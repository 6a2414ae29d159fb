"""Fields whose feature gates are off: writes drop or keep them."""
import http.client
import os
import shutil
import subprocess
import unittest

from harness import Server

POD = {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {
    'os': {'name': 'linux'}, 'schedulingGroup': {'podGroupName': 'g'},
    'containers': [{'name': 'c', 'image': 'i', 'lifecycle': {'stopSignal': 'SIGUSR1'}}],
    'volumes': [{'name': 'v', 'projected': {'sources': [
        {'configMap': {'name': 'm'}, 'clusterTrustBundle': {'name': 'b', 'path': 'p'},
         'podCertificate': {'signerName': 'a.b/c', 'keyType': 'ED25519', 'credentialBundlePath': 'q'}}]}}]}}
PODS = '/api/v1/namespaces/default/pods'
SETS = '/apis/apps/v1/namespaces/default/statefulsets'


def stateful_set(name, **rolling):
    return {'apiVersion': 'apps/v1', 'kind': 'StatefulSet', 'metadata': {'name': name}, 'spec': {
        'serviceName': 's', 'selector': {'matchLabels': {'a': 'b'}}, 'updateStrategy': {'type': 'RollingUpdate', 'rollingUpdate': rolling},
        'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}


def rolling_of(answer):
    return answer[2]['spec']['updateStrategy']['rollingUpdate']


class GatesTest(unittest.TestCase):
    def test_fields_of_gates_that_are_off_are_dropped(self):
        with Server() as server:
            code, _, pod = server.request('POST', PODS, POD)
            self.assertEqual(code, 201, pod)
            self.assertNotIn('schedulingGroup', pod['spec'])
            self.assertNotIn('lifecycle', pod['spec']['containers'][0])
            self.assertEqual([list(source) for source in pod['spec']['volumes'][0]['projected']['sources']], [['configMap']])
            dropped = server.request('POST', SETS, stateful_set('a', partition=1, maxUnavailable=3))
            self.assertEqual(rolling_of(dropped), {'partition': 1})
            # The published types contain them anyway.
            types = server.request('GET', '/openapi/v3/api/v1')[2]['components']['schemas']
            self.assertIn('stopSignal', types['io.k8s.api.core.v1.Lifecycle']['properties'])

    def test_fields_of_gates_that_are_on_stay_and_those_in_use_outlive_their_gates(self):
        with Server('--feature-gates=ContainerStopSignals=true,MaxUnavailableStatefulSet=true') as server:
            pod = server.request('POST', PODS, POD)[2]
            self.assertEqual(pod['spec']['containers'][0]['lifecycle'], {'stopSignal': 'SIGUSR1'})
            self.assertNotIn('schedulingGroup', pod['spec'])
            self.assertEqual(rolling_of(server.request('POST', SETS, stateful_set('used'))), {'partition': 0, 'maxUnavailable': 1})
            self.assertEqual(server.terminate(), 0)
            with Server(data_dir=server.dir) as later:
                path = SETS + '/used'
                change = {'spec': {'updateStrategy': {'rollingUpdate': {'maxUnavailable': 2}}}}
                merge = {'Content-Type': 'application/merge-patch+json'}
                self.assertEqual(rolling_of(later.request('PATCH', path, change, headers=merge)), {'partition': 0, 'maxUnavailable': 2})
                later.request('POST', SETS, stateful_set('fresh'))
                self.assertEqual(rolling_of(later.request('PATCH', SETS + '/fresh', change, headers=merge)), {'partition': 0})

    def test_gates_without_their_dependencies_make_startup_fail(self):
        with Server('--feature-gates=WorkloadAwarePreemption=true', wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('--feature-gates: WorkloadAwarePreemption=true requires GangScheduling to be on', server.text())

    def test_an_unsupported_gate_makes_startup_fail(self):
        with Server('--feature-gates=ShardedListAndWatch=true', wait=False) as server:
            self.assertNotEqual(server.process.wait(60), 0)
            self.assertIn('--feature-gates: ShardedListAndWatch=true is not supported: shardSelector is not served', server.text())
        with Server('--feature-gates=AllAlpha=true,ShardedListAndWatch=false') as server:
            code, _, found = server.request('GET', PODS + '?shardSelector=nonsense')
            self.assertEqual((code, 'shardInfo' in found['metadata']), (200, False))


    def test_the_hook_of_caches_goes_with_its_gate_and_metrics_say_what_is_there(self):
        with Server() as server:
            self.assertIn('poststarthook/storage-readiness ok', server.request('GET', '/readyz?verbose')[2])
        with Server('--feature-gates=WatchCacheInitializationPostStartHook=false') as server:
            self.assertNotIn('storage-readiness', server.request('GET', '/readyz?verbose')[2])
            metrics = server.request('GET', '/metrics')[2]
            self.assertIn('kubernetes_feature_enabled{name="WatchCacheInitializationPostStartHook",stage="BETA"} 0\n', metrics)
            self.assertIn('kubernetes_feature_enabled{name="RemoteRequestHeaderUID",stage="BETA"} 1\n', metrics)
            self.assertIn('kubernetes_feature_enabled{name="DynamicResourceAllocation",stage=""} 1\n', metrics)

    def uid(self, server, *uids):
        """The result of a SelfSubjectReview for a client certificate with these uids."""
        pki, place = os.path.join(server.dir, 'data', 'pki'), os.path.join(server.dir, 'client')
        run = lambda *args: subprocess.run(['openssl', *args], check=True, capture_output=True)
        with open(place + '.cnf', 'w', encoding='utf-8') as f:
            f.write('oid_section=oids\n[req]\nprompt=no\ndistinguished_name=dn\n[oids]\nuserUid=1.3.6.1.4.1.57683.2\n[dn]\nO=system:masters\nCN=jane\n')
            f.writelines('%d.userUid=%s\n' % row for row in enumerate(uids))
        run('req', '-new', '-config', place + '.cnf', '-newkey', 'rsa:2048', '-nodes', '-keyout', place + '.key', '-out', place + '.csr')
        run('x509', '-req', '-in', place + '.csr', '-CA', pki + '/ca.crt', '-CAkey', pki + '/ca.key', '-days', '1', '-out', place + '.crt')
        context = server.tls_context(client_certificate=False)
        context.load_cert_chain(place + '.crt', place + '.key')
        connection = http.client.HTTPSConnection('127.0.0.1', server.port, context=context, timeout=30)
        review = {'apiVersion': 'authentication.k8s.io/v1', 'kind': 'SelfSubjectReview'}
        code, _, answer = server.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review, connection=connection)
        connection.close()
        return answer['status']['userInfo'].get('uid') if code == 201 else code

    @unittest.skipUnless(shutil.which('openssl'), 'no openssl')
    def test_the_uid_of_a_client_certificate_goes_with_its_gate(self):
        with Server() as server:
            self.assertEqual(self.uid(server, 'u-1'), 'u-1')
            self.assertEqual(self.uid(server, 'u-1', 'u-2'), 401)
            self.assertIsNone(self.uid(server))
        with Server('--feature-gates=AllowParsingUserUIDFromCertAuth=false') as server:
            self.assertIsNone(self.uid(server, 'u-1'))
            self.assertIsNone(self.uid(server, 'u-1', 'u-2'))


if __name__ == '__main__':
    unittest.main()
