"""--emulated-version and related flags: the APIs, gates and version of an older release."""
import re
import unittest

from harness import Server, main

GROUPS = '/apis/%s'
# The differences between kube-apiserver 1.36 with --runtime-config=api/all=true and --emulated-version=1.33, and without the latter.
GONE = {('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies'), ('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicybindings'),
        ('admissionregistration.k8s.io/v1beta1', 'mutatingadmissionpolicies'),
        ('admissionregistration.k8s.io/v1beta1', 'mutatingadmissionpolicybindings'), ('resource.k8s.io/v1', 'deviceclasses'),
        ('resource.k8s.io/v1', 'resourceclaims'), ('resource.k8s.io/v1', 'resourceclaims/status'),
        ('resource.k8s.io/v1', 'resourceclaimtemplates'), ('resource.k8s.io/v1', 'resourceslices'),
        ('storage.k8s.io/v1', 'volumeattributesclasses')}
BACK = {('admissionregistration.k8s.io/v1beta1', 'validatingadmissionpolicies'),
        ('admissionregistration.k8s.io/v1beta1', 'validatingadmissionpolicies/status'),
        ('admissionregistration.k8s.io/v1beta1', 'validatingadmissionpolicybindings')}
CHECKED = ('admissionregistration.k8s.io', 'resource.k8s.io', 'storage.k8s.io', 'apps', 'batch')


def served(server):
    """The resources of some groups, by group version."""
    out = set()
    for group in server.request('GET', '/apis')[2]['groups']:
        for version in group['versions'] if group['name'] in CHECKED else ():
            name = version['groupVersion']
            out |= {(name, each['name']) for each in server.request('GET', GROUPS % name)[2]['resources']}
    return out


def gates(server):
    return dict(re.findall(r'kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\}', server.request('GET', '/metrics')[2]))


class Emulation(unittest.TestCase):
    def test_an_older_release_has_its_own_apis_gates_and_version(self):
        with Server('--runtime-config=api/all=true') as server:
            now, stages = served(server), gates(server)
        with Server('--runtime-config=api/all=true', '--emulated-version=1.33') as server:
            then = served(server)
            self.assertEqual(then - now, BACK)
            self.assertLessEqual(GONE, now - then)
            version = server.request('GET', '/version')[2]
            self.assertEqual([version[each] for each in ('major', 'minor', 'emulationMajor', 'emulationMinor', 'minCompatibilityMajor',
                                                         'minCompatibilityMinor')], ['1', '36', '1', '33', '1', '33'])
            self.assertIn('WorkloadWithJob', stages)
            self.assertNotIn('WorkloadWithJob', gates(server))
            self.assertEqual((stages['DynamicResourceAllocation'], gates(server)['DynamicResourceAllocation']), ('', 'BETA'))
            self.assertIn('version_info{binary="1.36",component="kube",emulation="1.33",min_compat="1.33"} 1',
                          server.request('GET', '/metrics')[2])
            self.assertEqual(server.request('GET', '/openapi/v2')[2]['info']['version'], '1.33')
            self.removed_version_works(server)

    def removed_version_works(self, server):
        policies = '/apis/admissionregistration.k8s.io/%s/validatingadmissionpolicies'
        policy = {'apiVersion': 'admissionregistration.k8s.io/v1beta1', 'kind': 'ValidatingAdmissionPolicy', 'metadata': {'name': 'p'},
                  'spec': {'validations': [{'expression': 'true'}],
                           'matchConstraints': {'resourceRules': [{'apiGroups': [''], 'apiVersions': ['v1'], 'operations': ['CREATE'],
                                                                   'resources': ['pods']}]}}}
        self.assertEqual(server.request('POST', policies % 'v1beta1', policy)[0], 201)
        code, _, found = server.request('GET', policies % 'v1' + '/p')
        self.assertEqual((code, found['apiVersion']), (200, 'admissionregistration.k8s.io/v1'))

    def test_later_versions_are_served_on_request(self):
        old = '--emulated-version=1.33'
        with Server(old, '--runtime-config=resource.k8s.io/v1beta1=true', '--emulation-forward-compatible') as server:
            self.assertIn(('resource.k8s.io/v1', 'deviceclasses'), served(server))
        with Server(old, '--runtime-config=storage.k8s.io/v1/volumeattributesclasses=true',
                    '--runtime-config-emulation-forward-compatible') as server:
            found = served(server)
            self.assertIn(('storage.k8s.io/v1', 'volumeattributesclasses'), found)
            self.assertNotIn(('resource.k8s.io/v1', 'deviceclasses'), found)

    def test_versions_and_gates_that_the_release_does_not_have_make_startup_fail(self):
        for flag, reason in {
                '--runtime-config=resource.k8s.io/v1=true':
                    'cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after the '
                    'current version 1.33. Consider setting --runtime-config-emulation-forward-compatible=true',
                '--feature-gates=WorkloadWithJob=true':
                    'cannot set feature gate WorkloadWithJob to true, feature is PreAlpha at emulated version 1.33, min compatibility '
                    'version 1.33',
        }.items():
            with Server('--emulated-version=1.33', flag, wait=False) as server:
                self.assertNotEqual(server.process.wait(60), 0)
                self.assertIn(reason, server.text())


class Hooks(unittest.TestCase):
    def test_default_roles_belong_to_the_authorizer_rbac(self):
        with Server('--authorization-mode=AlwaysAllow') as server:
            self.assertNotIn('rbac/bootstrap-roles', server.request('GET', '/readyz?verbose')[2])
            self.assertEqual(server.request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles')[2]['items'], [])
            self.assertIn('skipping "rbac/bootstrap-roles" because it was explicitly disabled', server.text())


if __name__ == '__main__':
    main()
