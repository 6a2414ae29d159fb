"""Kinds behind feature gates: served when their version and their gate are on, and not before."""
import unittest

from harness import Server

GROUPS = {'/apis/scheduling.k8s.io/v1alpha2': ['podgroups', 'podgroups/status', 'workloads'],
          '/apis/storagemigration.k8s.io/v1beta1': ['storageversionmigrations', 'storageversionmigrations/status'],
          '/apis/internal.apiserver.k8s.io/v1alpha1': ['storageversions', 'storageversions/status']}
CERTIFICATES = '/apis/certificates.k8s.io/'
TABLE = {'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}


def migration(**resource):
    return {'apiVersion': 'storagemigration.k8s.io/v1beta1', 'kind': 'StorageVersionMigration', 'metadata': {'name': 'm'},
            'spec': {'resource': resource}}


class AlphaKinds(unittest.TestCase):
    def test_the_version_alone_does_not_enable_a_kind(self):
        with Server('--runtime-config=api/all=true') as server:
            gated = [path for path in GROUPS if 'internal' not in path]
            self.assertEqual({path: server.request('GET', path)[0] for path in gated}, dict.fromkeys(gated, 404))

    def test_errors_of_field_selectors_name_the_requested_version(self):
        with Server('--runtime-config=resource.k8s.io/v1beta2=true,resource.k8s.io/v1beta1=true') as server:
            for version in ('v1', 'v1beta2', 'v1beta1'):
                path = '/apis/resource.k8s.io/%s/resourceslices?fieldSelector=' % version
                self.assertEqual(server.request('GET', path + 'spec.driver%3Dd')[0], 200)
                for label in ('metadata.namespace', 'spec.pool'):
                    code, _, answer = server.request('GET', path + label + '%3Dx')
                    self.assertEqual((code, answer['message']), (
                        400, 'field label not supported for resource.k8s.io/%s, Kind=ResourceSlice: %s' % (version, label)))

    def test_kinds_of_a_version_are_held_one_by_one(self):
        flags = ['--runtime-config=certificates.k8s.io/v1beta1=true,certificates.k8s.io/v1alpha1=true']
        with Server(*flags) as server:
            self.assertEqual([server.request('GET', CERTIFICATES + version)[0] for version in ('v1', 'v1beta1', 'v1alpha1')], [200, 404, 404])
        with Server(*flags, '--feature-gates=PodCertificateRequest=true') as server:
            self.assertEqual([each['name'] for each in server.request('GET', CERTIFICATES + 'v1beta1')[2]['resources']],
                             ['podcertificaterequests', 'podcertificaterequests/status'])
            self.assertEqual(server.request('GET', CERTIFICATES + 'v1alpha1')[0], 404)
        with Server(*flags, '--feature-gates=ClusterTrustBundle=true') as server:
            self.assertNotIn('have no effect here', server.text())
            for version in ('v1beta1', 'v1alpha1'):
                self.assertEqual([each['name'] for each in server.request('GET', CERTIFICATES + version)[2]['resources']], ['clustertrustbundles'])

    def test_storage_versions_need_their_version_alone(self):
        with Server('--runtime-config=internal.apiserver.k8s.io/v1alpha1=true') as server:
            self.assertEqual([each['name'] for each in server.request('GET', '/apis/internal.apiserver.k8s.io/v1alpha1')[2]['resources']],
                             ['storageversions', 'storageversions/status'])
        with Server('--feature-gates=StorageVersionAPI=true') as server:
            self.assertEqual(server.request('GET', '/apis/internal.apiserver.k8s.io/v1alpha1')[0], 404)

    def test_gate_and_version_together_enable_a_kind(self):
        gates = '--feature-gates=GenericWorkload=true,StorageVersionMigrator=true,StorageVersionAPI=true'
        with Server('--runtime-config=api/all=true', gates) as server:
            self.assertNotIn('have no effect here', server.text())
            for path, names in GROUPS.items():
                self.assertEqual([each['name'] for each in server.request('GET', path)[2]['resources']], names)
            target = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations'
            self.assertEqual(server.request('POST', target, migration())[2]['details']['causes'][0]['field'], 'spec.resource.resource')
            self.assertEqual(server.request('POST', target, migration(group='apps', resource='deployments'))[0], 201)
            table = server.request('GET', target, headers=TABLE)[2]
            self.assertEqual([row['cells'] for row in table['rows']], [['m', 'deployments.apps', 'Unknown']])


if __name__ == '__main__':
    unittest.main()
