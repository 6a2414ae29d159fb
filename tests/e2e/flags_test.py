"""Flags have the documented effect or startup fails; logs and metrics show their values."""
import json
import os
import re
import tempfile
import time
import unittest

from harness import Server, main, wait_for

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

    def test_a_kubeadm_manifest_starts(self):
        # Its etcd does not run here, so the server uses its own store.
        with Server(*[flag for flag in KUBEADM if not flag.startswith('--etcd-')]) as server:
            self.assertNotIn('these flags have no effect', server.text())

    def test_unsupported_flags_make_startup_fail(self):
        self.assertIn('tracing-config-file /nowhere does not exist', self.refusal('--tracing-config-file=/nowhere'))
        self.assertIn('--storage-backend=etcd4: no loaded plugin has this backend; available: memory, etcd3, rocksdb',
                      self.refusal('--storage-backend=etcd4'))
        self.assertIn('remove them: --etcd-servers (--storage-backend is not etcd3)',
                      self.refusal('--storage-backend=rocksdb', '--etcd-servers=http://127.0.0.1:1'))
        self.assertIn('--enable-admission-plugins: unknown admission plugin "Nonsense"', self.refusal('--enable-admission-plugins=Nonsense'))

    def test_a_file_with_wrong_contents_makes_startup_fail(self):
        with tempfile.NamedTemporaryFile() as f:
            f.write(b'nothing')
            f.flush()
            self.assertIn('--proxy-client-cert-file: %s does not contain a PEM certificate' % f.name, self.refusal('--proxy-client-cert-file=' + f.name))
        self.assertIn('cannot open /absent: no such file or directory', self.refusal('--service-account-key-file=/absent'))


class LoggedFlags(unittest.TestCase):
    def test_attributes_of_json_lines_are_members(self):
        with Server('--logging-format=json') as server:
            lines = [json.loads(line) for line in server.text().splitlines() if line.startswith('{')]
            serving = [line for line in lines if line['msg'] == 'serving']
            self.assertEqual(len(serving), 1, server.text())
            self.assertEqual(serving[0]['data-dir'], os.path.join(server.dir, 'data'))
            self.assertTrue(serving[0]['url'].startswith('https://'))
            settings = [line for line in lines if line['msg'].startswith('Version: ')]
            self.assertEqual(settings[0]['pid'], server.process.pid)

    def requests(self, server):
        text = server.request('GET', '/metrics')[2]
        return sum(int(n) for n in re.findall(r'^apiserver_request_total\{.*verb="LIST".*\} (\d+)', text, re.M))

    def test_metrics_are_reset_only_by_users_who_may_profile(self):
        with Server() as server:
            for _ in range(3):
                server.request('GET', '/api/v1/namespaces')
            self.assertGreaterEqual(self.requests(server), 3)
            self.assertEqual(server.request('DELETE', '/metrics')[::2], (200, 'metrics reset\n'))
            self.assertLess(self.requests(server), 3)
        with Server('--profiling=false') as server:
            self.assertIn('apiserver_request_total', server.request('DELETE', '/metrics')[2])

    def series(self, server, path='/metrics'):
        return dict(re.findall(r'^(\w+(?:\{[^}]*\})?) (\S+)$', server.request('GET', path)[2], re.M))

    def test_metrics_and_labels_that_are_not_wanted_are_not_shown(self):
        with Server('--disabled-metrics=process_open_fds,kubernetes_healthcheck', '--allow-metric-labels=apiserver_request_total,verb=LIST') as server:
            server.request('GET', '/api/v1/namespaces')
            server.request('GET', '/api/v1/namespaces/none')
            names = self.series(server)
            self.assertNotIn('process_open_fds', names)
            self.assertIn('process_resident_memory_bytes', names)
            labels = 'component="apiserver",dry_run="",group="",resource="namespaces",scope="%s",subresource="",verb="%s",version="v1"'
            self.assertIn('apiserver_request_total{code="200",%s}' % (labels % ('cluster', 'LIST')), names)
            self.assertIn('apiserver_request_total{code="404",%s}' % (labels % ('resource', 'unexpected')), names)
            self.assertFalse([name for name in self.series(server, '/metrics/slis') if name.startswith('kubernetes_healthcheck{')])

    def test_objects_are_counted_by_resource_unless_that_is_off(self):
        with Server() as server:
            # The system namespaces are created while the server already serves.
            self.assertTrue(wait_for(lambda: self.series(server)['apiserver_resource_objects{group="",resource="namespaces"}'] == '4'))
            names = self.series(server)
            self.assertEqual(names['apiserver_storage_objects{resource="deployments.apps"}'], '0')
            self.assertGreater(float(names['apiserver_resource_size_estimate_bytes{group="",resource="namespaces"}']), 400)
            self.assertEqual(names['apiserver_resource_size_estimate_bytes{group="apps",resource="deployments"}'], '0')
            self.assertIn('apiserver_storage_size_bytes{storage_cluster_id="etcd-0"}', names)
        with Server('--etcd-count-metric-poll-period=0', '--etcd-db-metric-poll-interval=0') as server:
            self.assertFalse([name for name in self.series(server) if 'objects{' in name or name.startswith('apiserver_storage_size_bytes')])

    def test_the_log_level_of_a_module_is_its_flag(self):
        def words(server):
            return set(re.findall(r'^\S+Z D (\S+) ', server.text(), re.M))
        with Server('--vmodule=filters=4,rout*=6') as server:
            server.request('GET', '/apis/apps/v1/deployments')
            self.assertEqual(words(server), {'filters'})
            server.request('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
            server.request('GET', '/apis/apiregistration.k8s.io/v1/apiservices')
            for path, delegate in (('apps/v1/deployments', 'delegate="apps" server=kube-apiserver'),
                                   ('apiextensions.k8s.io/v1/customresourcedefinitions', 'delegate="apiextensions" server=apiextensions-apiserver'),
                                   ('apiregistration.k8s.io/v1/apiservices', 'delegate="aggregator" server=kube-aggregator')):
                self.assertIn('T routing list "/apis/%s" satisfied by %s' % (path, delegate), server.text())

    def test_openapi_lists_the_values_of_fields_unless_that_is_off(self):
        crd = {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'paints.example.com'},
               'spec': {'group': 'example.com', 'scope': 'Cluster', 'names': {'plural': 'paints', 'kind': 'Paint'}, 'versions': [
                   {'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {
                       'color': {'type': 'string', 'enum': ['red', 'blue']}}}}}]}}

        def enums(server, path):
            return server.request('GET', path)[2].get('components', {}).get('schemas', {})
        for gate, wanted in (('true', ['Always', 'IfNotPresent', 'Never']), ('false', None)):
            with Server('--feature-gates=OpenAPIEnums=' + gate) as server:
                container = enums(server, '/openapi/v3/api/v1')['io.k8s.api.core.v1.Container']['properties']
                self.assertEqual(container['imagePullPolicy'].get('enum'), wanted)
                v2 = server.request('GET', '/openapi/v2')[2]['definitions']['io.k8s.api.core.v1.Container']['properties']
                self.assertEqual(v2['imagePullPolicy'].get('enum'), wanted)
                self.assertEqual(server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)[0], 201)
                deadline = time.monotonic() + 60
                while 'com.example.v1.Paint' not in enums(server, '/openapi/v3/apis/example.com/v1'):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                paint = enums(server, '/openapi/v3/apis/example.com/v1')['com.example.v1.Paint']['properties']
                self.assertEqual(paint['color']['enum'], ['red', 'blue'])

    def test_api_tells_clients_where_the_server_is(self):
        with Server('--service-cluster-ip-range=10.50.0.0/16', '--external-hostname=fd00::1') as server:
            def addresses(**headers):
                rows = server.request('GET', '/api', headers=headers)[2]['serverAddressByClientCIDRs']
                return [(row['clientCIDR'], row['serverAddress']) for row in rows]
            everybody = ('0.0.0.0/0', '[fd00::1]:%d' % server.port)
            self.assertEqual(addresses(), [everybody])
            self.assertEqual(addresses(**{'X-Forwarded-For': '10.50.3.4, 192.0.2.1'}), [everybody, ('10.50.0.0/16', '10.50.0.1:443')])
            self.assertEqual(addresses(**{'X-Real-Ip': '10.50.3.4'}), [everybody, ('10.50.0.0/16', '10.50.0.1:443')])
            self.assertEqual(addresses(**{'X-Forwarded-For': '10.51.3.4'}), [everybody])

    def test_status_and_flags_are_shown_unless_their_gates_are_off(self):
        hook = 'poststarthook/start-kube-apiserver-identity-lease-controller'
        with Server('--goaway-chance=0.001') as server:
            code, headers, text = server.request('GET', '/flagz')
            self.assertEqual((code, headers['Content-Type']), (200, 'text/plain; charset=utf-8'))
            self.assertIn('\ngoaway-chance=0.001\n', text)
            form = 'application/json;as=Statusz;g=config.k8s.io;v=v1beta1'
            status = server.request('GET', '/statusz', headers={'Accept': form})[2]
            self.assertEqual((status['kind'], status['emulationVersion']), ('Statusz', '1.36'))
            self.assertIn('/apis/apps/v1', status['paths'])
            self.assertEqual(status['paths'], server.request('GET', '/')[2]['paths'])
            self.assertEqual(server.request('GET', '/statusz', client_certificate=False)[0], 403)
            self.assertIn(hook, server.request('GET', '/readyz?verbose')[2])
        # Regression: the identity lease was written and its gate reported as off, regardless of the gate.
        with Server('--feature-gates=ComponentStatusz=false,ComponentFlagz=false,APIServerIdentity=false,'
                    'UnknownVersionInteroperabilityProxy=false') as server:
            self.assertEqual([server.request('GET', path)[0] for path in ('/statusz', '/flagz')], [404, 404])
            self.assertNotIn(hook, server.request('GET', '/readyz?verbose')[2])
            self.assertNotIn('APIServerIdentity', ' '.join(re.findall('feature gates that have no effect.*', server.text())))

    def test_the_logs_of_the_machine_are_shown_when_that_is_asked_for(self):
        with Server('--enable-logs-handler') as server:
            code, headers, page = server.request('GET', '/logs/')
            self.assertEqual((code, headers['Content-Type']), (200, 'text/html; charset=utf-8'))
            for name in os.listdir('/var/log'):
                self.assertIn('>' + name, page)
            self.assertEqual(server.request('GET', '/logs/', client_certificate=False)[0], 403)
            self.assertEqual(server.request('GET', '/logs/../../etc/passwd')[0], 400)
            self.assertIn('Flag --enable-logs-handler has been deprecated', server.text())
        with Server() as server:
            self.assertEqual(server.request('GET', '/logs/')[0], 404)

    def test_a_gate_that_switches_nothing_is_not_reported_as_on(self):
        with Server('--feature-gates=SELinuxMount=true,APIResponseCompression=false') as server:
            text = server.request('GET', '/metrics')[2]
            on = dict(re.findall(r'^kubernetes_feature_enabled\{name="(\w+)",.*\} (\d)', text, re.M))
            self.assertEqual((on['SELinuxMount'], on['APIResponseCompression'], on['OpenAPIEnums']), ('0', '0', '1'))
            self.assertEqual((on['APIServerIdentity'], on['JobSuccessPolicy']), ('1', '1'))
            self.assertIn('these feature gates have no effect: SELinuxMount', server.text())

    def test_an_insecure_cipher_and_the_end_of_listening_are_logged(self):
        with Server('--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256') as server:
            self.assertEqual(re.findall("Use of insecure cipher '(.*)' detected", server.text()), ['TLS_RSA_WITH_AES_128_CBC_SHA'])
            self.assertEqual(server.terminate(), 0)
            self.assertIn('Stopped listening on 127.0.0.1:%d\n' % server.port, server.text())


if __name__ == '__main__':
    main()
